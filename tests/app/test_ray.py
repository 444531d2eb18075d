"""The sampler inside Ray Tune's Optuna search, on a Ray cluster of this machine, saved and restored."""

import warnings

import optuna
import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'infgp[ray]'")

from infgp.optuna import InfGPSampler  # noqa: E402

pytestmark = [
    pytest.mark.slow,  # Ray takes seconds to start each trial
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = str(tmp_path_factory.mktemp("r"))
        ray.init(
            num_cpus=2, include_dashboard=False, log_to_driver=False, _temp_dir=folder if len(folder) < 60 else None
        )
    yield
    ray.shutdown()


def bowl(config):
    return {"loss": (config["x"] - 0.3) ** 2 + (config["kind"] == "b")}


def search():
    from ray.tune.search.optuna import OptunaSearch

    return OptunaSearch(metric="loss", mode="min", sampler=InfGPSampler(seed=0, n_startup_trials=5))


def tune(searcher, folder, samples, space=None):
    """Evaluate on the cluster, two trials at once; a restored search brings its space along."""
    from ray import tune
    from ray.tune.search import ConcurrencyLimiter

    tuner = tune.Tuner(
        bowl,
        param_space=space or {},
        tune_config=tune.TuneConfig(
            search_alg=ConcurrencyLimiter(searcher, 2), num_samples=samples, metric="loss", mode="min"
        ),
        run_config=tune.RunConfig(storage_path=str(folder), verbose=0),
    )
    return tuner.fit()


def test_tune_saves_and_restores(cluster, tmp_path):
    from ray.tune import choice, uniform

    first = search()
    results = tune(first, tmp_path / "one", 12, {"x": uniform(0.0, 1.0), "kind": choice(["a", "b"])})
    assert not results.errors
    assert results.get_best_result().metrics["loss"] < 0.01
    first.save(str(tmp_path / "search"))

    second = search()
    second.restore(str(tmp_path / "search"))
    study = second._ot_study
    assert isinstance(study.sampler, InfGPSampler)
    assert len(study.get_trials(states=(optuna.trial.TrialState.COMPLETE,))) == 12
    assert second.suggest("next") == first.suggest("next")  # memory and randomness came along
    more = tune(second, tmp_path / "two", 2)
    assert not more.errors
    assert max(r.metrics["loss"] for r in more) < 0.2  # nothing is begun anew
