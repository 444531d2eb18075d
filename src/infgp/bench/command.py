"""The command ``infgp bench``: its arguments and what they do."""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
import tempfile
from pathlib import Path

from infgp.errors import InvalidInputError, check_int, require

HELP = """\
Run the paper's experiments, and more methods than it has, on tasks whose expected reward is known.

Each run is one line of JSON in OUT/SUITE/TASK.jsonl. A suite that was stopped, or killed, goes on when the same command
is given again.
"""
EXAMPLES = """\
examples:
  infgp bench list
  infgp bench run --suite smoke
  infgp bench run --suite paper --jobs 2
  infgp bench run --suite paper --tasks ackley-ht,ackley-ns --methods infgp,gp-ei --seeds 3
  infgp bench run --suite mine --import my_tasks --tasks my-task --methods infgp,my-method
  infgp bench figures --suite paper
  infgp bench tables --suite paper

exit codes: 0 all runs have their records, 1 error or some runs failed, 130 stopped by Ctrl-C
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``infgp bench``."""
    actions = parser.add_subparsers(dest="action", required=True)
    running = actions.add_parser("run", help="make the runs of a suite that have no record yet")
    add = running.add_argument
    add("--suite", default="smoke", metavar="NAME", help="smoke, paper, or a name of yours (default: smoke)")
    add("--tasks", metavar="A,B", help="only the tasks named")
    add("--methods", metavar="A,B", help="only the methods named")
    add("--seeds", type=int, metavar="N", help="seeds for every method (default: the suite's)")
    add("--jobs", type=int, default=1, metavar="J", help="runs at once, each in its process (default: 1)")
    add("--out", metavar="FOLDER", help="where records go (default: results; for smoke a temporary folder)")
    text = "make runs anew whose record was made before infgp's default last changed"
    add("--again", action="store_true", help=text)
    add("--every-pair", action="store_true", help="smoke: every task with every method, not just each of them once")
    listing = actions.add_parser("list", help="list tasks and methods")
    for each in (running, listing):
        text = "a module with tasks and methods of yours, found from this folder (may be repeated)"
        each.add_argument("--import", dest="plugins", action="append", default=[], metavar="MODULE", help=text)
    for name in ("figures", "tables"):
        drawing = actions.add_parser(name, help=f"write the {name} from the records")
        drawing.add_argument("--suite", default="paper", metavar="NAME", help="(default: paper)")
        drawing.add_argument("--records", default="results", metavar="FOLDER", help="(default: results)")
        drawing.add_argument("--out", metavar="FOLDER", help="(default: the folder of the suite's records)")


def act(options: argparse.Namespace) -> int:
    """The command ``infgp bench``: its exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # scripts start processes in the background without it
    if options.action in ("figures", "tables"):
        return write(options)
    sys.path.insert(0, "")
    for name in options.plugins:
        importlib.import_module(name)
    return show() if options.action == "list" else run(options)


def run(options: argparse.Namespace) -> int:
    """The action ``run``."""
    from infgp.bench import suites
    from infgp.bench.pool import run_all

    check_int("--jobs", options.jobs, 1)
    if Path(options.suite).name != options.suite or options.suite in ("", ".", ".."):
        raise InvalidInputError(f"--suite names a folder inside of --out, but got {options.suite!r}.")
    jobs = suites.jobs(options.suite, options.tasks, options.methods, options.seeds, options.every_pair)
    smoke = options.suite == suites.SMOKE
    with tempfile.TemporaryDirectory(prefix="infgp-bench-") as temporary:
        folder = Path(options.out or (temporary if smoke else "results")) / options.suite
        say(f"{len(jobs)} runs; records in {folder}.")
        try:
            how = {"plugins": options.plugins, "warm": not smoke, "again": options.again}
            outcome = run_all(jobs, folder, options.jobs, say=say, **how)
        except KeyboardInterrupt:
            print("infgp: Stopped. What was finished is kept; the same command goes on.", file=sys.stderr)
            return 130
        troubled = troubles(folder)
    print(f"{outcome.written} records written, {outcome.found} found from before.")
    for text in troubled:
        print(text, file=sys.stderr)
    if outcome.failed:
        print(f"infgp: {len(outcome.failed)} runs failed; the same command tries them again:", file=sys.stderr)
        for key, reason in outcome.failed:
            print(f"  {' '.join(map(str, key))}: {reason}", file=sys.stderr)
    return 1 if outcome.failed or (smoke and troubled) else 0


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def troubles(folder: Path) -> list[str]:
    """A line for each record in which the method failed at some steps."""
    from infgp.bench.records import key_of, load

    return [
        f"{' '.join(map(str, key_of(r)))}: {len(r['failures'])} of {r['steps']} steps failed, first {r['failures'][0]}"
        for r in load(folder)
        if r["failures"]
    ]


def show() -> int:
    """The action ``list``."""
    from infgp.bench.methods import METHODS
    from infgp.bench.tasks import TASKS

    print("tasks:", *(f"  {name}" for name in TASKS), sep="\n")
    print("methods:")
    for method in METHODS.values():
        print(f"  {method.name:<16}{method.label:<20}for {', '.join(method.kinds)} tasks")
    return 0


def write(options: argparse.Namespace) -> int:
    """The actions ``figures`` and ``tables``."""
    require("matplotlib", "plot")
    folder = Path(options.records) / options.suite
    if not any(folder.glob("*.jsonl")):
        raise InvalidInputError(f"There are no records in {folder}; make some with `infgp bench run` first.")
    module = importlib.import_module(f"infgp.bench.{options.action}")
    module.write(folder, Path(options.out) if options.out else folder)
    return 0
