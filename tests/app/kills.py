"""Is a trial ever lost that was reported, or its value another's, when processes of ``infgp run`` are killed?

    python -m tests.app.kills [--kills 200]     # goes on where it stopped; writes results/reliability/kills.json
    python -m tests.app.kills --quick           # two kills on each storage; writes nothing
    python -m tests.app.kills --table           # writes results/reliability/kills.md

Two runs with two evaluations each work on a study of one of the functions in `tests.app.hostile`, in SQLite, PostgreSQL
or MariaDB. Every few seconds a run, or a process that evaluates for it, is killed with SIGKILL, and runs that have
ended are replaced. Then every line that a run has printed is held against the storage:

- lost: a trial that was reported with a value and is not complete, or as failed and does not count as failed;
- wrong: a stored value that is not the function's at the stored point, or not the one that was reported.

Counted as well are tracebacks in what the runs print, and processes that are left ten seconds after the last run.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from optuna.trial import TrialState

from infgp.app.study import counts
from infgp.bench.provenance import commit
from tests.app import hostile
from tests.app.crew import crew, trials_of
from tests.servers import SERVERS, Missing

#: The counts, a record for each study.
FILE = Path("results/reliability/kills.json")
#: Kills on one study.
ROUND = 14
#: Chance that a run may be killed before it has reported anything.
EARLY = 0.2
#: Shortest and longest time between kills, in seconds.
PAUSE = (0.5, 3.0)
#: Storage and function of each study, in turn.
ROUNDS = [(storage, function) for function in hostile.SHARES for storage in ("sqlite", *SERVERS)]
#: What is counted, and shown in the table.
COUNTS = ("runs", "workers", "reported", "failed", "lost", "wrong", "tracebacks", "left")


@contextmanager
def database(kind, folder):
    """The URL of an empty database."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'study.db'}"
        return
    server = SERVERS[kind]()
    try:
        yield server.url
    finally:
        server.remove()


def descendants(pid):
    """Processes that evaluate for a run: its workers, and what the workers have forked."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if b"spawn_main" in (path / "cmdline").read_bytes():
                parents[int(path.name)] = int((path / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:  # it has ended
            continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {pid})


def kill_one(runs, rng):
    """Kill a run or a process that evaluates for one; returns which it was, or None if there was none to kill."""
    early = rng.random() < EARLY
    chosen = [k for k, (run, _) in enumerate(runs.workers) if run.poll() is None] if early else runs.busy()
    if not chosen:
        return None
    run = runs.workers[rng.choice(chosen)][0]
    kind, victim = "runs", run.pid
    if rng.random() < 0.5 and (found := descendants(run.pid)):
        kind, victim = "workers", rng.choice(found)
    try:
        os.kill(victim, signal.SIGKILL)
    except ProcessLookupError:
        return None
    return kind


def left_in(folder, seconds=10.0):
    """How many processes still work in a folder, after a time."""

    def here(path):
        try:
            return os.path.samefile(os.readlink(path / "cwd"), folder)
        except OSError:
            return False

    until = time.monotonic() + seconds
    while (found := sum(map(here, Path("/proc").glob("[0-9]*")))) and time.monotonic() < until:
        time.sleep(0.1)
    return found


def compare(function, reported, trials):
    """Counts of what was reported and what is stored."""
    stored = {trial.number: trial for trial in trials}
    lost, wrong = set(), set()
    for number, shown in reported:
        trial = stored.get(number)
        if trial is None or not counts(trial) or (trial.state == TrialState.COMPLETE) == (shown == "failed"):
            lost.add(number)
        elif shown != "failed" and f"{trial.value:.6g}" != shown:
            wrong.add(number)
    for trial in trials:
        if trial.state == TrialState.COMPLETE and (
            hostile.fails(function, **trial.params) or trial.value != hostile.value(**trial.params)
        ):
            wrong.add(trial.number)
    failed = sum(shown == "failed" for _, shown in reported)
    return {"reported": len(reported), "failed": failed, "lost": len(lost), "wrong": len(wrong)}


def measure(storage, function, seed, kills=ROUND):
    """The record of one study under fire."""
    rng, begin, killed = random.Random(f"{storage} {function} {seed}"), time.monotonic(), {"runs": 0, "workers": 0}
    folder = Path(tempfile.mkdtemp(prefix="infgp-kills-"))
    target, options = f"hostile:{function}", (*hostile.OPTIONS[function], "--jobs", "2", "--seed", str(seed))
    shutil.copy(hostile.__file__, folder)
    with database(storage, folder) as url:
        with crew(folder, url, 2, 10**6, *options, target=target, heartbeat=1) as runs:
            while not runs.busy():
                time.sleep(0.05)
            next_kill = time.monotonic()
            while sum(killed.values()) < kills:
                if time.monotonic() > next_kill and (kind := kill_one(runs, rng)) is not None:
                    killed[kind] += 1
                    next_kill = time.monotonic() + rng.uniform(*PAUSE)
                runs.replace_the_failed()
                time.sleep(0.05)
            for run, _ in runs.workers:
                run.terminate()
            for run, _ in runs.workers:
                run.wait(120.0)
        found = compare(function, runs.reported(), trials_of(url, target))
        output, left = runs.output(), left_in(folder)
    record = {
        "storage": storage,
        "function": function,
        "seed": seed,
        **killed,
        **found,
        "tracebacks": output.count("Traceback"),
        "left": left,
        "seconds": round(time.monotonic() - begin, 1),
        "commit": commit(),
    }
    if bad(record):
        print(f"Kept for a look: {folder}", flush=True)
    else:
        shutil.rmtree(folder)
    return record


def bad(record):
    return any(record[name] for name in ("lost", "wrong", "tracebacks", "left"))


def save(records):
    FILE.parent.mkdir(parents=True, exist_ok=True)
    part = FILE.with_suffix(".part")
    part.write_text(json.dumps(records, indent=1) + "\n")
    part.replace(FILE)


def kills_in(records):
    return sum(record["runs"] + record["workers"] for record in records)


def table(records):
    """The counts in Markdown, a row for each storage and function."""
    titles = [
        "storage",
        "function",
        "runs killed",
        "workers killed",
        "trials reported",
        "reported as failed",
        *COUNTS[4:],
    ]
    rows = []
    for storage, function in sorted({(r["storage"], r["function"]) for r in records}):
        mine = [r for r in records if (r["storage"], r["function"]) == (storage, function)]
        rows.append([storage, function, *(sum(r[name] for r in mine) for name in COUNTS)])
    rows.append(["all", "all", *(sum(r[name] for r in records) for name in COUNTS)])
    lines = [titles, ["---"] * 2 + ["---:"] * len(COUNTS), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def page(records):
    """The table with what it says of itself."""
    made = ", ".join(sorted({str(record["commit"]) for record in records}))
    seconds = sum(record["seconds"] for record in records)
    head = f"Written by `python -m tests.app.kills --table`: {kills_in(records)} kills in {seconds:.0f} seconds"
    return f"{head}, commit {made}.\n\n{table(records)}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="until there are as many in all (default: 200)")
    parser.add_argument("--quick", action="store_true", help="two kills on each storage; writes nothing")
    parser.add_argument("--table", action="store_true", help="write the table of what has been counted")
    given = parser.parse_args()
    records = json.loads(FILE.read_text()) if FILE.exists() and not given.quick else []
    if given.table:
        FILE.with_suffix(".md").write_text(page(records))
        print(page(records), end="")
        return 0
    try:
        while len(records) < len(SERVERS) + 1 if given.quick else kills_in(records) < given.kills:
            seed, k = divmod(len(records), len(ROUNDS))
            records.append(measure(*ROUNDS[k], seed, 2 if given.quick else ROUND))
            print(json.dumps(records[-1]), flush=True)
            if not given.quick:
                save(records)
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 1
    print(page(records), end="")
    return 1 if any(map(bad, records)) else 0


if __name__ == "__main__":
    sys.exit(main())
