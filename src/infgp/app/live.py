"""What ``infgp run`` shows: a table that changes in place on a terminal, a line for each trial elsewhere."""

from __future__ import annotations

import math
import select
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from infgp.app.launch import Listener, Progress
from infgp.app.storage import Plan
from infgp.app.study import ERROR, counts
from infgp.app.text import shorten
from infgp.app.workers import EvaluationError
from infgp.errors import InfGPError, require
from infgp.optuna import BEST_EXPECTED, OFF_SURFACE
from infgp.printing import brief, printable

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial

#: Number of trials that the table shows.
ROWS = 12
#: Shortest time between two tables, in seconds.
BLINK = 0.2


@contextmanager
def live(plan: Plan) -> Iterator[Listener]:
    """A context whose value is to be called with each :class:`~infgp.app.launch.Progress`."""
    require("rich", "cli")
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    if not console.is_terminal:
        yield _Lines(plan)
        return
    shown, drawn = Progress([], 0, plan.trials), 0.0
    with Live(console=console, auto_refresh=False) as screen:

        def listen(progress: Progress) -> None:
            nonlocal shown, drawn
            shown = progress if progress.trials else replace(shown, note=progress.note)
            if time.monotonic() - drawn >= BLINK:
                drawn = time.monotonic()
                screen.update(table(plan, shown), refresh=True)

        yield listen
        screen.update(table(plan, shown), refresh=True)


class _Lines:
    """A line for each trial that ends, and for each change of the note."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._note, self._done = plan, "", 0

    def __call__(self, progress: Progress) -> None:
        """Print what is new; raises BrokenPipeError once nobody reads it."""
        if _unread(sys.stdout):
            raise BrokenPipeError
        if progress.trials:
            self._done = sum(map(counts, progress.trials))
        if progress.finished is not None:
            self._done += counts(progress.finished)
            number, (value, off, point) = progress.finished.number, _cells(progress.finished)
            apart = f" (off surface {off})" if off else ""
            best = _so_far([progress.finished])
            print(f"[{self._done}/{self._plan.trials}] trial {number}: {value}{apart} {point}{best}", flush=True)
            return  # the note is as before
        if progress.note and progress.note != self._note:
            print(f"({progress.note})", flush=True)
        self._note = progress.note


def _unread(stream: Any) -> bool:
    """Whether a stream is a pipe that has lost its reader, where the system can tell without a write."""
    try:
        poll = select.poll()
        poll.register(stream.fileno(), 0)  # errors only
        return bool(poll.poll(0))
    except (AttributeError, OSError):  # Windows, or no file
        return False


def table(plan: Plan, progress: Progress) -> Any:
    """The table: latest trials, running ones last. Names and values are text: a bracket in them is no markup."""
    from rich.table import Table
    from rich.text import Text

    done = sum(map(counts, progress.trials))
    name = shorten(plan.name)
    out = Table(title=Text(f"{name}: {done} of {progress.total} trials, {progress.running} running here"))
    for heading in ("trial", "value", "off surface", "point"):
        out.add_column(heading)
    for trial in progress.trials[-ROWS:]:
        out.add_row(*map(Text, (str(trial.number), *_cells(trial))))
    out.caption = Text(progress.note + _so_far(progress.trials))
    return out


def _so_far(trials: Sequence[FrozenTrial]) -> str:
    """The best expected value so far, as the last of the trials that know it has it; nothing before the design ends."""
    known = [trial.user_attrs[BEST_EXPECTED] for trial in trials if BEST_EXPECTED in trial.user_attrs]
    return f" (best expected so far {brief(float(known[-1]))})" if known else ""


def _cells(trial: FrozenTrial) -> tuple[str, str, str]:
    state = trial.state.name.lower()
    value = f"{trial.value:.6g}" if state == "complete" else state.replace("fail", "failed")
    off = trial.user_attrs.get(OFF_SURFACE)
    items = trial.params.items()
    point = ", ".join(f"{k}={v:.5g}" if isinstance(v, float) else f"{k}={v}" for k, v in items)
    return value, "" if off is None else f"{off:.2f}", shorten(point)


def conclude(study: Study) -> str:
    """The recommendation in a few lines; where there is none, why.

    Raises
    ------
    EvaluationError
        Where evaluations were made, and all of them failed.
    """
    from infgp.optuna import InfGPSampler

    assert isinstance(study.sampler, InfGPSampler)
    made = [trial for trial in study.get_trials(deepcopy=False) if counts(trial)]
    if made and not any(trial.value is not None and math.isfinite(trial.value) for trial in made):
        reasons = [trial.user_attrs[ERROR] for trial in made if ERROR in trial.user_attrs]
        last = reasons[-1] if reasons else "the function returned None, NaN or an infinite number"
        raise EvaluationError(
            f"No recommendation: {len(made)} of {len(made)} evaluations failed, the last one because of this: "
            f"{shorten(str(last))}. Mend the function, and choose another --study or a larger --trials."
        )
    try:
        found = study.sampler.recommend(study)
    except (InfGPError, ArithmeticError, ValueError) as error:
        return f"No recommendation: {printable(str(error))}"
    lines = ["  " + shorten(f"{name} = {value!r}") for name, value in found.point.items()]
    ignored = " They are ignored." if found.outliers == "ignore" else ""
    lines.append(
        f"{found.n_off_surface} of {found.n_rewards} {found.noun}s lie off the dominant surface.{ignored} Counting "
        f"what the surfaces leave over changes the {found.objective} here by {found.off_surface_effect:+.2g}."
    )
    if found.otherwise is not None:
        now, other = ("counted", "ignore") if found.outliers == "count" else ("ignored", "count")
        point = ", ".join(f"{name} = {value!r}" for name, value in found.otherwise.items())
        lines.append(
            f"Warning: {found.noun}s off the surfaces are {now}, and they decide the recommendation. With --outliers "
            f"{other} this point would be better: {shorten(point)}. Count them if they can happen again, ignore them "
            "if they are errors."
        )
    if found.stand_in is not None:
        value, times = found.stand_in
        begin = f"Warning: {times} {found.noun}s are exactly {value:g}, far worse than all others."
        lines.append(
            f"{begin} They are taken for trials that failed; with --stand-ins count they count."
            if found.stand_ins == "failed"
            else f"{begin} They count; with --stand-ins failed they are taken for trials that failed."
        )
    if study.sampler.fallbacks:
        lines.append(f"In this run the model failed {study.sampler.fallbacks} times; a random point was used then.")
    return "\n".join(
        [
            f"Recommended ({found.objective}: {found.mean:.6g} ± {found.std:.2g}):",
            *lines,
            f"The luckiest value was {study.best_value:.6g} in trial {study.best_trial.number}.",
        ]
    )
