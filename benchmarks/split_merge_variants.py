"""Which split–merge move finds the mode soonest?

Seconds (of processor time) from a start on one surface until a chain first comes within eight units of the log joint
that long chains settle at, for variants of the move. Runs that do not within 300 sweeps count with the time they took,
and are counted apart. On each data set the variants run by turns, several chains each, and their mean seconds are
divided by the shipped move's: "ratio" is the geometric mean over data sets, "ratio_range" two standard errors to either
side. The recorded figures are from commit d03b1fa, before the shipped move was compiled whole (which only favours it).

    python -m benchmarks.split_merge_variants [--quick]   # writes benchmarks/results/split_merge_variants.json
    python -m benchmarks.split_merge_variants --starts    # disagreement of starts; writes split_merge_starts.json
    python -m benchmarks.split_merge_variants --prove     # enumeration tests: each of the alternatives alone
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks import split_merge_alternatives as alternatives
from benchmarks.families import draw
from infgp import estimator
from infgp.core.linalg import one_blas_thread
from infgp.core.model import Data, Model, log_joint
from infgp.core.priors import Priors
from infgp.core.scaling import RewardScale
from infgp.estimator import OWN_SCALE_SHAPE
from infgp.sample import compiled
from infgp.sample.chain import start_state
from infgp.sample.moves import hyper, split_merge
from infgp.sample.moves.assign import assign

RESULTS = Path(__file__).parent / "results"
FAMILIES = ("outliers_5%", "cauchy", "weibull_0.3", "bimodal", "heteroscedastic", "nonstationary")
SWEEPS, LIMIT = 300, 8.0
DEFAULT = {
    "tries": 2,
    "NEAR": 0.5,
    "SHIFT": 0.5,
    "SHIFT_MEAN": 2.0,
    "STRETCH": split_merge.STRETCH,
    "scale_shape": OWN_SCALE_SHAPE,
    "anchor_pair": split_merge.anchor_pair,
    "split_or_merge": compiled.split_or_merge,
    "move": split_merge.split_merge,
}
#: Exact moves of another make; `--prove` tests each.
ALTERNATIVES = {
    "grown, final scan": {"split_or_merge": alternatives.scanned(0)},
    "grown, 1 scan + final": {"split_or_merge": alternatives.scanned(1)},
    "grown, 3 scans + final": {"split_or_merge": alternatives.scanned(3)},
    "random, 1 scan + final": {"split_or_merge": alternatives.scanned(1, grown=False)},
    "random, 3 scans + final": {"split_or_merge": alternatives.scanned(3, grown=False)},
    "smart-dumb, coin": {"move": alternatives.paired(alternatives.coin, alternatives.coin_log_q)},
    "smart-dumb, cut": {"move": alternatives.paired(alternatives.cut, alternatives.cut_log_q)},
    "anchors by exp(-distance)": {"anchor_pair": alternatives.anchors(lambda far, d: np.exp(-far / (0.2 * d**0.5)))},
    "anchors by 1/rank": {"anchor_pair": alternatives.anchors(lambda far, d: 1.0 / np.arange(1, far.size + 1))},
}
VARIANTS = {
    "as shipped": {},
    "label sweeps only": {"tries": 0},
    "one try a sweep": {"tries": 1},
    "six tries a sweep": {"tries": 6},
    "anchors anywhere": {"NEAR": 0.0},
    "anchors always near": {"NEAR": 1.0},
    "noise stays": {"SHIFT": 0.0},
    "noise moves further": {"SHIFT_MEAN": 4.0},
    "length-scales stay": {"STRETCH": 0.0},
    "scales shared": {"scale_shape": 0.0},
    **ALTERNATIVES,
}
#: What `--starts` compares: the shipped move, the best of each kind of alternative, and less.
COMPARED = (
    "as shipped",
    "grown, 3 scans + final",
    "smart-dumb, cut",
    "anchors by 1/rank",
    "noise stays",
    "label sweeps only",
)


def put(change):
    """The setting of a variant, with all that it replaces put in its place."""
    setting = DEFAULT | change
    for name in ("NEAR", "SHIFT", "SHIFT_MEAN", "STRETCH", "anchor_pair"):
        setattr(split_merge, name, setting[name])
    compiled.split_or_merge = setting["split_or_merge"]
    return setting


def sweep_with(change):
    """A variant's sweep, for as long as no other is put in its place."""
    setting = put(change)
    tries = (setting["move"],) * setting["tries"]

    def sweep(rng, state, data, model):
        for move in (assign, hyper.draw_nu, *tries, hyper.draw_beta, hyper.draw_scales):
            state = move(rng, state, data, model)
        return state

    return sweep


def chain(data, model, sweep, start, seed, stop_at=np.inf, sweeps=SWEEPS):
    """Log joints of a chain until they first reach `stop_at`, and the seconds taken."""
    rng = np.random.default_rng(seed)
    state, trace, seconds = start_state(rng, data, model, start), [], 0.0
    while len(trace) < sweeps and not (trace and trace[-1] > stop_at):
        begin = time.process_time()
        state = sweep(rng, state, data, model)
        seconds += time.process_time() - begin
        trace.append(log_joint(state, data, model))
    return trace, seconds


def dataset(family, d, seed):
    sample = draw(family, d, 60, 100 + seed)
    data = Data(sample.x, RewardScale.fit(sample.y).to_standard(sample.y))
    shapes = {(DEFAULT | change)["scale_shape"] for change in VARIANTS.values()}
    models = {shape: Model("se", Priors().resolve(d), ard=True, scale_shape=shape) for shape in shapes}
    goals = {}
    for shape, model in models.items():
        ends = [chain(data, model, sweep_with({}), s, 9)[0] for s in ("one", "random", "alone")]
        goals[shape] = max(float(np.median(e[SWEEPS // 2 :])) for e in ends) - LIMIT
    return data, models, goals


def summary(runs, reference):
    """Of one variant: runs of each data set, as (seconds, sweeps, found)."""
    every = np.array([run for key in runs for run in runs[key]])
    logs = np.array([np.log(np.mean(runs[k], axis=0)[0] / np.mean(reference[k], axis=0)[0]) for k in runs])
    error = logs.std(ddof=1) / np.sqrt(logs.size)
    by_family = {family: [v for k, v in zip(runs, logs, strict=True) if k[0] == family] for family in FAMILIES}
    return {
        "runs": len(every),
        "not_found": int(np.sum(every[:, 2] == 0.0)),
        "median_seconds": float(np.median(every[:, 0])),
        "mean_seconds": float(np.mean(every[:, 0])),
        "90th_percentile_seconds": float(np.percentile(every[:, 0], 90.0)),
        "mean_sweeps": float(np.mean(every[:, 1])),
        "ratio": float(np.exp(logs.mean())),
        "ratio_range": [float(np.exp(logs.mean() + s * error)) for s in (-2.0, 2.0)],
        "ratio_by_family": {family: round(float(np.exp(np.mean(v))), 3) for family, v in by_family.items() if v},
    }


def race(quick) -> None:
    records: dict[str, dict] = {name: {} for name in VARIANTS}
    data, models, _ = dataset("bimodal", 2, 99)
    for change in VARIANTS.values():  # compiles
        chain(data, models[OWN_SCALE_SHAPE], sweep_with(change), "alone", 0, sweeps=5)
    for d, family, seed in product((2,) if quick else (2, 5), FAMILIES, range(1 if quick else 4)):
        data, models, goals = dataset(family, d, seed)
        for k, (name, change) in product(range(2 if quick else 6), VARIANTS.items()):
            shape = (DEFAULT | change)["scale_shape"]
            trace, seconds = chain(data, models[shape], sweep_with(change), "one", 1000 * seed + k, goals[shape])
            found = float(trace[-1] > goals[shape])
            records[name].setdefault((family, d, seed), []).append((seconds, len(trace), found))
        print(family, d, seed, flush=True)
    results = {name: summary(runs, records["as shipped"]) for name, runs in records.items()}
    for name, result in results.items():
        print(f"{name:26s} {result}", flush=True)
    if not quick:
        (RESULTS / "split_merge_variants.json").write_text(json.dumps(results, indent=1) + "\n")


def starts(names, seeds) -> None:
    """Total variation of predictive densities between starts, largest over pairs, for the default budget."""
    from benchmarks.start_independence import STARTS, fit, total_variation

    results = {name: [] for name in names}
    for seed, d, family in product(range(seeds), (1, 2), ("heteroscedastic", "nonstationary", "weibull_0.3")):
        sample = draw(family, d, 60, seed)
        for name in names:
            estimator.sweep = sweep_with(VARIANTS[name])
            begin = time.process_time()
            models = [fit(sample, 1000 + 10 * seed + k, init=start, local=0.0)[0] for k, start in enumerate(STARTS)]
            seconds = (time.process_time() - begin) / len(models)
            record = {"family": family, "d": d, "seed": seed, "tv": total_variation(models, sample), "seconds": seconds}
            results[name].append(record)
            print(name, record, flush=True)
    for name, records in results.items():
        print(f"{name:26s}", *(f"mean {k} {np.mean([r[k] for r in records]):.3f}" for k in ("tv", "seconds")))
    (RESULTS / "split_merge_starts.json").write_text(json.dumps(results, indent=1) + "\n")


def prove() -> None:
    """P-values over the 52 partitions of five points for split–merge alone, with shared and with own scales."""
    from tests.sample.moves.test_collapsed import SHAPES, partition_p_value

    for name, change in ({"as shipped": {}} | ALTERNATIVES).items():
        moves = (put(change)["move"],)
        p_values = [partition_p_value(moves, shape, thin=25, draws=4000) for shape in SHAPES]
        print(f"{name:26s}", *(f"{p:.4f}" for p in p_values), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one seed, d = 2; writes nothing")
    parser.add_argument("--prove", action="store_true")
    parser.add_argument("--starts", nargs="*", metavar="NAME", help="disagreement of starts for these variants")
    parser.add_argument("--seeds", type=int, default=2, help="of --starts")
    options = parser.parse_args()
    with one_blas_thread():
        if options.prove:
            prove()
        elif options.starts is not None:
            starts(options.starts or COMPARED, options.seeds)
        else:
            race(options.quick)


if __name__ == "__main__":
    main()
