"""Does a chain on selected observations, with all others taken in, know what an exact one knows, and search as well?

Three kinds of tasks, all with functions of :mod:`infgp.bench.tasks.noisy`:

- ``accuracy-FUNCTION-N``: an exact fit of N observations, a second one with another seed, and one with selected
  observations. Dominant surface and log density of new rewards at the same points, and which observations are off it.
- ``heavy-FUNCTION-N``: N observations with heavy-tailed noise; against BoTorch's variational GP.
- ``regret-TASK``: 200 evaluations after 5 000 at Sobol points; against the exact chain on the 500 best rewards, and
  against Optuna's TPE. Optuna recommends the point with the best reward.

    python -m studies.large_n [--seeds 3] [--tasks a,b] [--methods a,b]    # goes on where it stopped
    python -m studies.large_n --quick      # few observations; writes nothing
    python -m studies.large_n --table      # writes results/large_n/table.md
"""

from __future__ import annotations

import time
import warnings

import numpy as np

import infgp
from infgp.bench.cells import table
from infgp.bench.methods.optuna import OptunaRun
from infgp.bench.runner import versions
from infgp.bench.study import Study
from infgp.bench.tasks.noises import NOISE
from infgp.bench.tasks.noisy import Problem, sobol

#: Functions of three inputs and observations of the tasks of accuracy. Rosenbrock's function is smooth; Levy's has ten
#: waves along each input, which hundreds of observations do not resolve.
ACCURACY = ("rosenbrock-200", "rosenbrock-500", "rosenbrock-1000", "rosenbrock-2000", "levy-500")
#: Functions of five inputs and observations of the tasks against the variational GP.
HEAVY = ("rosenbrock-10000", "levy-10000", "rosenbrock-50000")
#: Tasks of the searches.
SEARCHES = ("levy-outliers-d5", "ackley-student_t2-d5", "styblinski_tang-gaussian-d5")
#: Evaluations before a search.
EARLIER = 5000
#: Evaluations of a search.
FURTHER = 200
#: Rewards that the exact chain on a window is told.
WINDOW = 500
#: Points at which fits are compared.
POINTS = 500
#: Options of the fits that are compared.
FIT = {"n_chains": 1, "n_warmup": 120, "n_samples": 20, "thin": 2}
#: Inducing points of the variational GP, as many as observations are selected by default.
INDUCING = 500
#: Passes of the variational GP over the data.
EPOCHS = 60
#: Observations of one step of the variational GP.
BATCH = 1024
#: Step length of the variational GP.
RATE = 0.02
FITS = ("exact", "exact again", "selected")
LAWS = ("infgp", "variational gp")
RUNS = ("infgp", "window", "tpe")
TEXT_ACCURACY = f"""\
Differences from the exact fit at {POINTS} points. *Mean*: root mean square of the difference of the dominant surface,
in units of the noise scale. *Log density*: mean difference for new rewards, in nats. *Off*: share of the observations
of which both fits say the same, on or off the dominant surface. The row *exact again* is an exact fit with another
seed. Medians over seeds."""
TEXT_HEAVY = "Root mean square error of the mean (infgp: of the dominant surface), and log density of new rewards."
TEXT_SEARCH = f"""\
{FURTHER} evaluations after {EARLIER} at Sobol points, in standard deviations of the function. *Final* is the regret
of the recommended point, *along* the mean regret of the points that were evaluated. Means over seeds."""


def observed(name, n, seed):
    """A task's problem, n inputs and rewards."""
    problem, rng = Problem.of(name), np.random.default_rng([seed, n])
    x = rng.random((n, problem.d))
    return problem, x, np.array([problem.evaluate(rng, row) for row in x])


def fit(function, n, method, seed):
    """What one fit says."""
    problem, x, y = observed(f"{function}-outliers-d3", n, seed)
    _, at, z = observed(f"{function}-outliers-d3", POINTS, 1000 + seed)
    options = FIT | {"exact_up_to": min(n - 1, 1000) if method == "selected" else None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = infgp.InfiniteGP(**options, random_state=[seed, 900 + seed][method == "exact again"]).fit(x, y)
    return {
        "mean": rounded(model.predict_main(at)),
        "log_density": rounded(np.log(model.predict_density(at, z))),
        "off": np.flatnonzero(model.off_surface_probability_ > 0.5).tolist(),
        "rmse": float(np.sqrt(np.mean((model.predict_main(at) - problem.expected(at)) ** 2))),
    }


def rounded(values):
    """Values for a file, to five digits."""
    return [float(f"{value:.5g}") for value in values]


def law(function, n, method, seed):
    """Error and log density of one model."""
    problem, x, y = observed(f"{function}-student_t2-d5", n, seed)
    _, at, z = observed(f"{function}-student_t2-d5", 2000, 1000 + seed)
    if method == "infgp":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = infgp.InfiniteGP(**FIT, random_state=seed).fit(x, y)
        mean, log_density = model.predict_main(at), np.log(model.predict_density(at, z))
    else:
        mean, log_density = variational(x, y, at, z, seed)
    error = float(np.sqrt(np.mean((mean - problem.expected(at)) ** 2)))
    return {"rmse": error, "log_density": float(np.mean(log_density))}


def variational(x, y, at, z, seed):
    """Means and log densities of BoTorch's variational GP."""
    import gpytorch
    import torch
    from botorch.models import SingleTaskVariationalGP

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    x, at = torch.as_tensor(x), torch.as_tensor(at)
    location, scale = float(y.mean()), float(y.std())
    y = torch.as_tensor((y - location) / scale)
    model = SingleTaskVariationalGP(x, y[:, None], inducing_points=INDUCING)
    bound = gpytorch.mlls.VariationalELBO(model.likelihood, model.model, num_data=y.numel())
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    model.train()
    for _ in range(EPOCHS):
        for some in torch.randperm(y.numel()).split(BATCH):
            optimizer.zero_grad()
            (-bound(model.model(x[some]), y[some])).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        reward = model.likelihood(model.model(at))
        mean, sd = location + scale * reward.mean.numpy(), scale * reward.stddev.numpy()
    return mean, -0.5 * ((z - mean) / sd) ** 2 - np.log(sd * np.sqrt(2.0 * np.pi))


class Search:
    """An optimizer of infgp with the interface of the benchmark's methods."""

    def __init__(self, d, seed, x, y, **options):
        self.names = [f"x{k}" for k in range(d)]
        self.optimizer = infgp.Optimizer({name: infgp.Float(0.0, 1.0) for name in self.names}, seed=seed, **options)
        self.optimizer.tell_many(x, y)

    def ask(self):
        """The next point."""
        self.point = self.optimizer.ask()
        return np.array([self.point[name] for name in self.names])

    def tell(self, x, y):
        """Its reward."""
        self.optimizer.tell(self.point, y)

    def recommend(self):
        """The point that is recommended."""
        point = self.optimizer.recommend().point
        return np.array([point[name] for name in self.names])


def search(name, method, seed, earlier=EARLIER, further=FURTHER):
    """Regret of one search."""
    problem = Problem.of(name)
    rng, x = problem.rewards(seed), sobol(earlier, problem.d, seed)
    y = np.array([problem.evaluate(rng, row) for row in x])
    if method == "tpe":
        run = OptunaRun(problem.d, seed, "tpe")
        for row, value in zip(x, y, strict=True):
            run.tell(row, value)
    else:
        keep = np.sort(np.argsort(-y)[:WINDOW]) if method == "window" else np.arange(earlier)
        options = {"exact_up_to": None} if method == "window" else {}
        run = Search(problem.d, seed, x[keep], y[keep], **options)
    regret = []
    for _ in range(further):
        point = run.ask()
        regret.append(problem.optimum - float(problem.expected(point[None])[0]))
        run.tell(point, problem.evaluate(rng, point))
    final = problem.optimum - float(problem.expected(run.recommend()[None])[0])
    return {"final": final, "along": float(np.mean(regret)), "regret": rounded(regret), "failures": []}


def measure(job, warm):
    """A record of one fit or one search."""
    kind, _, rest = job.task.partition("-")
    begin, work = time.perf_counter(), time.process_time()
    if kind == "accuracy":
        function, _, n = rest.partition("-")
        found = fit(function, int(n), job.method, job.seed)
    elif kind == "heavy":
        function, _, n = rest.partition("-")
        found = law(function, int(n), job.method, job.seed)
    else:
        found = search(rest, job.method, job.seed)
    return {
        "task": job.task,
        "method": job.method,
        "seed": job.seed,
        "d": job.d,
        **found,
        "cpu_seconds": round(time.process_time() - work, 1),
        "seconds": [round(time.perf_counter() - begin, 1)],
        "versions": versions(()),
    }


def by_seed(records, task, method):
    """Records of a task and a method, by seed."""
    return {r["seed"]: r for r in records if (r["task"], r["method"]) == (task, method)}


def accuracy_rows(records):
    """One row for each task and fit."""
    rows = []
    for case in ACCURACY:
        function, _, n = case.partition("-")
        exact = by_seed(records, f"accuracy-{case}", "exact")
        for method in FITS[1:]:
            other = by_seed(records, f"accuracy-{case}", method)
            both = [(exact[seed], other[seed]) for seed in exact if seed in other]
            if not both:
                continue
            means = [np.sqrt(np.mean(np.subtract(a["mean"], b["mean"]) ** 2)) / NOISE for a, b in both]
            gains = [np.mean(np.subtract(b["log_density"], a["log_density"])) for a, b in both]
            same = [1.0 - len(set(a["off"]) ^ set(b["off"])) / int(n) for a, b in both]
            cells = f"{np.median(means):.3f}", f"{np.median(gains):+.3f}", f"{np.median(same):.4f}"
            errors = " and ".join(
                f"{np.median([r['rmse'] for r in part]) / NOISE:.3f}" for part in zip(*both, strict=True)
            )
            rows.append([function, n, method, len(both), *cells, errors])
    return rows


def rows_of(records, tasks, methods, fields):
    """One row for each task and method, with means of some numbers of its records."""
    rows = []
    for task in tasks:
        for method in methods:
            found = list(by_seed(records, task, method).values())
            if found:
                cells = [f"{np.mean([r[name] for r in found]):.4f}" for name in fields]
                rows.append([task.partition("-")[2], method, len(found), *cells])
    return rows


def tables(records):
    """Three tables."""
    heads = (
        [
            "function",
            "observations",
            "fit",
            "seeds",
            "mean",
            "log density",
            "off",
            "error of exact fit and of this one, in noise scales",
        ],
        ["function and observations", "model", "seeds", "error", "log density", "CPU seconds"],
        ["task", "search", "seeds", "final", "along", "CPU seconds"],
    )
    bodies = (
        accuracy_rows(records),
        rows_of(records, [f"heavy-{n}" for n in HEAVY], LAWS, ("rmse", "log_density", "cpu_seconds")),
        rows_of(records, [f"regret-{name}" for name in SEARCHES], RUNS, ("final", "along", "cpu_seconds")),
    )
    parts = zip((TEXT_ACCURACY, TEXT_HEAVY, TEXT_SEARCH), heads, bodies, strict=True)
    return "\n\n".join(f"{text}\n\n{table(head, rows)}" for text, head, rows in parts if rows)


def wanted(task, method):
    """Whether a method is for a task."""
    return method in {"accuracy": FITS, "heavy": LAWS, "regret": RUNS}[task.partition("-")[0]]


STUDY = Study(
    name="large_n",
    text=__doc__,
    tasks=(
        *(f"accuracy-{n}" for n in ACCURACY),
        *(f"heavy-{n}" for n in HEAVY),
        *(f"regret-{name}" for name in SEARCHES),
    ),
    methods=tuple(dict.fromkeys((*FITS, *LAWS, *RUNS))),
    table=tables,
    seeds=3,
    quick=("accuracy-rosenbrock-200",),
    wanted=wanted,
    dimension=lambda task: 3 if task.startswith("accuracy") else 5,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
