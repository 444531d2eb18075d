"""``infgp run``: budgets, resuming, killing, errors in one line, no passwords."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import optuna
import pytest
from optuna.trial import TrialState, create_trial

from infgp.app.cli import main
from infgp.app.launch import Progress, _Run, _signals
from infgp.app.live import _Lines, conclude
from infgp.app.objective import settle
from infgp.app.spacefile import read_space
from infgp.app.staff import Staff
from infgp.app.storage import Plan, hide_password, name_of, open_study
from infgp.app.study import ERROR, INSTEAD_OF, counts
from infgp.app.workers import Answer
from infgp.optuna import BEST_EXPECTED, InfGPSampler, distributions

OBJECTIVE = """
import ctypes, multiprocessing, os, signal, subprocess, time

def f(x, y):
    time.sleep(float(os.environ.get("NAP", "0")))
    value = (x - 0.3) ** 2 + (y - 0.6) ** 2
    with open("evaluated", "a") as file:
        print(repr(x), repr(y), repr(value), file=file)
    return value

def as_dict(point):
    return point["x"]

def either(kind, z=None):
    assert (z is None) == (kind == "a") or os.environ.get("ANY")
    return 0.5 if z is None else z

def both(kind, z):
    return 0.5

def raising(x, y):
    raise RuntimeError("no\\nluck")

def sometimes(x, y):
    if x > 0.5:
        raise RuntimeError("too far")
    return x

def nothing(x, y):
    return None if x > 0.5 else x

def dying(x, y):
    os._exit(3)

def telling(x, y):
    raise RuntimeError("cannot reach " + os.environ["LEAK"])

def forking(x, y):
    if os.fork() == 0:
        time.sleep(0.1 * y)
    return x

def pool(x, y):
    with multiprocessing.Pool(2) as pool:
        return sum(pool.map(abs, [x, y]))

def stuck_in_a_pool(x, y):
    with multiprocessing.Pool(2) as pool:
        pool.map(time.sleep, [60, 60])

def stuck(x, y):
    if x < 0.5:
        return x
    child = subprocess.Popen(["sleep", "60"])
    with open("pids", "a") as file:
        print(os.getpid(), child.pid, file=file)
    ctypes.PyDLL(None).sleep(60)  # a C call that does not let go of Python's lock

def chatty(x, y):
    time.sleep(0.4)
    print("hello", flush=True)
    return x

def shot(x, y):
    os.kill(os.getppid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)

def array(x, y):
    import numpy

    return numpy.array([[x]])

def failing(x, y):
    return None

def endless(x, y):
    return float("inf")

def long_winded(x, y):
    return "S3cret" * 1_000_000
"""
SPACE = """
x = { type = "float", low = 0.0, high = 1.0 }
y = { type = "float", low = 0.0, high = 1.0 }
"""
URL = "sqlite:///study.db"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "objective.py").write_text(OBJECTIVE)
    (tmp_path / "space.toml").write_text(SPACE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INFGP_STORAGE", raising=False)
    return tmp_path


def command(function, trials, *more):
    return ["run", f"objective:{function}", "--space", "space.toml", "--trials", str(trials), "--storage", URL, *more]


def start(*arguments, **environment):
    """The same in a process of its own, which leads a process group as a shell's command does."""
    code = "import sys; from infgp.app.cli import main; sys.exit(main())"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def trials(name="objective:f"):
    return optuna.load_study(study_name=name, storage=URL).trials


def complete(name="objective:f"):
    return [t for t in trials(name) if t.state == TrialState.COMPLETE]


def evaluated():
    """Point and value of every evaluation that came to its end."""
    path = Path("evaluated")
    return [tuple(map(float, line.split())) for line in path.read_text().splitlines()] if path.exists() else []


def until(condition, seconds=60.0):
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < seconds, "it takes too long"
        time.sleep(0.02)


def test_runs_to_its_budget_and_goes_on(capsys):
    assert main(command("f", 6, "--jobs", "2", "--minimize", "--seed", "0")) == 0
    assert len(complete()) == len(trials()) == 6
    out = capsys.readouterr().out
    assert out.count("] trial ") == 6
    assert "Recommended" in out
    assert main(command("f", 9, "--minimize")) == 0
    assert main(command("f", 9, "--minimize")) == 0  # nothing is left to do
    assert len(trials()) == 9
    stored = Counter((t.params["x"], t.params["y"], t.value) for t in complete())
    assert stored == Counter(evaluated())


def test_stops_when_the_regret_is_small(capsys):
    assert main(command("f", 60, "--minimize", "--seed", "0", "--until-regret", "0.3", "--probability", "0.9")) == 0
    made = len(complete())
    assert 6 <= made < 60
    out = capsys.readouterr().out
    assert "Recommended" in out
    assert main(command("f", 60, "--minimize", "--seed", "0", "--until-regret", "0.3", "--probability", "0.9")) == 0
    assert len(trials()) == made  # nothing is left to do


def test_the_time_of_a_run(capsys, monkeypatch):
    monkeypatch.setenv("NAP", "0.3")
    assert main(command("f", 60, "--minimize", "--max-seconds", "2")) == 0
    assert 1 <= len(complete()) == len(trials()) < 30
    assert "Recommended" in capsys.readouterr().out
    assert "--max-seconds must be a finite number > 0" in failure(capsys, *command("f", 60, "--max-seconds", "0"))


def test_a_finished_study_is_confirmed(capsys):
    assert main(command("f", 8, "--minimize", "--seed", "0")) == 0
    assert main(command("f", 11, "--minimize", "--seed", "0", "--confirm", "3")) == 0
    params = [t.params for t in complete()]
    assert len(params) == 11
    assert sum(p not in params[: 8 + k] for k, p in enumerate(params[8:])) <= 1


def test_a_function_of_one_dict(capsys):
    assert main(command("as_dict", 3)) == 0
    assert all(t.value == t.params["x"] for t in complete("objective:as_dict"))


def test_default_storage_is_a_file_and_the_environment_can_name_another(monkeypatch, capsys):
    given = ["run", "objective:f", "--space", "space.toml", "--trials", "1"]
    assert main(given) == 0
    assert Path("infgp.db").exists()
    monkeypatch.setenv("INFGP_STORAGE", "sqlite:///other.db")
    assert main(given) == 0
    assert Path("other.db").exists()


def test_killed_and_resumed():
    """SIGKILL in the middle: what was reported is there and is not evaluated again; the budget is reached."""
    first = start(*command("f", 24, "--jobs", "2", "--minimize", "--seed", "1"), NAP="0.05")
    until(lambda: len(evaluated()) >= 9)
    first.kill()
    first.communicate()
    before = {t.number: (t.params, t.value) for t in complete()}
    assert len(before) >= 5
    assert main(command("f", 24, "--jobs", "2", "--minimize", "--heartbeat", "1")) == 0
    after = {t.number: (t.params, t.value) for t in complete()}
    assert len(after) == 24
    assert before.items() <= after.items()
    times = Counter((x, y) for x, y, _ in evaluated())
    assert all(times[p["x"], p["y"]] == 1 for p, _ in before.values())


def test_ctrl_c_finishes_what_is_running():
    process = start(*command("f", 50, "--jobs", "2"), NAP="0.5")
    until(lambda: len(evaluated()) >= 2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Run the same command to go on" in err
    assert len([line for line in err.splitlines() if "compiles" not in line]) == 1
    assert out.count("(finishing what is running") <= 1
    assert "Recommended (expected reward: " in out
    stored = Counter((t.params["x"], t.params["y"], t.value) for t in trials())  # none failed, none is running
    assert stored == Counter(evaluated())


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes that tell")
@pytest.mark.parametrize("function", ["f", "chatty"])
def test_nobody_reads_any_more(function):
    """As with ``infgp run … | head -1``: a quiet end, and no point fails because the function could not print."""
    process = start(*command(function, 50, "--keep-going"), NAP="0.4")
    while not (line := process.stdout.readline()).startswith("["):
        assert line
    time.sleep(0.25)  # until the run waits for the next value
    process.stdout.close()
    assert process.wait(60) == 141
    assert process.stderr.read() == ""
    process.stderr.close()
    name = f"objective:{function}"
    assert int(line.split()[2].rstrip(":")) in [t.number for t in complete(name)]
    assert [t for t in trials(name) if counts(t)] == complete(name)  # what was under way is given up, not failed
    assert all(t.state.is_finished() for t in trials(name))
    assert main(command(function, len(complete(name)) + 1)) == 0


def test_second_ctrl_c_abandons():
    process = start(*command("f", 50), NAP="60")
    until(lambda: Path("study.db").exists() and len(_trials_or_none()) == 1)
    process.send_signal(signal.SIGINT)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert [t.state for t in trials()] == [TrialState.FAIL]


def _trials_or_none():
    try:
        return trials()
    except Exception:  # the study is being made
        return []


@pytest.mark.parametrize("ahead", [0, 24])
def test_lost_trials_are_replaced(ahead):
    """One run died after its first sign of life, another before it; both trials are given up in time.

    The clock of the machine that they ran on does not matter: here it is right, or a day ahead.
    """
    assert main(command("f", 2)) == 0
    study = optuna.load_study(study_name="objective:f", storage=URL)
    study.ask(distributions(read_space("space.toml")))
    with_beat = study.ask(distributions(read_space("space.toml")))
    study._storage._backend.record_heartbeat(with_beat._trial_id)
    with study._storage._backend.engine.begin() as session:
        session.exec_driver_sql(f"UPDATE trials SET datetime_start = datetime(datetime_start, '{ahead} hours')")
    assert main(command("f", 4, "--heartbeat", "1")) == 0
    assert Counter(t.state for t in trials()) == {TrialState.COMPLETE: 4, TrialState.FAIL: 2}


def test_a_value_is_kept_when_another_run_gave_its_trial_up(tmp_path):
    space = read_space("space.toml")
    plan = Plan("objective:f", "space.toml", 5, storage=URL)
    with pytest.warns(optuna.exceptions.ExperimentalWarning):
        study, storage = open_study(plan, space)
    with _signals() as signals:
        heard = []
        run = _Run(plan, space, study, storage, Staff(plan, space), signals, heard.append)
        with pytest.warns(UserWarning, match="Heartbeat"):
            trial = study.ask(distributions(space))
        storage.set_trial_state_values(trial._trial_id, TrialState.FAIL)  # the other run
        run._report(trial, Answer(value=0.25))
        run._report(trial, Answer(value=0.25))
    assert [t.value for t in complete()] == [0.25]  # once, though told twice
    assert complete()[0].user_attrs == {INSTEAD_OF: 0}
    assert [p.finished.number for p in heard] == [complete()[0].number] * 2  # what is reported is there


# --- Functions that use processes, or time ---------------------------------------------------------------------------


def test_a_function_that_forks():
    """The child returns as well, when another trial may be under way; no trial gets another's value."""
    assert main(command("forking", 8, "--seed", "0", "--jobs", "2")) == 0
    assert len(complete("objective:forking")) == 8
    assert all(t.value == t.params["x"] for t in complete("objective:forking"))


def test_a_function_that_uses_a_pool():
    assert main(command("pool", 2)) == 0
    assert all(t.value == t.params["x"] + t.params["y"] for t in complete("objective:pool"))


def test_timeout(capsys):
    """An evaluation beyond its time is a failed point, in a C call that holds Python's lock too; its child goes."""
    assert main(command("stuck", 4, "--seed", "0", "--timeout", "1")) == 0
    states = Counter((t.state, t.params["x"] < 0.5, t.user_attrs.get(ERROR)) for t in trials("objective:stuck"))
    late = (TrialState.FAIL, False, "ended after --timeout 1 seconds")
    assert states.keys() == {(TrialState.COMPLETE, True, None), late}
    assert states[late] == len(Path("pids").read_text().splitlines())
    until(lambda: all(map(gone, Path("pids").read_text().split())), 5.0)


def test_nothing_is_said_of_what_a_killed_evaluation_leaves():
    process = start(*command("stuck_in_a_pool", 1, "--timeout", "1"))
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err.splitlines() == [err.rstrip()]
    assert "1 of 1 evaluations failed, the last one because of this: ended after --timeout 1 seconds" in err


def gone(pid):
    """Whether a process has ended; one that nobody has asked for its exit code yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("timeout", ["0", "-1", "inf", "nan"])
def test_timeout_must_be_a_time(capsys, timeout):
    assert "--timeout must be a finite number > 0" in failure(capsys, *command("f", 2, f"--timeout={timeout}"))


def test_ctrl_c_while_workers_start():
    """Ctrl-C reaches all processes of a terminal; that a worker starts at that moment is no failure of a point."""
    process = start(*command("f", 40, "--keep-going", "--jobs", "4"), NAP="0.05")
    until(evaluated)  # by the first worker; the others start
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.count("\n") == 1, err
    assert {t.state for t in trials()} == {TrialState.COMPLETE}


def test_a_worker_that_a_signal_kills_while_the_run_is_stopped():
    process = start(*command("shot", 4, "--keep-going"))
    process.communicate(timeout=60)
    assert process.returncode == 130
    (trial,) = trials("objective:shot")
    assert trial.state == TrialState.FAIL
    assert "infgp:failed" not in trial.system_attrs
    assert ERROR not in trial.user_attrs


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_workers_that_are_killed_as_they_start(capsys, monkeypatch, jobs):
    """They are started again, a few times; no trial is lost to it."""
    code = """
import os, signal
with open("started", "a") as file:
    print(os.getpid(), file=file)
if len(open("started").read().splitlines()) > 1:
    os.kill(os.getpid(), signal.SIGKILL)

def f(x, y):
    os._exit(3) if os.environ["JOBS"] == "1" else None
    return x
"""
    Path("mortal.py").write_text(code)
    monkeypatch.setenv("JOBS", jobs)
    err = failure(capsys, "run", "mortal:f", *command("f", 40, "--keep-going", "--jobs", jobs)[2:])
    assert "mortal:f cannot be evaluated: the process died by signal 9" in err
    assert len(Path("started").read_text().splitlines()) > 3
    died = [t for t in trials("mortal:f") if t.state == TrialState.FAIL]
    assert len(died) == (jobs == "1")


# --- Errors ----------------------------------------------------------------------------------------------------------


def failure(capsys, *arguments):
    """The one line that an error prints."""
    assert main(list(arguments)) == 1
    err = capsys.readouterr().err
    assert err.startswith("infgp: ")
    assert err.count("\n") == 1, err
    return err


def test_a_function_that_raises(capsys):
    err = failure(capsys, *command("raising", 5))
    assert "RuntimeError: no luck (objective.py, line" in err
    assert "--keep-going" in err
    assert [t.state for t in trials("objective:raising")] == [TrialState.FAIL]


def test_nothing_is_lost_when_the_function_raises_later(capsys):
    failure(capsys, *command("sometimes", 12, "--seed", "0", "--jobs", "2"))
    good = complete("objective:sometimes")
    assert main(command("sometimes", 12, "--keep-going")) == 0
    assert all(t in complete("objective:sometimes") for t in good)
    counted = [
        t for t in trials("objective:sometimes") if t.state == TrialState.COMPLETE or "infgp:failed" in t.system_attrs
    ]
    assert len(counted) == 12


def test_none_is_a_failed_evaluation(capsys):
    assert main(command("nothing", 8, "--seed", "0")) == 0
    assert {t.state for t in trials("objective:nothing")} == {TrialState.COMPLETE, TrialState.FAIL}
    assert len(trials("objective:nothing")) == 8


def test_an_array_of_one_element_is_a_number(capsys):
    assert main(command("array", 2)) == 0
    assert all(t.value == t.params["x"] for t in complete("objective:array"))


@pytest.mark.parametrize(
    ("function", "more", "why"),
    [
        ("failing", [], "the function returned None, NaN or an infinite number"),
        ("raising", ["--keep-going"], "RuntimeError: no luck"),
    ],
)
def test_a_function_that_always_fails(capsys, function, more, why):
    err = failure(capsys, *command(function, 3, *more))
    assert f"3 of 3 evaluations failed, the last one because of this: {why}" in err


def test_a_note_is_printed_once(capsys):
    study = optuna.create_study()
    study.add_trial(create_trial(params={}, distributions={}, value=1.0))
    lines = _Lines(Plan("objective:f", "space.toml", 3))
    for finished, note in ((None, "wait"), (study.trials[0], ""), (None, "wait"), (None, ""), (None, "wait")):
        lines(Progress([], 1, 3, finished=finished, note=note))
    assert [line for line in capsys.readouterr().out.splitlines() if "trial" not in line] == ["(wait)", "(wait)"]


def test_a_process_that_dies(capsys):
    assert "the process died with exit code 3" in failure(capsys, *command("dying", 5))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"run_": "objective:g"}, "has no function 'g'"),
        ({"run_": "nowhere:f"}, "'nowhere' cannot be imported"),
        ({"run_": "quitting:f"}, "'quitting' cannot be imported (SystemExit: 5)"),
        ({"run_": "broken:f"}, "'broken' cannot be imported (ValueError: two lines)"),
        ({"run_": "objective.py:f"}, "write objective:f."),
        ({"run_": "./some/where.py:f"}, "write some.where:f."),
        ({"run_": "objective"}, "must be given as module:function"),
        ({"--space": "none.toml"}, "none.toml cannot be read"),
        ({"--trials": "0"}, "--trials must be an integer >= 1"),
        ({"--jobs": "0"}, "--jobs must be an integer >= 1"),
        ({"--confirm": "2"}, "--confirm must be less than --trials 2"),
        ({"--until-regret": "0"}, "--until-regret must be a finite number > 0"),
        ({"--until-regret": "0.1", "--probability": "2"}, "--probability must be between 0 and 1"),
        ({"--until-regret": "0.1", "--confirm": "1"}, "do not go together"),
        ({"--objective": "worst"}, "--objective must be mean, median, quantile:Q"),
        ({"--objective": "quantile"}, "but got 'quantile'"),
        ({"--objective": "quantile:1"}, "but got 'quantile:1'"),
        ({"--objective": "cvar:0"}, "but got 'cvar:0'"),
        ({"--objective": "mean:0.5"}, "but got 'mean:0.5'"),
        ({"--objective": "probability:high"}, "but got 'probability:high'"),
        ({"--objective": "probability:inf"}, "but got 'probability:inf'"),
        ({"--storage": "study.db"}, "is not a database URL"),
        ({"--storage": "nosql://x"}, "is not a database URL"),
        ({"--storage": "sqlite:////no/such/folder/study.db"}, "cannot be opened"),
        ({"--storage": "sqlite:///objective.py"}, "cannot be opened (file is not a database)"),
    ],
    ids=str,
)
def test_errors_take_one_line(capsys, change, message):
    Path("broken.py").write_text("raise ValueError('two\\nlines')")
    Path("quitting.py").write_text("import sys; sys.exit(5)")
    settings = {"run_": "objective:f", "--space": "space.toml", "--trials": "2", "--storage": URL, **change}
    first = settings.pop("run_")
    assert message in failure(capsys, "run", first, *[part for item in settings.items() for part in item])


def test_other_direction(capsys):
    assert main(command("f", 1, "--minimize")) == 0
    assert "was made to minimize; add --minimize" in failure(capsys, *command("f", 2))


def kept():
    return optuna.load_study(study_name="objective:f", storage=URL).user_attrs


def test_the_study_keeps_its_objective(capsys):
    assert main(command("f", 2, "--objective", "quantile:0.25", "--outliers", "ignore")) == 0
    assert "Recommended (25 % quantile of the reward: " in capsys.readouterr().out
    assert kept() == {"infgp:objective": "quantile:0.25", "infgp:outliers": "ignore"}
    assert main(command("f", 3)) == 0
    out = capsys.readouterr().out
    assert "Recommended (25 % quantile of the reward: " in out
    assert "They are ignored." in out
    assert main(command("f", 3, "--objective", "probability:0.5")) == 0
    assert "Recommended (chance of beating 0.5: " in capsys.readouterr().out
    assert kept() == {"infgp:objective": "probability:0.5", "infgp:outliers": "ignore"}


def test_the_study_keeps_its_goal(capsys):
    assert main(command("f", 1)) == 0
    assert kept() == {}
    assert main(command("f", 2, "--goal", "along")) == 0
    assert kept() == {"infgp:goal": "along"}
    study = optuna.load_study(study_name="objective:f", storage=URL)
    assert settle(study, Plan("objective:f", "space.toml", 3))["goal"] == "along"
    assert settle(study, Plan("objective:f", "space.toml", 3, goal="final"))["goal"] == "final"
    study.set_user_attr("infgp:goal", "best")
    assert "--goal='best' is not known" in failure(capsys, *command("f", 3))


def test_the_study_keeps_its_preset(capsys):
    assert main(command("f", 2, "--preset", "thompson")) == 0
    assert kept() == {"infgp:preset": "thompson"}
    study = optuna.load_study(study_name="objective:f", storage=URL)
    assert settle(study, Plan("objective:f", "space.toml", 3))["preset"] == "thompson"
    assert "use --preset none" in failure(capsys, *command("f", 3, "--goal", "along"))
    assert kept() == {"infgp:preset": "thompson"}
    assert "preset" not in settle(study, Plan("objective:f", "space.toml", 3, preset="none", goal="along"))
    assert kept() == {"infgp:preset": "none", "infgp:goal": "along"}
    assert "goal" not in settle(study, Plan("objective:f", "space.toml", 3, preset="paper"))
    study.set_user_attr("infgp:preset", "best")
    assert "--preset='best' is not known" in failure(capsys, *command("f", 3))


def test_the_study_keeps_that_improvement_is_counted_per_cost(capsys):
    assert main(command("f", 2, "--per-cost")) == 0
    assert kept() == {"infgp:per_cost": True}
    study = optuna.load_study(study_name="objective:f", storage=URL)
    assert all(0.0 <= trial.user_attrs["infgp:cost"] < 60.0 for trial in study.trials)
    assert settle(study, Plan("objective:f", "space.toml", 3))["per_cost"]
    assert "use --no-per-cost" in failure(capsys, *command("f", 3, "--preset", "paper"))
    assert "per_cost" not in settle(study, Plan("objective:f", "space.toml", 3, per_cost=False))
    assert kept() == {"infgp:per_cost": False}


@pytest.mark.parametrize("options", [("--goal", "final"), ("--objective", "median"), ("--per-cost",)])
def test_a_preset_that_contradicts_other_options_stores_nothing(capsys, options):
    assert "--preset paper" in failure(capsys, *command("f", 2, "--preset", "paper", *options))
    assert not Path("study.db").exists()


def test_an_objective_of_a_study_that_is_not_known(capsys):
    study = optuna.create_study(study_name="objective:f", storage=URL, direction="maximize")
    study.set_user_attr("infgp:objective", "worst")
    assert "'worst'" in failure(capsys, *command("f", 2))
    assert main(command("f", 2, "--objective", "mean")) == 0


def test_nothing_is_stored_for_an_objective_that_is_not_known(capsys):
    failure(capsys, *command("f", 2, "--objective", "worst"))
    assert not Path("study.db").exists()


@pytest.mark.parametrize(("outliers", "now", "other"), [("count", "counted", "ignore"), ("ignore", "ignored", "count")])
def test_what_is_concluded_of_rewards_off_the_surface(monkeypatch, outliers, now, other):
    sampler = InfGPSampler(seed=0, outliers=outliers)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.add_trial(
        create_trial(
            params={"kind": "b"}, distributions={"kind": optuna.distributions.CategoricalDistribution("ab")}, value=1.0
        )
    )
    found = sampler.recommend(study)
    assert "Warning" not in conclude(study)
    told = replace(found, n_rewards=60, n_off_surface=4, off_surface_effect=-1.234, otherwise={"kind": "a"})
    monkeypatch.setattr(InfGPSampler, "recommend", lambda self, study: told)
    text = conclude(study)
    assert "4 of 60 rewards lie off the dominant surface." in text
    assert "changes the expected reward here by -1.2." in text
    assert f"rewards off the surfaces are {now}" in text
    assert f"With --outliers {other} this point would be better: kind = 'a'." in text


def test_other_space(capsys):
    assert main(command("f", 1)) == 0
    wider, other = 'x = { type = "float", low = 0.0, high = 9.0 }', 'y = { type = "int", low = 0, high = 1 }'
    Path("space.toml").write_text(f"{wider}\n{other}")
    err = failure(capsys, *command("f", 2))
    assert "knows 'y' as FloatDistribution" in err
    assert "choose another --study" in err
    assert len(trials()) == 1


@pytest.mark.parametrize(
    "other", [{"rate": 0.5}, {"x": 0.5}, {"x": 0.5, "y": 0.5, "rate": 0.5}, {}], ids=lambda p: "-".join(p)
)
def test_study_with_other_parameters(capsys, other):
    """Trials of another study under the same name neither fill the budget nor teach the model."""
    known = optuna.distributions.FloatDistribution(0.0, 1.0)
    study = optuna.create_study(study_name="objective:f", storage=URL, direction="maximize")
    for _ in range(3):
        study.add_trial(create_trial(params=other, distributions=dict.fromkeys(other, known), value=1.0))
    err = failure(capsys, *command("f", 3))
    assert f"trials with the parameters {', '.join(map(repr, sorted(other))) or 'none'}, the space file" in err
    assert "has 'x', 'y'; mend it, or choose another --study" in err
    assert not evaluated()


CONDITIONAL = """
z = { type = "float", low = 0.0, high = 1.0, step = 0.25, when = { kind = "b" } }
kind = { type = "choice", options = ["a", "b"] }
"""


def test_conditional_parameters(capsys):
    """The function is called with what applies, a run goes on with such trials, and the recommendation has no more."""
    Path("space.toml").write_text(CONDITIONAL)
    assert main(command("either", 5)) == 0
    assert main(command("either", 12)) == 0
    found = [t.params for t in complete("objective:either")]
    assert len(found) == 12
    assert {params["kind"] for params in found} == {"a", "b"}
    assert all(("z" in params) == (params["kind"] == "b") for params in found)
    assert {params["z"] for params in found if "z" in params} <= {0.0, 0.25, 0.5, 0.75, 1.0}
    assert "  z = 1.0\n  kind = 'b'" in capsys.readouterr().out


def test_a_function_that_needs_what_may_not_apply(capsys):
    Path("space.toml").write_text(CONDITIONAL)
    err = failure(capsys, *command("both", 5))
    assert "needs 'z', which does not apply to all points" in err


def test_study_from_before_a_condition(capsys, monkeypatch):
    monkeypatch.setenv("ANY", "1")
    Path("space.toml").write_text(CONDITIONAL.replace(', when = { kind = "b" }', ""))
    assert main(command("either", 6)) == 0
    Path("space.toml").write_text(CONDITIONAL)
    err = failure(capsys, *command("either", 8))
    assert "has trials with the parameters 'kind', 'z', the space file space.toml has 'kind'; mend it" in err


def test_trials_that_lack_parameters_because_they_were_lost():
    study = optuna.create_study(study_name="objective:f", storage=URL, direction="maximize")
    lost = study.ask()
    lost.suggest_float("x", 0.0, 1.0)
    study.tell(lost, state=TrialState.FAIL)
    assert main(command("f", 2)) == 0
    assert len(complete()) == 2


def test_another_run_begins_with_another_space_file(capsys):
    """Trials with other parameters that come while the run is under way end it, with what is evaluated stored."""
    process = start(*command("f", 50), NAP="0.2")
    until(evaluated)
    study = optuna.load_study(study_name="objective:f", storage=URL)
    known = optuna.distributions.FloatDistribution(0.0, 1.0)
    study.add_trial(create_trial(params={"rate": 0.5}, distributions={"rate": known}, value=1.0))
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "has trials with the parameters 'rate'" in err
    assert Counter(t.state for t in trials()) == {TrialState.COMPLETE: len(evaluated()) + 1}


def test_study_with_several_objectives(capsys):
    optuna.create_study(study_name="objective:f", storage=URL, directions=["minimize", "maximize"])
    assert "has 2 objectives; choose another --study" in failure(capsys, *command("f", 2))


def test_ctrl_c_before_anything_is_stored():
    Path("slow.py").write_text("import time\nopen('begun', 'w').close()\ntime.sleep(60)")
    process = start("run", "slow:f", "--space", "space.toml", "--trials", "2", "--storage", URL)
    until(Path("begun").exists)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "infgp: Stopped.\n")
    assert not Path("study.db").exists()


@pytest.mark.filterwarnings("ignore:Query string argument")
def test_what_a_function_returns_is_cut(capsys, monkeypatch):
    url = f"{URL}?password=S3cret"
    arguments = ["--space", "space.toml", "--trials", "1", "--storage", url]
    assert len(failure(capsys, "run", "objective:long_winded", *arguments)) < 1000
    assert main(["run", "objective:long_winded", *arguments, "--keep-going"]) == 1
    for trial in optuna.load_study(study_name="objective:long_winded", storage=url).trials:
        assert "A reward must be a number, or None for a failed evaluation, but got '***" in trial.user_attrs[ERROR]
        assert len(trial.user_attrs[ERROR]) < 310
        assert "S3c" not in trial.user_attrs[ERROR]


@pytest.mark.filterwarnings("ignore:Query string argument")
def test_no_password_from_the_function(capsys, monkeypatch):
    url = f"{URL}?password=S3cret"
    monkeypatch.setenv("INFGP_STORAGE", url)
    monkeypatch.setenv("LEAK", url)
    assert main(["run", "objective:telling", "--space", "space.toml", "--trials", "1", "--keep-going"]) == 1
    (failed,) = optuna.load_study(study_name="objective:telling", storage=url).trials
    assert failed.user_attrs[ERROR].startswith("RuntimeError: cannot reach sqlite:///study.db?***=*** ")
    captured = capsys.readouterr()
    assert "S3cret" not in captured.out + captured.err


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://ann:S3cret@127.0.0.1:1/db",
        "postgresql+psycopg://ann:S3cret%40x@127.0.0.1:1/db",
        "postgresql+psycopg://127.0.0.1:1/db?user=ann&password=S3cret",
        "mysql+mysqldb://ann:S3cret@127.0.0.1:1/db",  # a driver that is not installed
        "postgresql+psycopg://ann:S3cret@127.0.0.1:port/db",
        "nosql://ann:S3cret@127.0.0.1/db",
        "postgresql+psycopg://ann:x@S3cret@127.0.0.1:1/db",
        "postgresql+psycopg://ann:S3cret@x@127.0.0.1:1/db",
        "postgresql+psycopg://ann:x/S3cret@127.0.0.1:1/db",
        "postgresql+psycopg://ann:12/S3cret@127.0.0.1:1/db",
        "postgresql+psycopg://ann:x?S3cret@127.0.0.1:1/db",
        "postgresql+psycopg://ann:x#S3cret@127.0.0.1:1/db",
        "postgresql+psycopg://ann:S3cret",
        "postgresql+psycopg:/ann:S3cret@127.0.0.1:1/db",
        "postgresql:ann:S3cret@127.0.0.1:1/db",
        "ann:S3cret@127.0.0.1/db",
        "host=127.0.0.1 user=ann password=S3cret",
        "host=127.0.0.1 password='S3cret is this'",
        " postgresql://ann:S3cret@127.0.0.1:1/db",
        "S3cret",
    ],
)
def test_no_password_in_any_message(capsys, caplog, url):
    caplog.set_level(0)
    err = failure(capsys, "run", "objective:f", "--space", "space.toml", "--trials", "2", "--storage", url)
    seen = err + capsys.readouterr().out + caplog.text
    assert "S3cret" not in seen
    assert "The storage" in err


SECRET_URL = "postgresql://ann:S3cret@127.0.0.1:1/db"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (command("f", 2, "--storge", SECRET_URL), "perhaps --storage was meant"),
        (command("f", 2, f"--storge={SECRET_URL}"), "perhaps --storage was meant"),
        (command("f", 2, "S3cret"), "some arguments are not known"),
        (command("f", 2, "-S3cret"), "some arguments are not known"),
        (command("f", SECRET_URL), "argument --trials: invalid int value: '…'"),
        (command("f", f"--jobs={SECRET_URL}"), "argument --trials: expected one argument"),
        (command("f", 2, f"--minimize={SECRET_URL}"), "argument --minimize: ignored explicit argument '…'"),
        (command("f", 2, f"--s={SECRET_URL}"), "ambiguous option: … could match --"),
        (command("f", 2, "--outliers", SECRET_URL), "argument --outliers: invalid choice: '…' (choose from"),
        ([SECRET_URL, "run"], "invalid choice: '…' (choose from"),
        (["bench", "run", "--storage", SECRET_URL], "some arguments are not known"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_no_argument_in_a_message_on_arguments(capsys, arguments, said):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    err = capsys.readouterr().err
    assert stop.value.code == 2
    assert "S3cret" not in err
    assert said in err
    assert "--help" in err


@pytest.mark.parametrize(
    "url", [SECRET_URL, "ann:S3cret@127.0.0.1/db", "host=db password=S3cret", "postgresql:/S3cret"]
)
@pytest.mark.parametrize("place", ["module:function", "--space", "--study", "--objective"])
def test_a_url_in_the_wrong_place_is_not_repeated(capsys, url, place):
    arguments = ["run", url, *command("f", 2)[2:]] if place == "module:function" else [*command("f", 2), place, url]
    err = failure(capsys, *arguments)
    assert "S3cret" not in err
    assert "looks like a storage URL; give that with --storage" in err


def test_paths_and_names_with_an_at_sign_are_no_urls():
    Path("a@b:c").mkdir()
    Path("a@b:c/space.toml").write_text(SPACE)
    assert main([*command("f", 1), "--space", "a@b:c/space.toml", "--study", "train:f@v2"]) == 0


@pytest.mark.parametrize("url", ["postgresql://ann:S3cret@host/db", "postgresql:/ann:S3@cret@host/db"])
def test_no_password_in_the_report_of_a_bug(capsys, monkeypatch, url):
    def bug(plan, listen, space):
        raise KeyError(plan.storage.rpartition("@")[0].rpartition("3")[2] if "S3@" in url else plan.storage)

    monkeypatch.setattr("infgp.app.launch.run", bug)
    assert main(["run", "objective:f", "--space", "space.toml", "--trials", "2", "--storage", url]) == 1
    err = capsys.readouterr().err
    assert "KeyError" in err
    assert "cret" not in err


def test_no_password_in_a_plan_that_is_printed():
    assert "S3cret" not in repr(Plan("f:f", "space.toml", 1, storage="postgresql://ann:S3cret@host/db"))


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("mysql+pymysql://a:p:q@h/d", "p:q"),
        ("postgresql://a:p@ss@h/d", "p@ss"),
        ("postgresql://h/d?sslpassword=zz", "zz"),
        ("host=h password='z z'", "z z"),
        ("postgresql://a:p+q@h/d", "p q"),
        ("postgresql:/a:zz@h/d", "zz"),
        ("postgresql://h/d?user=a&psword=zz", "zz"),
        ("postgresql://h:/d&password=zz", "zz"),
        ("postgresql://h/d&psword=zz", "zz"),
        ("mysql+pymysql://a-zz@h/d", "a-zz"),
        ("sqlite:///study.db&psword=zz", "zz"),
    ],
)
def test_hide_password(url, secret):
    assert secret not in hide_password(url, f"{url} says {secret}")
    assert secret not in name_of(url)


def test_help_is_enough(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    out = capsys.readouterr().out
    assert "INFGP_STORAGE" in out
    for word in (
        'type = "choice"',
        "--trials",
        "--jobs",
        "--storage",
        "--study",
        "--outliers",
        "--goal",
        "--preset",
        "--per-cost",
        "cvar:0.1",
        "exit codes",
    ):
        assert word in out


def test_earlier_trials_count():
    space = distributions(read_space("space.toml"))
    study = optuna.create_study(study_name="objective:f", storage=URL, direction="maximize")
    study.add_trial(create_trial(params={"x": 0.1, "y": 0.2}, distributions=space, value=1.0))
    assert main(command("f", 3)) == 0
    assert len(evaluated()) == 2


MARKUP = "[/data/a]"


@pytest.mark.parametrize("terminal", [False, True], ids=["lines", "table"])
def test_names_that_look_like_markup(monkeypatch, capsys, terminal):
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    Path("kinds.py").write_text("def f(**point):\n    return 1.0")
    Path("kinds.toml").write_text(
        f'"[red]k\\u001b" = {{ type = "choice", options = ["{MARKUP}", "{MARKUP}\\u001b[2J"] }}'
    )
    arguments = ["run", "kinds:f", "--space", "kinds.toml", "--storage", URL]
    assert main([*arguments, "--trials", "3", "--study", f"[bold]{MARKUP}"]) == 0
    out = capsys.readouterr().out
    assert f"[red]k\\x1b={MARKUP}" in out
    assert "[2J" not in out.replace("\\x1b[2J", "")
    assert f"[bold]{MARKUP}: 3 of 3" in out or not terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_the_best_expected_value_so_far_is_shown(monkeypatch, capsys, terminal):
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(command("f", 8, "--minimize")) == 0
    shown = " ".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().out).split())  # lines are folded
    said = re.findall(r"best expected so far (\S+)\)", shown)
    (*_, last) = optuna.load_study(study_name="objective:f", storage=URL).trials
    assert float(said[-1]) == pytest.approx(last.user_attrs[BEST_EXPECTED], rel=1e-3)


def test_the_table_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes the output for a terminal
    assert main(command("f", 3, "--minimize")) == 0
    out = capsys.readouterr().out
    assert "3 of 3 trials" in out
    assert "off surface" in out
    assert "] trial " not in out
