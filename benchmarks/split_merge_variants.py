"""Which split–merge move finds the mode soonest?

Seconds from a start on one surface until a chain first comes within eight units of the log joint that long chains
settle at, for variants of the move. Runs that do not within 300 sweeps are counted apart.

    python -m benchmarks.split_merge_variants [--quick]   # writes benchmarks/results/split_merge_variants.json
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from benchmarks.families import draw
from infgp.estimator import OWN_SCALE_SHAPE
from infgp.linalg import one_blas_thread
from infgp.model import Data, Model, log_joint
from infgp.moves import hyper, split_merge
from infgp.moves.assign import assign
from infgp.priors import Priors
from infgp.sampler import start_state
from infgp.scaling import RewardScale

OUT = Path(__file__).parent / "results" / "split_merge_variants.json"
FAMILIES = ("outliers_5%", "cauchy", "weibull_0.3", "bimodal")
SWEEPS, LIMIT = 300, 8.0
DEFAULT = {"tries": 2, "NEAR": 0.5, "SHIFT": 0.5, "SHIFT_MEAN": 2.0, "scale_shape": OWN_SCALE_SHAPE}
VARIANTS = {
    "as shipped": {},
    "label sweeps only": {"tries": 0},
    "one try a sweep": {"tries": 1},
    "six tries a sweep": {"tries": 6},
    "anchors anywhere": {"NEAR": 0.0},
    "anchors always near": {"NEAR": 1.0},
    "noise stays": {"SHIFT": 0.0},
    "noise moves further": {"SHIFT_MEAN": 4.0},
    "scales shared": {"scale_shape": 0.0},
}


def chain(data, model, tries, start, seed, stop_at=np.inf):
    """Log joints of a chain, and the seconds until they first reach `stop_at`."""
    rng = np.random.default_rng(seed)
    moves = (assign, *(split_merge.split_merge,) * tries, hyper.draw_beta, hyper.draw_nu, hyper.draw_scales)
    state, trace, seconds = start_state(rng, data, model, start), [], 0.0
    for _ in range(SWEEPS):
        begin = time.perf_counter()
        for move in moves:
            state = move(rng, state, data, model)
        seconds += time.perf_counter() - begin
        trace.append(log_joint(state, data, model))
        if trace[-1] > stop_at:
            return trace, seconds
    return trace, None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one seed, d = 2; writes nothing")
    quick = parser.parse_args().quick
    records: dict[str, list[dict]] = {name: [] for name in VARIANTS}
    with one_blas_thread():
        for d in (2,) if quick else (2, 5):
            for family in FAMILIES:
                for seed in range(1 if quick else 4):
                    sample = draw(family, d, 60, 100 + seed)
                    data = Data(sample.x, RewardScale.fit(sample.y).to_standard(sample.y))
                    goals = {}
                    for name, change in VARIANTS.items():
                        setting = DEFAULT | change
                        for constant in ("NEAR", "SHIFT", "SHIFT_MEAN"):
                            setattr(split_merge, constant, setting[constant])
                        shape = setting["scale_shape"]
                        model = Model("se", Priors().resolve(d), ard=True, scale_shape=shape)
                        if shape not in goals:  # "as shipped" comes first, so that the reference is the default's
                            ends = [chain(data, model, 2, s, 9)[0] for s in ("one", "random", "alone")]
                            goals[shape] = max(float(np.median(e[SWEEPS // 2 :])) for e in ends) - LIMIT
                        trace, seconds = chain(data, model, setting["tries"], "one", seed, goals[shape])
                        records[name].append(
                            {"family": family, "d": d, "seed": seed, "seconds": seconds, "sweeps": len(trace)}
                        )
    results = {}
    for name, runs in records.items():
        found = [r["seconds"] for r in runs if r["seconds"] is not None]
        results[name] = {
            "runs": len(runs),
            "not_found": len(runs) - len(found),
            "median_seconds": float(np.median([r["seconds"] or np.inf for r in runs])),
            "90th_percentile_seconds": float(np.percentile([r["seconds"] or 1e9 for r in runs], 90.0)),
            "mean_sweeps": float(np.mean([r["sweeps"] for r in runs])),
        }
        print(f"{name:22s} {results[name]}", flush=True)
    if not quick:
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
