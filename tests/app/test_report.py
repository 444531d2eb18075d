"""``infgp report``, ``infgp recommend`` and ``infgp explain``: files are read and not changed."""

import sqlite3
from pathlib import Path

import optuna
import pytest
from optuna_dashboard import get_note, save_note

from infgp import Float, Optimizer
from infgp.app.cli import main
from infgp.optuna import InfGPSampler
from infgp.printing import brief

URL = "sqlite:///study.db"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INFGP_STORAGE", raising=False)
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def made(name="mine", trials=14, **settings):
    """A study whose trial 6 is far too good to be true."""
    study = optuna.create_study(storage=URL, study_name=name, sampler=InfGPSampler(seed=0), **settings)

    def objective(trial):
        value = (trial.suggest_float("x", 0.0, 1.0) - 0.3) ** 2 + (trial.suggest_categorical("kind", ["a", "b"]) == "b")
        return value - 30.0 * (trial.number == 6)

    study.optimize(objective, n_trials=trials)
    return study


def said(capsys, *arguments, code=0):
    assert main(list(arguments)) == code
    out = capsys.readouterr()
    return out.err if code else out.out


def test_a_note_has_what_is_printed_behind_what_the_user_wrote(capsys):
    study = made(trials=8)
    save_note(study, "Mine: do not lose it.")
    for _ in range(2):
        out = said(capsys, "recommend", "study.db", "--note")
    note = get_note(optuna.load_study(study_name="mine", storage=URL))
    assert note.startswith("Mine: do not lose it.\n\n<!-- infgp -->")
    assert note.count("recommended:") == out.count("recommended:") == 1
    assert out.strip() in note


def test_a_saved_run_has_no_note(capsys):
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, seed=0)
    optimizer.tell({"x": 0.5}, 1.0)
    optimizer.save("run.json")
    assert "--note is for studies" in said(capsys, "recommend", "run.json", "--note", code=1)


def test_a_database_is_reported_on_and_not_changed(capsys):
    study = made()
    before = Path("study.db").read_bytes()
    out = said(capsys, "report", "study.db", "--out", "r.html", "--until-regret", "0.1")
    assert "recommended: " in out
    assert "Report: r.html" in out
    page = Path("r.html").read_text(encoding="utf-8")
    assert "<h1>mine</h1>" in page
    assert ("You may stop" in page) != ("Do not stop yet" in page)
    out = said(capsys, "recommend", "study.db")
    assert f"luckiest trial: 6, cost {brief(study.best_value)} at" in out
    assert out.count("(recommended)") == 1
    out = said(capsys, "explain", "study.db", "6")
    assert "It is distrusted: that it lies off the dominant surface has the probability" in out
    assert "'kind': '" in out  # options as the user knows them
    assert "It is not distrusted" in said(capsys, "explain", "study.db", "3")
    assert Path("study.db").read_bytes() == before


def test_a_saved_run_is_explained(capsys):
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, seed=0)
    optimizer.tell_many([{"x": k / 5} for k in range(6)], [0.0, 0.1, None, 0.2, 0.3, 0.1])
    optimizer.save("run.json")
    assert "evaluation 2 failed." in said(capsys, "explain", "run.json", "2")
    assert "seen" in said(capsys, "explain", "run.json", "4")
    assert "from 0 to 5" in said(capsys, "explain", "run.json", "6", code=1)
    assert "luckiest evaluation: 4" in said(capsys, "recommend", "run.json")


def test_which_study_is_asked_if_there_are_several(capsys):
    for name in ("one", "two"):
        made(name, trials=3)
    assert "has 2 studies; say which with --study: 'one', 'two'" in said(capsys, "recommend", "study.db", code=1)
    assert "did you mean 'two'?" in said(capsys, "recommend", "study.db", "--study", "twoo", code=1)
    assert "recommended: " in said(capsys, "recommend", "study.db", "--study", "two")
    assert "recommended: " in said(capsys, "recommend", "one", "--storage", URL)


def test_trade_offs_are_printed_and_not_reported(capsys):
    study = optuna.create_study(storage=URL, study_name="both", directions=["maximize", "minimize"])
    study.optimize(lambda trial: [(x := trial.suggest_float("x", 0.0, 1.0)), x], n_trials=6)
    assert "objective 0" in said(capsys, "recommend", "study.db")
    assert "There are 2 objectives" in said(capsys, "report", "study.db", code=1)
    assert not Path("report.html").exists()


def test_what_cannot_be_read_is_named_and_left_alone(capsys):
    with sqlite3.connect("other.db") as database:
        database.execute("CREATE TABLE mine (x)")
    database.close()
    before = Path("other.db").read_bytes()
    assert "a database without studies" in said(capsys, "report", "other.db", code=1)
    assert Path("other.db").read_bytes() == before
    assert "There is no file gone.db" in said(capsys, "report", "gone.db", code=1)
    assert "looks like a storage URL" in said(capsys, "report", "postgresql://a:S3cret@b/c", code=1)
    optuna.create_study(storage=URL, study_name="empty")
    assert "has no completed trial" in said(capsys, "recommend", "study.db", code=1)
    assert "--out" not in said(capsys, "report", "study.db", "--out", "none/r.html", code=1)
    assert sorted(path.name for path in Path().iterdir()) == ["other.db", "study.db"]
