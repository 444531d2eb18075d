"""``infgp confirm``: a finished study, or a saved run, goes on with its best points."""

import json
from pathlib import Path

import optuna
import pytest
from optuna.trial import TrialState

from infgp import Choice, Float, Int, InvalidInputError, Optimizer
from infgp.app.cli import main
from infgp.app.confirm import space_of
from infgp.app.study import SPACE_KEPT
from infgp.space import Space

URL = "sqlite:///study.db"
FUNCTION = """
def loss(x, kind):
    return (x - 0.3) ** 2 + (kind == "b")

def either(kind, z=0.5):
    return z

def line(x):
    return (x - 0.3) ** 2

def failing(x):
    raise RuntimeError("no luck")
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "train.py").write_text(FUNCTION)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("INFGP_STORAGE", raising=False)
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def by_optuna(trials=8):
    """A study that Optuna's random sampler has made."""
    sampler = optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(storage=URL, study_name="mine", direction="minimize", sampler=sampler)

    def objective(trial):
        x, kind = trial.suggest_float("x", 0.0, 1.0), trial.suggest_categorical("kind", ["a", "b"])
        return (x - 0.3) ** 2 + (kind == "b")

    study.optimize(objective, n_trials=trials)
    return study


def error(capsys, *arguments):
    assert main(["confirm", *arguments]) == 1
    return capsys.readouterr().err


def test_a_study_of_optuna_goes_on(capsys):
    before = [t.params for t in by_optuna().trials]
    assert main(["confirm", "mine", "--function", "train:loss", "--evaluations", "3", "--storage", URL]) == 0
    after = [t.params for t in optuna.load_study(study_name="mine", storage=URL).trials]
    assert after[:8] == before
    assert len(after) == 11
    assert sum(p not in after[: 8 + k] for k, p in enumerate(after[8:])) <= 1  # or the recommended point
    out = capsys.readouterr().out
    assert "[11/11] trial 10: " in out
    assert out.index("Recommended (expected cost: ") < out.index("P(best)")
    assert out.count("(recommended)") == 1


def test_a_study_with_conditions_keeps_its_space(capsys):
    Path("space.toml").write_text(
        "kind = { type = 'choice', options = ['a', 'b'] }\n"
        "z = { type = 'float', low = 0.0, high = 1.0, when = { kind = 'b' } }"
    )
    given = ["run", "train:either", "--space", "space.toml", "--trials", "7", "--storage", URL, "--seed", "0"]
    assert main(given) == 0
    Path("space.toml").unlink()
    assert main(["confirm", "train:either", "--evaluations", "1", "--storage", URL]) == 0
    study = optuna.load_study(study_name="train:either", storage=URL)
    assert [t.state for t in study.trials] == [TrialState.COMPLETE] * 8
    assert space_of(study).conditional == ("z",)
    study.set_user_attr(SPACE_KEPT, json.dumps({"parameters": 3}))
    with pytest.raises(InvalidInputError, match=r"is not certain .* add --space FILE"):
        space_of(study)


def test_the_space_of_a_study():
    study = optuna.create_study()
    study.add_trial(
        optuna.trial.create_trial(
            params={"x": 0.5, "n": 4, "kind": "b"},
            distributions={
                "x": optuna.distributions.FloatDistribution(1e-3, 1.0, log=True),
                "n": optuna.distributions.IntDistribution(2, 8, step=2),
                "kind": optuna.distributions.CategoricalDistribution(["a", "b"]),
            },
            value=1.0,
        )
    )
    known = {"x": Float(1e-3, 1.0, log=True), "n": Int(2, 8, step=2), "kind": Choice(["a", "b"])}
    assert space_of(study) == Space.of(known)
    study.add_trial(optuna.trial.create_trial(params={}, distributions={}, value=1.0))
    with pytest.raises(InvalidInputError, match="different parameters"):
        space_of(study)


def test_what_cannot_be_confirmed(capsys):
    assert "there is no such file" in error(capsys, "mine", "--function", "train:loss", "--storage", URL)
    assert not Path("study.db").exists()
    by_optuna(2)
    assert "add --function module:function" in error(capsys, "mine", "--storage", URL)
    misspelt = error(capsys, "minne", "--function", "train:loss", "--storage", URL)
    assert "has no study 'minne'; did you mean 'mine'?" in misspelt
    other = error(capsys, "zzz", "--function", "train:loss", "--storage", URL)
    assert "it has 'mine'." in other
    assert "--evaluations must be an integer >= 1" in error(
        capsys, "mine", "--function", "train:loss", "--storage", URL, "--evaluations", "0"
    )
    optuna.create_study(storage=URL, study_name="empty")
    optuna.create_study(storage=URL, study_name="two", directions=["minimize", "minimize"])
    assert "no completed trial" in error(capsys, "empty", "--function", "train:loss", "--storage", URL)
    assert "several objectives" in error(capsys, "two", "--function", "train:loss", "--storage", URL)
    assert len(optuna.load_study(study_name="mine", storage=URL).trials) == 2


def saved():
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, "minimize", seed=0)
    for x in (0.1, 0.25, 0.4, 0.6, 0.9):
        optimizer.tell({"x": x}, (x - 0.3) ** 2)
    optimizer.save("run.json")
    return optimizer


def test_a_saved_run_goes_on(capsys):
    told = saved().observations
    assert main(["confirm", "run.json", "--function", "train:line", "--evaluations", "2"]) == 0
    after = Optimizer.load("run.json").observations
    assert after[:5] == told
    assert len(after) == 7
    assert "P(best)" in capsys.readouterr().out


def test_saved_runs_that_cannot_be_confirmed(capsys):
    before = saved().counts
    assert "add --function" in error(capsys, "run.json")
    assert "--jobs, --timeout and --max-seconds" in error(capsys, "run.json", "--function", "train:line", "--jobs", "2")
    failed = error(capsys, "run.json", "--function", "train:failing")
    assert "train:failing failed (RuntimeError: no luck)" in failed
    assert "--keep-going" in failed
    assert Optimizer.load("run.json").counts == before
    Path("none.json").write_text("{}")
    assert "not a saved optimizer" in error(capsys, "none.json", "--function", "train:line")
    keep = ["confirm", "run.json", "--function", "train:failing", "--evaluations", "1", "--keep-going"]
    assert main(keep) == 0
    assert Optimizer.load("run.json").counts == (6, 5)
