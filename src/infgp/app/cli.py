"""The command line: ``infgp demo``, ``run``, ``confirm``, ``report``, ``recommend``, ``explain`` and ``bench``."""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import os
import re
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from infgp.app import report as asking
from infgp.app.objective import NO_PRESET
from infgp.app.parser import Parser
from infgp.app.workers import STORAGE_VARIABLE
from infgp.bench import command as bench
from infgp.errors import InfGPError, InvalidInputError, require
from infgp.predict.functionals import OUTLIERS
from infgp.printing import printable
from infgp.search.presets import PRESETS
from infgp.search.proposal import DEFAULT_GOAL, GOALS, STAND_INS

RUN_HELP = """\
Find the input with the best expected reward of a noisy function, or with another best objective (--objective).

The function is called with the parameters by name, f(rate=0.01, kind="b"), or, if it has a single parameter whose name
is not in the space, with all parameters in one dict. It returns a number; None or NaN for a failed evaluation.

The space is a TOML file with a line for each parameter:

    rate = { type = "float", low = 1e-4, high = 1.0, log = true }
    layers = { type = "int", low = 1, high = 6 }
    kind = { type = "choice", options = ["a", "b"] }

Everything is stored as it happens. A run that was stopped, or killed, goes on when the same command is given again;
given on several machines with one --storage, they share the work. Any tool that knows Optuna reads the study.
"""
RUN_EXAMPLES = """\
examples:
  infgp run train:loss --space space.toml --trials 200 --jobs 4 --minimize
  infgp run train:loss --space space.toml --trials 200 --minimize --objective cvar:0.1
  infgp run train:loss --space space.toml --trials 200 --minimize --until-regret 0.01
  infgp run train:loss --space space.toml --trials 220 --minimize --confirm 20
  infgp run train:loss --space space.toml --trials 200 --minimize --storage postgresql+psycopg://me:secret@db/studies
  optuna-dashboard sqlite:///infgp.db

exit codes: 0 the study has all its trials, its regret is as small as --until-regret or its time is over, 1 error or all
evaluations have failed, 130 stopped by Ctrl-C (the recommendation so far is printed), 141 nobody reads the output any
more
"""
#: Exit code when nobody reads the output any more: 128 and the number of SIGPIPE.
UNREAD = 141


CONFIRM_HELP = """\
Evaluate the best points of a finished study again, to find out which of them is best and which was lucky.

STUDY is the name of a study in the storage, made by infgp run or by Optuna, or a file that Optimizer.save wrote. Each
time the command is given, there are --evaluations more; they are stored in the study, or in the file, as they happen.
In the end the recommendation is printed, and the points that may be best with their probabilities.
"""
CONFIRM_EXAMPLES = """\
examples:
  infgp confirm train:loss --evaluations 20
  infgp confirm mine --function train:loss --evaluations 20 --jobs 4 --storage sqlite:///studies.db
  infgp confirm run.json --function train:loss --evaluations 20

exit codes: as those of infgp run
"""


def add_confirm(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``infgp confirm``."""
    add = parser.add_argument
    add("study", metavar="STUDY", help="the study's name, or a file that Optimizer.save wrote")
    add("--evaluations", type=int, default=20, metavar="N", help="further evaluations (default: %(default)s)")
    add("--function", metavar="module:function", help="the function (default: the name of the study, as in infgp run)")
    add("--space", metavar="FILE", help="the parameters, in TOML (default: what the study knows of them)")
    add_common(parser)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``infgp run``."""
    add = parser.add_argument
    add("function", metavar="module:function", help="the function, found from this folder or among what is installed")
    add("--space", required=True, metavar="FILE", help="the parameters, in TOML (see above)")
    add("--trials", type=int, required=True, metavar="N", help="trials that the study is to have in the end")
    add("--study", metavar="NAME", help="name of the study, by which it goes on (default: module:function)")
    add("--minimize", action="store_true", help="find the least value, not the largest")
    add(
        "--objective",
        metavar="WHAT",
        help="what counts of the rewards at a point: mean, median, quantile:0.1 (the reward that nine in ten beat), "
        "cvar:0.1 (the mean of the worst tenth), probability:THRESHOLD (the chance of a reward better than the "
        "threshold); the study keeps it (default: what the study has kept, or else mean)",
    )
    add(
        "--outliers",
        choices=OUTLIERS,
        help="whether rewards that fit no surface count: they do if they can happen again, such as crashes and prizes; "
        "ignore them if they are errors of measurement; the study keeps it (default: what the study has kept, or else "
        "count)",
    )
    add(
        "--stand-ins",
        choices=STAND_INS,
        help="what it means if trials return exactly the same value, far worse than that of all others: that they "
        "failed, or that it is a value like others, which counts; the study keeps it (default: what the study has "
        "kept, or else failed)",
    )
    add(
        "--goal",
        choices=tuple(GOALS),
        help="what the search is for: the best point in the end, or good rewards along the way, where every evaluation "
        f"is paid for; the study keeps it (default: what the study has kept, or else {DEFAULT_GOAL})",
    )
    add(
        "--preset",
        choices=(*PRESETS, NO_PRESET),
        help="a named set of options: the paper's Algorithm 1 as printed (paper), or Thompson sampling of the "
        "objective with infgp's own model (thompson), both with the paper's exploration; not with --goal; the study "
        "keeps it "
        f"(default: what the study has kept, or else {NO_PRESET})",
    )
    add(
        "--per-cost",
        action=argparse.BooleanOptionalAction,
        help="divide what a point is expected to add by the seconds that its evaluation is expected to take, which are "
        "learned; the study keeps it (default: what the study has kept, or else no)",
    )
    add(
        "--until-regret",
        type=float,
        metavar="EPS",
        help="stop before --trials if no point is better than the recommended one by more than EPS, with the "
        "probability --probability",
    )
    add("--probability", type=float, metavar="P", help="of --until-regret (default: 0.95)")
    add(
        "--confirm",
        type=int,
        default=0,
        metavar="N",
        help="the last N of the --trials evaluate the best points again, to find out which is best; a finished study "
        "goes on that way if --trials is larger than before (default: 0)",
    )
    add_common(parser)


def add_common(parser: argparse.ArgumentParser) -> None:
    """Arguments that ``infgp run`` and ``infgp confirm`` share: how evaluations are made, and where they are stored."""
    add = parser.add_argument
    add("--jobs", type=int, default=1, metavar="J", help="evaluations at once, each in its process (default: 1)")
    add(
        "--storage",
        metavar="URL",
        help="database: sqlite:///file.db, postgresql+psycopg://…, mysql+pymysql://… (default: the environment "
        "variable INFGP_STORAGE, which keeps a password out of the process list, or else sqlite:///infgp.db)",
    )
    add("--seed", type=int, metavar="S", help="random seed")
    add("--keep-going", action="store_true", help="count a point at which the function raises as failed, and go on")
    add(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="end an evaluation that takes longer, with all processes it has started, and count its point as failed "
        "(default: none)",
    )
    add(
        "--max-seconds",
        type=float,
        metavar="SECONDS",
        help="begin no evaluation after that time; what is running is finished, and the same command goes on later "
        "(default: none)",
    )
    add("--heartbeat", type=int, default=10, metavar="SECONDS", help="between signs of life (default: 10)")
    add("--patience", type=int, default=60, metavar="SECONDS", help="for a storage that is down (default: 60)")


#: What a storage URL looks like, well written or not; no path and no name of a study does.
LIKE_URL = re.compile(r"\w\w:/|^[^\s/:]+:[^\s@]+@[^\s/@]+/|(?:pass|pwd)\w*\s*=", re.IGNORECASE)


def _check_places(options: argparse.Namespace) -> None:
    """Refuse a URL that was given as something else, without repeating it."""
    places = {"function": "module:function", "space": "--space", "study": "--study", "objective": "--objective"}
    for name, place in places.items():
        if LIKE_URL.search(getattr(options, name, None) or ""):
            raise InvalidInputError(f"What was given as {place} looks like a storage URL; give that with --storage.")


def confirm_saved(options: argparse.Namespace) -> int:
    """The command ``infgp confirm`` with a file: its exit code."""
    from infgp.app.confirm import confirm_file

    if options.jobs != 1 or options.timeout is not None or options.max_seconds is not None:
        raise InvalidInputError(
            "--jobs, --timeout and --max-seconds are for studies in a storage; leave them out for a saved file."
        )
    result = confirm_file(options.study, options.function, options.evaluations, options.keep_going)
    print(result)
    if result.optimizer.counts[1]:
        print(result.optimizer.candidates())
    return 130 if result.stopped_by == "interrupt" else 0


def run(options: argparse.Namespace) -> int:
    """The commands ``infgp run`` and ``infgp confirm``: the exit code."""
    optuna = require("optuna", "cli")
    optuna.logging.set_verbosity(optuna.logging.ERROR)  # warns of lost connections in many lines
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)  # tells of lost connections, with tracebacks
    from infgp.app.confirm import candidates, prepare
    from infgp.app.launch import Interrupted
    from infgp.app.launch import run as launch
    from infgp.app.live import conclude, live
    from infgp.app.storage import Plan, hide_password, is_certain

    confirms = options.command == "confirm"
    settings = {name: value for name, value in vars(options).items() if name in Plan.__dataclass_fields__}
    if confirms:
        settings["function"], settings["space"] = options.function or options.study, options.space or ""
        settings["trials"] = options.evaluations
    settings["storage"] = options.storage or os.environ.get(STORAGE_VARIABLE) or Plan.storage
    plan = Plan(**settings)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # scripts start processes in the background without it
    try:
        _check_places(options)
        whole, space = prepare(plan) if confirms else (plan, None)
        with live(whole) as listen:
            study = launch(whole, listen, space)
        print(conclude(study))
        if confirms:
            print(candidates(study))
    except (Interrupted, KeyboardInterrupt) as stop:
        print(f"infgp: {str(stop) or 'Stopped.'}", file=sys.stderr)
        if isinstance(stop, Interrupted) and stop.study is not None:
            with contextlib.suppress(InfGPError, KeyboardInterrupt):  # so far it is no failure
                print(conclude(stop.study))
        return 130
    except BrokenPipeError:
        raise
    except InfGPError as error:
        print(f"infgp: {printable(hide_password(plan.storage, str(error)))}", file=sys.stderr)
        return 1
    except Exception as error:  # a bug of ours, with no password in its report
        report = traceback.format_exc()
        if not is_certain(plan.storage):  # parts of the URL may be quoted: the places only
            report = "".join([*traceback.format_tb(error.__traceback__), type(error).__name__, "\n"])
        print(hide_password(plan.storage, report), file=sys.stderr, end="")
        return 1
    return 0


#: Commands that ask what is known, and change nothing.
ASK = {"report": asking.report, "recommend": asking.recommend, "explain": asking.explain}


def ask(options: argparse.Namespace) -> int:
    """The commands ``infgp report``, ``infgp recommend`` and ``infgp explain``: the exit code."""
    for name in ("source", "study"):
        if LIKE_URL.search(getattr(options, name) or ""):
            raise InvalidInputError("What was given as STUDY looks like a storage URL; give that with --storage.")
    return ASK[options.command](options)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the command ``infgp``.

    When nobody reads what it prints any more, as after ``infgp run … | head``, it ends without a word and with the exit
    code that a shell gives for SIGPIPE. Characters that the output's encoding lacks are printed as question marks.

    Examples
    --------
    >>> main(["--version"])
    Traceback (most recent call last):
        ...
    SystemExit: 0
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        try:
            code = _act(arguments)
        finally:  # also after --help, which exits
            if sys.stdout is not None:  # it may be closed
                sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return UNREAD
    except KeyboardInterrupt:
        print("infgp: Stopped.", file=sys.stderr)
        return 130
    except OSError as error:  # such as a full disk
        _drop_output()
        place = "" if error.filename is None else f"{error.filename}: "
        print(f"infgp: {place}{error.strerror or type(error).__name__}", file=sys.stderr)
        return 1
    return code


def _drop_output() -> None:
    """Give what is not written yet a place to go."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> Parser:
    """All commands with their arguments."""
    from infgp import __version__

    parser = Parser(prog="infgp", description="Bayesian optimization when rewards misbehave.")
    parser.add_argument("--version", action="version", version=f"infgp {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    as_written = {"formatter_class": argparse.RawDescriptionHelpFormatter}

    def command(name: str, summary: str, **texts: Any) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=summary, **texts)

    summary = "optimize a function whose rewards have outliers, with one GP and with the ∞-GP"
    demo = command("demo", summary, description=f"{summary[0].upper()}{summary[1:]}; say what each recommends.")
    place = "picture to write (default: infgp-demo.png, if infgp[plot] is there)"
    demo.add_argument("--out", metavar="FILE", help=place)
    demo.add_argument("--seed", type=int, default=0, metavar="S", help="random seed (default: %(default)s)")
    demo.add_argument("--budget", type=int, default=50, metavar="N", help="evaluations for each (default: %(default)s)")
    summary = "optimize a function of yours; stored as it happens, on any number of machines"
    add_run(command("run", summary, description=RUN_HELP, epilog=RUN_EXAMPLES, **as_written))
    summary = "evaluate the best points of a finished study again, to find out which is best"
    add_confirm(command("confirm", summary, description=CONFIRM_HELP, epilog=CONFIRM_EXAMPLES, **as_written))
    summary, texts = "write what is known of a study to one HTML file", (asking.REPORT_HELP, asking.REPORT_EXAMPLES)
    asking.add_report(command("report", summary, description=texts[0], epilog=texts[1], **as_written))
    summary = "print what a study recommends, and why"
    asking.add_recommend(command("recommend", summary, description=asking.RECOMMEND_HELP))
    summary = "print what is believed of one trial, and why"
    asking.add_explain(command("explain", summary, description=asking.EXPLAIN_HELP))
    summary = "run the paper's experiments; draw its figures and tables"
    bench.add_arguments(command("bench", summary, description=bench.HELP, epilog=bench.EXAMPLES, **as_written))
    return parser


def _act(arguments: Sequence[str] | None) -> int:
    """Do what the arguments say: the exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "confirm" and os.path.isfile(options.study):
            return confirm_saved(options)
        if options.command in ("run", "confirm"):
            return run(options)
        if options.command == "bench":
            return bench.act(options)
        if options.command in ASK:
            return ask(options)
        from infgp.app import demo

        demo.show(options.out, options.seed, options.budget)
    except InfGPError as error:
        print(f"infgp: {error}", file=sys.stderr)
        return 1
    return 0
