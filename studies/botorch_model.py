"""Is `InfGPModel` a better surrogate for BoTorch's own acquisition function where rewards have outliers?

Hartmann's function of six inputs, to be maximised, with Gaussian noise. With the chance `OUTLIERS` an evaluation goes
wrong and a number that has nothing to do with the point is added. All surrogates are used with the same acquisition
function (qLogNEI), maximised in the same way, from the same design of uniform points. What is recommended is the
evaluated point with the best posterior mean. A fit of relevance pursuit takes seconds to a minute. It is fitted anew at
every tenth reward only, and rewards in between count as no outliers; the other surrogates are fitted at every reward.

    python -m studies.botorch_model [--seeds 3] [--tasks a,b] [--methods a,b]    # goes on where it stopped
    python -m studies.botorch_model --quick      # one short run a method; writes nothing
    python -m studies.botorch_model --table      # writes results/botorch_model/table.md
"""

from __future__ import annotations

import time
import warnings
from functools import partial

import numpy as np

from infgp.bench.cells import table
from infgp.bench.methods.fitted import RAW, FittedRun
from infgp.bench.methods.gaussian import GaussianRun, load, noisy_improvement
from infgp.bench.methods.pursuit import PursuitRun
from infgp.bench.runner import versions
from infgp.bench.study import Study
from infgp.errors import require

#: Chance that an evaluation goes wrong, by task.
OUTLIERS = {"hartmann6": 0.0, "hartmann6-outliers": 0.1}
#: Standard deviation of what is added where an evaluation goes wrong, in units of the function.
GROSS = 10.0
#: Standard deviation of the noise of all evaluations, in units of the function.
NOISE = 0.1
#: Points of the design.
INITIAL = 12
#: Evaluations of a run, the design included.
EVALUATIONS = 60
#: Largest value of the function.
BEST = 3.32237
#: Coefficients of the four bumps of the function.
HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
#: Inverse squared widths of the bumps, bumps in rows.
STEEPNESS = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
#: Middles of the bumps, bumps in rows, in ten-thousandths.
MIDDLES = np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
TEXT = f"""\
Regret of the recommended point after {EVALUATIONS} evaluations, the design of {INITIAL} included: mean over seeds ± its
standard error (seeds), and the CPU seconds of one run. The function ranges from 0 to {BEST:.2f}.
Relevance pursuit is fitted anew at every tenth reward, and rewards in between count as no outliers."""


def hartmann(x):
    """The function at a point of the unit cube."""
    return float(HEIGHTS @ np.exp(-(STEEPNESS * (x - 1e-4 * MIDDLES) ** 2).sum(axis=1)))


class MixtureRun(GaussianRun):
    """A run with `InfGPModel`, whose chains go on from step to step."""

    def __init__(self, d, seed, target):
        super().__init__(d, seed, partial(noisy_improvement, raw=RAW))
        self.target, self.model = target, None

    def fit(self):
        """The model for the rewards told so far."""
        torch, models = load("torch"), require("infgp.botorch", "botorch")
        x, y = torch.as_tensor(self.inputs), torch.as_tensor(self.rewards)[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # chains this short cannot show that they agree
            if self.model is None:
                seed = int(self.rng.integers(2**31))
                self.model = models.InfGPModel(x, y, target=self.target, random_state=seed)
            elif len(self.model.train_targets) < len(y):
                self.model = self.model.refit(x, y)
        return self.model

    def recommend(self):
        """The evaluated point with the best posterior mean."""
        torch, x = load("torch"), self.inputs
        with torch.no_grad():
            return np.asarray(x[int(self.fit().posterior(torch.as_tensor(x)).mixture_mean.argmax())])


METHODS = {
    "SingleTaskGP": partial(FittedRun, noisy=True),
    "relevance pursuit": PursuitRun,
    "InfGPModel": partial(MixtureRun, target="main"),
    "InfGPModel expected": partial(MixtureRun, target="expected"),
}


def measure(job, warm):
    """A record of one run."""
    rng, steps = np.random.default_rng([job.seed, 60]), job.steps or EVALUATIONS
    run, begin, curve = METHODS[job.method](6, job.seed), time.process_time(), []
    for n in range(steps):
        x = rng.random(6) if n < INITIAL else run.ask()
        wrong, size, noise = rng.random() < OUTLIERS[job.task], rng.standard_normal(), rng.standard_normal()
        run.tell(x, hartmann(x) + NOISE * noise + GROSS * size * wrong)
        curve.append(round(BEST - hartmann(x), 5))
    return {
        "task": job.task,
        "method": job.method,
        "seed": job.seed,
        "d": 6,
        "recommend_regret": round(BEST - hartmann(run.recommend()), 5),
        "regret": curve,
        "failures": [],
        "seconds": [round(time.process_time() - begin, 2)],
        "versions": versions(("torch", "botorch")),
    }


def tables(records):
    """Surrogates in rows, tasks in columns."""
    rows = []
    for method in METHODS:
        cells = []
        for name in OUTLIERS:
            mine = [r for r in records if (r["task"], r["method"]) == (name, method)]
            if not mine:
                cells.append("–")
                continue
            regret, seconds = np.array([r["recommend_regret"] for r in mine]), np.mean([r["seconds"] for r in mine])
            error = regret.std(ddof=1) / np.sqrt(regret.size) if regret.size > 1 else np.nan
            cells.append(f"{regret.mean():.3f} ± {error:.3f} ({regret.size}), {seconds:.0f} s")
        rows.append([method, *cells])
    return f"{TEXT}\n\n{table(['surrogate', *OUTLIERS], rows)}"


STUDY = Study(
    name="botorch_model",
    text=__doc__,
    tasks=tuple(OUTLIERS),
    methods=tuple(METHODS),
    table=tables,
    seeds=3,
    quick=("hartmann6-outliers",),
    quick_steps=INITIAL + 2,
    dimension=lambda task: 6,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
