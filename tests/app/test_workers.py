"""Workers: whose answer counts, what the function may start, and that nothing of it outlives the run."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing import Pipe
from pathlib import Path

import pytest

from infgp.app.text import LONGEST, shorten
from infgp.app.workers import SENT, Answer, Reply, Worker, _exit_code, wait_for
from infgp.space import Float, Space

SPACE = Space.of({"x": Float(0.0, 1.0)})
FUNCTIONS = """
import ctypes, multiprocessing, os, signal, subprocess, sys, time
from concurrent.futures import ProcessPoolExecutor

def leave_child(seconds="60"):
    child = subprocess.Popen(["sleep", seconds])
    with open("pids", "a") as file:
        print(os.getpid(), child.pid, file=file)

def forking(x):
    if os.fork() == 0:
        time.sleep(0.05)
        return -1.0
    return x

def waiting_for_all(x):
    if os.fork() == 0:
        sys.exit(7)
    _, status = os.wait()
    try:
        os.wait()
    except ChildProcessError:  # no other child, and none of ours
        return float(os.waitstatus_to_exitcode(status))

def dying_with_a_child(x):
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    os._exit(3)

def half(x):
    return x / 2

def pool(x):
    with multiprocessing.Pool(2) as pool:
        return sum(pool.map(half, [x, x]))

def executor(x):
    with ProcessPoolExecutor(2) as executor:
        return sum(executor.map(half, [x, x]))

def loader(x):
    import torch
    data = torch.utils.data.DataLoader(torch.full((4,), x), batch_size=2, num_workers=2)
    return sum(float(batch.sum()) for batch in data) / 4

def holding_the_interpreter(x):
    leave_child()
    ctypes.PyDLL(None).sleep(60)  # a C call that does not let go of Python's lock

def waiting(x):
    leave_child()
    time.sleep(60)

def without_shell(*arguments):
    # the body of a worker where there is neither a shell nor a kernel that kills it
    from infgp.app import workers
    workers.SHELL, workers._die_with_parent = "/nowhere/sh", lambda: None
    workers._work(*arguments)

def closing_all_files(x):
    os.closerange(3, 256)
    time.sleep(60)

def long_winded(x):
    return "a" * 10_000_000

class Mute(Exception):
    def __str__(self):
        raise ValueError

def mute(x):
    raise Mute

def arguments(x):
    seen = sys.argv[1:], os.environ.get("INFGP_STORAGE"), open("/proc/self/environ").read().count("S3cret")
    raise RuntimeError(seen)
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def hire():
    """Start workers that have found their function; they are stopped at the end."""
    hired = []

    def start(function):
        hired.append(Worker(f"functions:{function}", SPACE))
        assert answer(hired[-1]) == Answer()
        return hired[-1]

    yield start
    for worker in hired:
        worker.stop()


def answer(worker, seconds=30.0):
    begin = time.monotonic()
    while (got := worker.collect()) is None:
        assert time.monotonic() - begin < seconds, "no answer"
        wait_for([worker], 0.5)
    return got


def evaluate(worker, x, seconds=30.0):
    worker.send({"x": x})
    return answer(worker, seconds)


def gone(pid):
    """Whether a process has ended; one that nobody has asked for its exit code yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def until(condition, seconds=30.0):
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < seconds, "it takes too long"
        time.sleep(0.02)


def pids():
    """Process ids of workers and of their children, once they are there."""
    until(lambda: Path("pids").exists() and Path("pids").read_text().endswith("\n"))
    return [int(pid) for pid in Path("pids").read_text().split()]


# --- Whose answer counts ---------------------------------------------------------------------------------------------


def test_a_forked_child_that_returns_has_no_say(hire):
    worker = hire("forking")
    points = [k / 12 for k in range(12)]
    assert [evaluate(worker, x).value for x in points] == points
    assert worker.alive


def test_an_answer_counts_for_its_request_and_from_the_worker_only(hire):
    worker = hire("half")
    before = worker._connection
    worker._connection, theirs = Pipe()  # stands for what several processes write to
    worker.send({"x": 0.5})
    request, pid = worker._request, worker._process.pid
    for reply in (Reply(request - 1, pid, Answer(1.0)), Reply(request, pid + 1, Answer(2.0)), "rubbish"):
        theirs.send(reply)
    assert worker.collect() is None
    theirs.send(Reply(request, pid, Answer(3.0)))
    assert worker.collect() == Answer(3.0)
    theirs.send_bytes(b"rubbish")
    assert "closed its connection" in worker.collect().error
    assert not worker.alive
    before.close()


def test_a_dead_worker_is_noticed_though_its_child_holds_the_pipes(hire):
    worker, begin = hire("dying_with_a_child"), time.monotonic()
    assert evaluate(worker, 0.5).error == "the process died with exit code 3"
    assert time.monotonic() - begin < 10.0  # the child sleeps for a minute


def test_a_worker_that_closes_its_files(hire):
    worker = hire("closing_all_files")
    assert evaluate(worker, 0.5).error == "the process has closed its connection to the run"
    assert not worker.alive


# --- What the function may do ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", ["pool", "executor", pytest.param("loader", marks=pytest.mark.slow)])
def test_the_function_may_use_processes(hire, function):
    if function == "loader":
        pytest.importorskip("torch")
    worker = hire(function)
    assert [evaluate(worker, x, 120.0) for x in (0.25, 0.5)] == [Answer(0.25), Answer(0.5)]


def test_the_function_sees_no_children_but_its_own(hire):
    assert evaluate(hire("waiting_for_all"), 0.5) == Answer(7.0)


def test_long_and_broken_errors(hire):
    error = evaluate(hire("long_winded"), 0.5).error
    assert error.startswith("A reward must be a number, or None for a failed evaluation, but got 'aaa")
    assert len(error) < SENT + 100
    assert evaluate(hire("mute"), 0.5).error.startswith("Mute (functions.py, line ")


def test_shorten():
    assert shorten("x" * LONGEST) == "x" * LONGEST
    assert shorten("\x1b[31m\udcff") == "\\x1b[31m\\udcff"
    assert len(shorten(" " * 10**6 + "x")) <= LONGEST + 1


@pytest.mark.parametrize(("code", "expected"), [(None, 0), (3, 3), ("text", 1), (False, 0)])
def test_exit_codes_of_children(code, expected):
    assert _exit_code(SystemExit(code)) == expected
    assert _exit_code(ValueError()) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_worker_sees_neither_arguments_nor_the_storage(hire, monkeypatch):
    url = "postgresql://ann:S3cret@host/db"
    monkeypatch.setenv("INFGP_STORAGE", url)
    monkeypatch.setattr(sys, "argv", ["infgp", "run", "--storage", url])
    assert evaluate(hire("arguments"), 0.5).error.startswith("RuntimeError: ([], None, 0)")
    assert os.environ["INFGP_STORAGE"] == sys.argv[3] == url  # only hidden from workers


# --- Nothing outlives the run ----------------------------------------------------------------------------------------


def test_stop_ends_a_worker_and_its_children(hire):
    worker = hire("holding_the_interpreter")
    worker.send({"x": 0.5})
    there = pids()
    worker.stop()
    until(lambda: all(map(gone, there)), 5.0)
    assert not worker.alive


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("function", "body"), [("holding_the_interpreter", "_work"), ("waiting", "without_shell")])
def test_nothing_outlives_a_run_that_is_killed(function, body):
    """SIGKILL of the run, while the function has a child and holds Python's lock, or where there is no shell."""
    code = f"""
import time
from functions import without_shell
from infgp.app import workers
from infgp.space import Float, Space

if __name__ == "__main__":
    workers._work = {"workers._work" if body == "_work" else body}
    worker = workers.Worker("functions:{function}", Space.of({{"x": Float(0.0, 1.0)}}))
    worker.send({{"x": 0.5}})
    time.sleep(60)
"""
    Path("script.py").write_text(code)
    process = subprocess.Popen([sys.executable, "script.py"])
    there = pids()
    process.kill()
    process.wait()
    until(lambda: all(map(gone, there)), 10.0)


def test_ctrl_c_does_not_reach_a_worker_that_starts():
    worker = Worker("functions:half", SPACE)
    try:
        for _ in range(20):
            os.kill(worker._process.pid, signal.SIGINT)
            time.sleep(0.05)
        assert answer(worker) == Answer()
    finally:
        worker.stop()
