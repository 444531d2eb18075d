"""Ray Tune with infgp's sampler, on two CPUs of this machine: python examples/ray_tune.py

Needs the extra `ray`.
"""

import tempfile

import ray
from ray import tune
from ray.tune.search import ConcurrencyLimiter
from ray.tune.search.optuna import OptunaSearch

from infgp.optuna import InfGPSampler


def train(config: dict) -> dict:
    """One training; one in ten goes wrong."""
    import random

    wrong = 50.0 if random.random() < 0.1 else 0.0
    return {"loss": abs(config["rate"] - 0.01) * 10.0 + random.gauss(0.0, 0.02) + wrong}


if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    search = OptunaSearch(metric="loss", mode="min", sampler=InfGPSampler(seed=0))
    with tempfile.TemporaryDirectory() as folder:
        tuner = tune.Tuner(
            train,
            param_space={"rate": tune.loguniform(1e-4, 1.0)},
            tune_config=tune.TuneConfig(
                search_alg=ConcurrencyLimiter(search, 2), num_samples=15, metric="loss", mode="min"
            ),
            run_config=tune.RunConfig(storage_path=folder, verbose=0),
        )
        best = tuner.fit().get_best_result()
    print("luckiest trial:", best.config, best.metrics["loss"])
    ray.shutdown()
