"""What studies have in common: a question, runs whose records go to ``results/NAME/``, and a table made from them.

A study is a file ``studies/NAME.py`` with a module docstring that states its question, a constant `STUDY`, a function
``measure(job, warm)`` that makes the record of one run, and ``STUDY.main()`` as its command:

    python -m studies.NAME [--seeds 3] [--tasks a,b] [--methods a,b] [--jobs 2]    # goes on where it stopped
    python -m studies.NAME --quick                                                  # a small form; writes nothing
    python -m studies.NAME --table                                                  # writes results/NAME/table.md

Run it from the root of a checkout.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from infgp.bench.pool import run_all
from infgp.bench.provenance import age
from infgp.bench.records import Record, drop_replaced, key_of, load
from infgp.bench.suites import Job
from infgp.errors import InvalidInputError, check_int

#: Folder of the results, from the root of a checkout.
RESULTS = Path("results")
#: Name of a study's file of records.
RECORDS = "records"
#: Mark of rows whose methods have no code any more.
GONE = "†"
#: What the mark means.
GONE_TEXT = f"{GONE} no longer in the code, measured at an earlier commit."
#: Smallest regret of a recommendation as it enters ratios, in the task's units.
FLOOR = 1e-3


def _dimension(task: str) -> int:
    from infgp.bench.tasks import task as task_of

    return task_of(task).d


@dataclass(frozen=True)
class Study:
    """A question and how it is answered.

    Parameters
    ----------
    name : str
        Of the module in ``studies`` and of the folder in ``results``.
    text : str
        The module's docstring.
    tasks, methods : tuple of str
        What is run with what.
    table : callable
        From records to the table, in Markdown.
    seeds : int
        Number of seeds where the command names none.
    quick : tuple of str
        Tasks of the quick form.
    quick_methods : tuple of str, optional
        Methods of the quick form where the command names none; all methods by default.
    quick_steps : int, optional
        Evaluations of a run of the quick form.
    greedy : tuple of str
        Tasks on which uniform points are evaluated with the paper's chance ζ_n.
    wanted : callable
        Whether a method is run on a task: ``wanted(task, method)``.
    dimension : callable
        Inputs of a task.
    """

    name: str
    text: str
    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    table: Callable[[list[Record]], str]
    seeds: int
    quick: tuple[str, ...]
    quick_methods: tuple[str, ...] | None = None
    quick_steps: int | None = None
    greedy: tuple[str, ...] = ()
    wanted: Callable[[str, str], bool] = lambda task, method: True
    dimension: Callable[[str], int] = _dimension

    def jobs(self, tasks: Iterable[str], methods: Sequence[str], seeds: int, steps: int | None = None) -> list[Job]:
        """Runs to make, seeds outermost: a study that is cut off has measured the same for all methods."""
        pairs = [(task, method) for task in tasks for method in methods if self.wanted(task, method)]
        inputs = {task: self.dimension(task) for task, _ in pairs}
        return [Job(t, m, s, inputs[t], steps, greedy=t in self.greedy) for s in range(seeds) for t, m in pairs]

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """The study's command: its exit code."""
        try:
            return self._act(self._options(arguments))
        except InvalidInputError as error:
            print(f"studies.{self.name}: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("Stopped. What was finished is kept; the same command goes on.", file=sys.stderr)
            return 130

    def _options(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        parser = argparse.ArgumentParser(
            prog=f"python -m studies.{self.name}",
            description=self.text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add = parser.add_argument
        add("--quick", action="store_true", help="a small form that prints its table and writes nothing")
        text = "print and write the table of what has been measured; drop records that later ones have replaced"
        add("--table", action="store_true", help=text)
        add("--seeds", type=int, metavar="N", help=f"(default: {self.seeds}; quick: 1)")
        add("--tasks", metavar="A,B", help="only the tasks named")
        add("--methods", metavar="A,B", help=f"some of {', '.join(self.methods)}".replace("%", "%%"))
        add("--jobs", type=int, default=1, metavar="J", help="runs at once, each in its process (default: 1)")
        text = "make runs anew whose record was made before infgp's default last changed"
        add("--again", action="store_true", help=text)
        return parser.parse_args(arguments)

    def _act(self, options: argparse.Namespace) -> int:
        folder = RESULTS / self.name
        if options.table:
            drop_replaced(folder)
            records = load(folder)
            if not records:
                raise InvalidInputError(f"There are no records in {folder}; run the study from the root of a checkout.")
            text = self.page(records)
            (folder / "table.md").write_text(text, encoding="utf-8")
            print(text, end="")
            return 0
        check_int("--jobs", options.jobs, 1)
        known = self.quick if options.quick else self.tasks
        tasks = some_of(self.tasks, options.tasks) if options.tasks else known
        short = self.quick_methods if options.quick and self.quick_methods else self.methods
        methods = some_of(self.methods, options.methods) if options.methods else short
        seeds = check_int("--seeds", options.seeds or (1 if options.quick else self.seeds), 1)
        todo = self.jobs(tasks, methods, seeds, self.quick_steps if options.quick else None)
        maker = f"studies.{self.name}"
        if not options.quick:
            outcome = run_all(todo, folder, options.jobs, say=say, maker=maker, again=options.again, file=RECORDS)
            print(f"{outcome.written} records written, {outcome.found} found from before.")
            return 1 if outcome.failed else 0
        with tempfile.TemporaryDirectory(prefix="infgp-study-") as temporary:
            outcome = run_all(todo, temporary, options.jobs, say=say, maker=maker, warm=False, file=RECORDS)
            print(self.page(load(temporary)) if outcome.written else "", end="")
            return 1 if outcome.failed else 0

    def page(self, records: list[Record]) -> str:
        """The table with what it says of itself: which command wrote it, and which of its rows are old."""
        counted = list({key_of(record): record for record in records}.values())
        head = f"Written by `python -m studies.{self.name} --table` from {len(counted)} records."
        foot = [age(counted)] + [GONE_TEXT] * any(r["method"] not in self.methods for r in counted)
        return "\n\n".join([head, self.table(counted).strip("\n"), *foot]) + "\n"

    def row(self, method: str) -> str:
        """What a method's row is called: its name, marked where it has no code any more."""
        return method if method in self.methods else f"{method} {GONE}"


def some_of(known: Sequence[str], names: str) -> tuple[str, ...]:
    """Those listed in `names`, separated by commas.

    Examples
    --------
    >>> some_of(("a", "b", "c"), "c,a")
    ('c', 'a')
    """
    wanted = tuple(name.strip() for name in names.split(","))
    if unknown := [name for name in wanted if name not in known]:
        raise InvalidInputError(f"{', '.join(unknown)} is not among {', '.join(known)}.")
    return wanted


def recommended(record: Record) -> float | None:
    """Regret of the recommendation, at least `FLOOR`; None where the method has recommended nothing."""
    regret = record.get("recommend_regret")
    return None if regret is None else max(float(regret), FLOOR)


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)
