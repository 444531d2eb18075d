"""``infgp report``, ``infgp recommend`` and ``infgp explain``: what is known of a study or a saved run."""

from __future__ import annotations

import argparse
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from infgp.app.objective import regret_rule
from infgp.app.storage import Plan, StorageError, load_study
from infgp.app.text import shorten
from infgp.app.workers import STORAGE_VARIABLE
from infgp.errors import InvalidInputError, check_int, require
from infgp.habits import nearest
from infgp.printing import brief, brief_point, text_table
from infgp.report.search import Search, judge
from infgp.search.optimizer import Optimizer

if TYPE_CHECKING:
    from optuna import Study

#: How a database of SQLite begins.
SQLITE = b"SQLite format 3\0"

REPORT_HELP = """\
Write what is known of a search to one HTML file that needs nothing else: what is recommended and what to expect of it,
which trials are distrusted and why, whether to stop, what to try or repeat next, and the pictures of infgp.plot.

STUDY is a database with a study of infgp run or of Optuna, a file that Optimizer.save wrote, or the name of a study in
the --storage. Nothing in it is changed.
"""
REPORT_EXAMPLES = """\
examples:
  infgp report infgp.db --out report.html
  infgp report infgp.db --study train:loss --until-regret 0.01
  infgp report run.json
  infgp report train:loss --storage postgresql+psycopg://me:secret@db/studies
"""
RECOMMEND_HELP = "Print what is recommended, what to expect there, and the points that may be best."
EXPLAIN_HELP = """\
Print what is believed of one trial: what was seen, what all others lead to expect there, whether it is distrusted and
why, and what was believed when it ended. Trials of a study have their numbers; what Optimizer.save wrote is counted
from 0.
"""


@dataclass(frozen=True)
class Source:
    """What was asked about: a study or an optimizer, and how it is called."""

    thing: Study | Optimizer
    title: str


def add_source(parser: argparse.ArgumentParser) -> None:
    """Arguments that say what is asked about."""
    add = parser.add_argument
    add("source", metavar="STUDY", help="a database, a file that Optimizer.save wrote, or the name of a study")
    add("--study", metavar="NAME", help="which study, where the database has several")
    add(
        "--storage",
        metavar="URL",
        help="database of a study that is given by its name (default: the environment variable INFGP_STORAGE, or else "
        "sqlite:///infgp.db)",
    )


def add_report(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``infgp report``."""
    add_source(parser)
    add = parser.add_argument
    add("--out", default="report.html", metavar="FILE", help="file to write (default: %(default)s)")
    add("--until-regret", type=float, metavar="EPS", help="say whether no point is better by more than EPS")
    add("--probability", type=float, metavar="P", help="of --until-regret (default: 0.95)")
    add("--seed", type=int, default=0, metavar="S", help="for what is drawn for the report (default: %(default)s)")


def add_recommend(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``infgp recommend``."""
    add_source(parser)
    parser.add_argument(
        "--note",
        action="store_true",
        help="also put what is printed into the study's note, which optuna-dashboard shows; a note of yours stays "
        "before it (needs the extra `dashboard`)",
    )


def add_explain(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``infgp explain``."""
    add_source(parser)
    parser.add_argument("trial", type=int, metavar="TRIAL", help="number of the trial")


def open_source(source: str, study: str | None = None, storage: str | None = None) -> Source:
    """The study or the optimizer behind a file or a name.

    Raises
    ------
    InvalidInputError, StorageError
        Where there is no such thing, or it is not certain which study is meant.

    Examples
    --------
    >>> import infgp, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.json")
    ...     infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0).save(path)
    ...     open_source(path).title
    'run.json'
    """
    if os.path.isfile(source):
        with open(source, "rb") as file:
            is_database = file.read(len(SQLITE)) == SQLITE
        if not is_database:
            if study is not None:
                raise InvalidInputError(f"--study is for databases, and {source} is none; leave it out.")
            return Source(_saved(source), os.path.basename(source))
        url, name = f"sqlite:///{source}", _which(source, study)
    elif source.endswith((".db", ".json", ".sqlite", ".sqlite3")):
        raise InvalidInputError(f"There is no file {shorten(source)}; give a database, a saved run or a study's name.")
    else:
        url, name = storage or os.environ.get(STORAGE_VARIABLE) or Plan.storage, source
    return Source(read_study(url, name), name)


def _saved(path: str) -> Optimizer:
    """The optimizer in a file that is no database."""
    try:
        return Optimizer.load(path)
    except InvalidInputError:
        with open(path, "rb") as file:
            if file.read(1) == b"{":  # what is wrong with it has been said
                raise
        raise InvalidInputError(
            f"{shorten(path)} is neither a SQLite database nor a file that Optimizer.save wrote; give one of the two, "
            "or the name of a study."
        ) from None


def _which(path: str, study: str | None) -> str:
    """The name of the study that is meant, among those of a database; the database is only read."""
    try:
        with closing(sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=ro", uri=True)) as database:
            names = [str(row[0]) for row in database.execute("SELECT study_name FROM studies ORDER BY study_id")]
    except sqlite3.Error as error:
        raise StorageError(
            f"{path} is a database without studies of Optuna ({shorten(str(error))}); give one of infgp run."
        ) from None
    listed = shorten(", ".join(map(repr, names)))
    if study is None:
        if len(names) == 1:
            return names[0]
        why = f"has {len(names)} studies; say which with --study: {listed}" if names else "has no study"
        raise InvalidInputError(f"{path} {why}.")
    if study not in names:
        meant = nearest(study, names)
        raise InvalidInputError(
            f"{path} has no study {shorten(study)!r}; {f'did you mean {meant!r}?' if meant else f'it has {listed}.'}"
        )
    return study


def read_study(url: str, name: str) -> Study:
    """A study with a sampler that knows what the study has kept: its objective and its space."""
    optuna = require("optuna", "cli")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    from infgp.app.confirm import space_of
    from infgp.app.objective import settle
    from infgp.optuna import InfGPSampler

    plan = Plan(function=name, space="", trials=1, storage=url)
    study = load_study(plan)
    several = len(study.directions) > 1
    try:
        options = {} if several else settle(study, plan)
    except InvalidInputError as error:  # what the study has kept was written by others
        raise StorageError(f"The study {shorten(name)!r} has an option that cannot be used: {error}") from None
    if not any(trial.state.name == "COMPLETE" for trial in study.get_trials(deepcopy=False)):
        raise InvalidInputError(f"The study {shorten(name)!r} has no completed trial: there is nothing to say yet.")
    try:
        space: Any = space_of(study)
    except InvalidInputError:  # trials with different parameters: what they have in common
        space = None
    study.sampler = InfGPSampler(seed=0, search_space=space, **options)
    return study


def report(options: argparse.Namespace) -> int:
    """The command ``infgp report``: its exit code."""
    from infgp.report import check_place, write

    check_place(options.out)
    check_int("--seed", options.seed, 0)
    rule = regret_rule(options.until_regret, options.probability)
    source = open_source(options.source, options.study, options.storage)
    found = write(source.thing, options.out, source.title, rule, options.seed)
    print(_lines(str(found.recommendation)))
    print(f"Report: {options.out}")
    return 0


def recommend(options: argparse.Namespace) -> int:
    """The command ``infgp recommend``: its exit code."""
    from infgp.plot.subject import is_study, optimizer_of
    from infgp.report.note import save_note

    thing = open_source(options.source, options.study, options.storage).thing
    if options.note and not is_study(thing):
        raise InvalidInputError("--note is for studies, and this is a file that Optimizer.save wrote; leave it out.")
    if options.note:
        require("optuna_dashboard", "dashboard")
    text = _lines(_tradeoffs(thing) if len(optimizer_of(thing).directions) > 1 else _recommendation(Search.of(thing)))
    print(text)
    if options.note:
        save_note(thing, text)
    return 0


def _tradeoffs(thing: Study | Optimizer) -> str:
    """Points between which several objectives trade off."""
    from infgp.plot.subject import is_study, optimizer_of, sampler_of

    found = sampler_of(thing).tradeoffs(thing) if is_study(thing) else optimizer_of(thing).tradeoffs()
    rows = [
        [*(f"{brief(m)} ± {s:.2g}" for m, s in zip(t.means, t.stds, strict=True)), brief_point(t.point)] for t in found
    ]
    title = "Trade-offs: of the evaluated points, those that no other is as good as in every objective."
    return f"{title}\n{text_table([[*(f'objective {k}' for k in range(len(rows[0]) - 1)), 'point'], *rows])}"


def _recommendation(search: Search) -> str:
    """What is recommended, the luckiest evaluation beside it, and the points that may be best."""
    best, lucky = search.recommend(), judge(search, [search.luckiest])[0]
    where = "at the same point" if lucky.point == best.point else f"at {brief_point(lucky.point)}"
    luck = f"luckiest {search.trial}: {lucky.number}, {lucky.noun} {brief(lucky.value)} {where}. {lucky.why}"
    return f"{best}\n{luck}\n\n{search.candidates(5)}"


def explain(options: argparse.Namespace) -> int:
    """The command ``infgp explain``: its exit code."""
    source = open_source(options.source, options.study, options.storage)
    print(_lines(explanation(Search.of(source.thing, source.title), options.trial)))
    return 0


def explanation(search: Search, number: int) -> str:
    """What is believed of one evaluation, as text.

    Examples
    --------
    >>> import infgp
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
    >>> optimizer.tell_many([{"x": 0.1}, {"x": 0.5}, {"x": 0.9}], [1.0, None, 1.5])
    >>> print(explanation(Search.of(optimizer), 1).splitlines()[0])
    evaluation 1 failed.
    """
    trial = None if search.study is None else _trial(search, number)
    if number not in search.numbers:
        if trial is None:
            last = len(search.numbers) - 1
            raise InvalidInputError(f"There is no evaluation {number}; give a number from 0 to {last}.")
        return f"trial {number} is {trial.state.name.lower()}, and was not told: nothing was learned from it."
    place = search.numbers.index(number)
    if place not in search.done:
        value = search.optimizer.observations[place].value
        told = "" if value is None else f": its value, {value:g}, stands for failures"
        return "\n".join([f"{search.trial} {number} failed{told}.", _elsewhere(search, place)])
    found = judge(search, [search.done.index(place)])[0]
    rows = [*found.rows(), *_then(trial)]
    return "\n".join([f"{search.trial} {number}", text_table(rows), found.why])


def _trial(search: Search, number: int) -> Any:
    trials = {trial.number: trial for trial in search.study.get_trials(deepcopy=False)}
    if number not in trials:
        raise InvalidInputError(f"There is no trial {number}; give a number from 0 to {max(trials)}.")
    return trials[number]


def _elsewhere(search: Search, place: int) -> str:
    """What would be expected at the point of an evaluation that failed."""
    point = search.subject.outward(search.optimizer.observations[place].point)
    law = search.subject.learned.law(search.subject.base(point)[None], search.subject.aim.sign)
    low, middle, high = (brief(float(value)) for value in law.quantile((0.05, 0.5, 0.95))[0])
    return (
        f"At {brief_point(point)} a {search.subject.noun}, if there were one, would be expected at {middle}, with "
        f"probability 90 % between {low} and {high}."
    )


def _then(trial: Any) -> list[tuple[str, str]]:
    """What was believed of a trial when it ended, where it was kept."""
    if trial is None:
        return []
    from infgp.optuna import BEST_EXPECTED, OFF_SURFACE

    kept = trial.user_attrs
    words = {OFF_SURFACE: "when it ended: off the surface", BEST_EXPECTED: "when it ended: best expected so far"}
    return [(words[name], brief(kept[name])) for name in words if name in kept]


def _lines(words: str) -> str:
    """Lines fit for a terminal: no characters that move the cursor."""
    from infgp.app.confirm import printable_row

    return "\n".join(printable_row(line) for line in words.splitlines())
