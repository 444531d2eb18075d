"""The runner: what methods share, what is recorded, and what a kill leaves behind."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from infgp.app.cli import main
from infgp.bench import records, runner, suites
from infgp.bench.core import Method
from infgp.bench.methods import METHODS
from infgp.bench.pool import Clock, alone, run_all
from infgp.bench.tasks import PAPER, TASKS, task
from infgp.errors import InvalidInputError

TASK = task("ackley-ht")
DOCS = Path(__file__).parents[2] / "docs" / "bench.md"


class Spy:
    """Asks for one point again and again, and keeps what it is told."""

    def __init__(self, at):
        self.at, self.told = np.full(2, at), []

    def ask(self):
        return self.at

    def tell(self, x, y):
        self.told.append((tuple(x), y))


def spied(at, **options):
    spy = Spy(at)
    return runner.run(TASK, Method("spy", "Spy", lambda d, seed: spy), 4, 40, **options), spy.told


def test_methods_share_design_greedy_steps_and_noise():
    (one, first), (other, second) = spied(0.2), spied(0.7)
    assert one["greedy_steps"] == other["greedy_steps"]
    steps = {*range(one["initial"]), *one["greedy_steps"]}
    assert one["initial"] == 6
    assert 3 <= len(one["greedy_steps"]) <= 20
    for n in range(40):
        assert (first[n][0] == second[n][0]) == (n in steps)
        assert n not in steps or first[n][1] == second[n][1]
    assert len({x for x, _ in first}) == len(steps) + 1
    own = [n for n in range(40) if n not in steps]
    gap = [first[n][1] - second[n][1] for n in own]  # the same noise at the same step
    assert np.ptp(gap) < 1e-9
    assert np.ptp([first[n][1] for n in own]) > 1e-3
    assert spied(0.2, greedy=False)[0]["greedy_steps"] == []
    np.testing.assert_allclose(
        one["regret"], TASK.best - TASK.expected(np.array([x for x, _ in first])), rtol=1e-5, atol=1e-9
    )


@pytest.mark.parametrize("name", ["random", "optuna-tpe", "infgp", "gp-ei"])
def test_same_seed_same_record(name):
    for package in METHODS[name].packages:
        pytest.importorskip(package)
    one, other = (runner.run(TASK, METHODS[name], 3, 10) for _ in range(2))
    timed = {"seconds", "cpu_seconds"}
    assert {k: v for k, v in one.items() if k not in timed} == {k: v for k, v in other.items() if k not in timed}
    assert json.loads(json.dumps(one, allow_nan=False)) == one
    assert one["failures"] == []
    assert len(one["regret"]) == len(one["seconds"]) == len(one["cpu_seconds"]) == 10
    assert runner.run(TASK, METHODS[name], 4, 10)["regret"] != one["regret"]


def test_failures_are_recorded_and_replaced():
    class Faulty(Spy):
        def ask(self):
            if len(self.told) == 7:
                raise RuntimeError("no idea")
            return self.at if len(self.told) % 2 else np.array([0.5, 1.5])

    spy = Faulty(0.5)
    record = runner.run(TASK, Method("faulty", "", lambda d, seed: spy), 0, 12, greedy=False)
    assert len(record["regret"]) == 12
    assert "step 7: RuntimeError: no idea" in record["failures"]
    assert sum("outside of the unit cube" in f for f in record["failures"]) == 3
    assert all(min(x) >= 0.0 and max(x) <= 1.0 for x, _ in spy.told)


def test_only_the_method_is_timed():
    slow = Method("slow", "", lambda d, seed: Spy(0.5))
    lazy = runner.Task("lazy", 2, "plain", TASK.expected, lambda rng, x: time.sleep(0.01) or 0.0, TASK.best)
    assert sum(runner.run(lazy, slow, 0, 12)["seconds"]) < 0.05


# --- Suites ----------------------------------------------------------------------------------------------------------


def test_paper_suite():
    jobs = suites.jobs("paper", tasks="ackley,ackley-ht,ackley-ns")
    count = lambda name, method: sum(j.task == name and j.method == method for j in jobs)  # noqa: E731
    assert [count("ackley-ht", m) for m in ("infgp-ts-paper", "infgp", "gp-ts", "gp-ei")] == [10] * 4
    assert [count("ackley-ht", m) for m in ("gp-kg", "tgp-ucb", "pursuit", "random", "wgp-ei")] == [5, 5, 5, 5, 0]
    assert [count("ackley-ns", m) for m in ("wgp-kg", "tgp-ucb")] == [5, 0]
    assert [j.seed for j in jobs] == sorted(j.seed for j in jobs)  # a run cut off is balanced
    assert len({j.key for j in jobs}) == len(jobs)
    assert set(PAPER) <= set(TASKS)


def test_rotation_meets_every_task_and_method():
    pairs = [(t, m) for t in map(task, ("ackley", "ackley-ht", "stybtang-ns")) for m in METHODS.values()]
    pairs = [(t, m) for t, m in pairs if t.kind in m.kinds]
    chosen = suites.rotation(pairs)
    assert {m.name for _, m in chosen} == set(METHODS)
    assert {t.name for t, _ in chosen} == {"ackley", "ackley-ht", "stybtang-ns"}
    assert all(pair in pairs for pair in chosen)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tasks", "ackly"], "did you mean 'ackley'"),
        (["--methods", "gp-oracle"], "gp-oracle is not among infgp-ts-paper"),
        (["--suite", "mine"], "give --tasks"),
        (["--tasks", "ackley", "--methods", "wgp-ei"], "None of the methods is meant"),
        (["--tasks", "ackley", "--seeds", "0"], "seeds must be an integer >= 1"),
        (["--tasks", "ackley", "--jobs", "0"], "--jobs must be an integer >= 1"),
        (["--suite", "../x", "--tasks", "ackley"], "names a folder inside"),
    ],
)
def test_unusable_arguments_are_explained(arguments, message, capsys):
    assert main(["bench", "run", *arguments]) == 1
    assert message in capsys.readouterr().err


def test_figures_need_records(tmp_path, capsys):
    assert main(["bench", "figures", "--records", str(tmp_path)]) == 1
    assert "There are no records" in capsys.readouterr().err


# --- Records and processes -------------------------------------------------------------------------------------------


def test_a_line_cut_off_is_dropped(tmp_path):
    entry = {"task": "a", "method": "m", "regret": [1.0]}
    for seed in range(3):
        records.append(tmp_path, {**entry, "seed": seed})
    path = tmp_path / "a.jsonl"
    path.write_bytes(path.read_bytes()[:-7])
    assert [r["seed"] for r in records.load(tmp_path)] == [0, 1]
    records.append(tmp_path, {**entry, "seed": 9})
    assert [r["seed"] for r in records.load(tmp_path)] == [0, 1, 9]
    assert path.read_bytes().count(b"\n") == 3


def test_a_damaged_line_is_named(tmp_path):
    records.append(tmp_path, {"task": "a", "method": "random", "seed": 0})
    with (tmp_path / "a.jsonl").open("a") as file:
        file.write("{broken\n")
    with pytest.raises(InvalidInputError, match=r"Line 2 of .*a\.jsonl"):
        records.load(tmp_path)


def test_remaining_time():
    known = [{"method": "a", "d": d, "seconds": [s]} for d, s in ((2, 10.0), (2, 20.0), (5, 60.0))]
    job = lambda method, d: suites.Job("t", method, 0, d)  # noqa: E731
    clock = Clock(known)
    assert clock.left([job("a", 2), job("a", 2)], 2) == 15.0
    assert clock.left([job("a", 7), job("b", 2)], 1) == 60.0
    assert Clock([]).left([job("a", 2)], 1) is None
    assert Clock([{"method": "a", "d": 2, "seconds": 3.0}]).left([job("a", 2)], 1) == 3.0  # a fit has one number


PLUGIN = """
    import os, time
    from infgp.bench.core import Method
    from infgp.bench.methods import METHODS
    from infgp.bench.methods.history import Random

    class Slow(Random):
        def ask(self):
            time.sleep(0.01)
            return super().ask()

    class Deadly(Random):
        def ask(self):
            if len(self.rewards) >= 8:
                os._exit(3)
            return super().ask()

    METHODS["slow"] = Method("slow", "Slow", Slow)
    METHODS["deadly"] = Method("deadly", "Deadly", Deadly)
"""


@pytest.fixture
def command(tmp_path):
    """Starts `infgp bench run` in a folder with a plugin."""
    (tmp_path / "plugin.py").write_text(textwrap.dedent(PLUGIN))

    def start(*arguments):
        code = "import sys; from infgp.app.cli import main; sys.exit(main(sys.argv[1:]))"
        fixed = ["bench", "run", "--suite", "mine", "--import", "plugin", "--out", "out"]
        return subprocess.Popen(
            [sys.executable, "-c", code, *fixed, *arguments],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def test_a_killed_run_goes_on_and_nothing_is_lost_or_repeated(command, tmp_path):
    arguments = ["--tasks", "ackley,stybtang", "--methods", "slow", "--seeds", "3", "--jobs", "2"]
    folder = tmp_path / "out" / "mine"
    killed = command(*arguments)
    deadline = time.monotonic() + 60.0
    while len(records.load(folder)) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    before = records.load(folder)
    assert 2 <= len(before) < 6
    with (folder / "ackley.jsonl").open("ab") as file:
        file.write(b'{"task":"ackley","method":"sl')
    out, err = command(*arguments).communicate()
    after = records.load(folder)
    keys = sorted(map(records.key_of, after))
    assert keys == sorted(records.Key(t, "slow", s) for t in ("ackley", "stybtang") for s in range(3)), err
    assert all(record in after for record in before)
    assert f"{6 - len(before)} records written, {len(before)} found from before." in out
    fresh = runner.run(task("ackley"), METHODS["random"], 2)  # Slow draws as Random does
    assert next(r for r in after if records.key_of(r) == ("ackley", "slow", 2))["regret"] == fresh["regret"]


def test_a_process_that_dies_is_a_failure_and_the_rest_goes_on(command, tmp_path):
    process = command("--tasks", "ackley,stybtang", "--methods", "deadly,random", "--seeds", "1")
    _, err = process.communicate()
    assert process.returncode == 1
    done = {records.key_of(r)[:2] for r in records.load(tmp_path / "out" / "mine")}
    assert done == {("ackley", "random"), ("stybtang", "random")}
    assert "2 runs failed" in err
    assert "ackley deadly 0: the process died (exit code 3)" in err
    assert (tmp_path / "out" / "mine" / records.FAILED).read_text().count("died") == 2


def test_ctrl_c_ends_all_processes(command, tmp_path):
    process = command("--tasks", "ackley", "--methods", "slow", "--seeds", "50")
    deadline = time.monotonic() + 60.0
    while not records.load(tmp_path / "out" / "mine") and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20.0)
    assert process.returncode == 130
    assert "the same command goes on" in err


def test_a_task_that_raises_is_a_failure(tmp_path):
    outcome = run_all([suites.Job("no-such-task", "random", 0, 2)], tmp_path, say=lambda text: None)
    assert outcome.written == 0
    assert "No task is called 'no-such-task'" in outcome.failed[0][1]


def test_examples_of_the_docs_run(tmp_path, monkeypatch, capsys):
    text = DOCS.read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    assert len(blocks) == 2
    assert all(sum(map(bool, block.splitlines())) <= 10 for block in blocks)  # the formatter adds blank ones
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [os.fspath(tmp_path), *sys.path])
    (tmp_path / "mine.py").write_text(blocks[0])
    try:
        exec(compile(blocks[1], str(DOCS), "exec"), {})
    finally:
        METHODS.pop("corners", None)
        dict.pop(TASKS, "plane", None)
    assert "corners" in capsys.readouterr().out


def test_a_folder_in_use_is_refused_and_free_again(tmp_path):
    todo = suites.jobs("mine", tasks="ackley", methods="random", seeds=1)
    with alone(tmp_path), pytest.raises(InvalidInputError, match="Another"):
        run_all(todo, tmp_path, warm=False)
    assert run_all(todo, tmp_path, warm=False, say=lambda line: None).written == 1
