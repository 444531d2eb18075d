"""Pictures of the records (needs the extra ``plot``): cumulative regret against evaluations, and ranks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from infgp.bench import records as record_files
from infgp.bench.methods import METHODS
from infgp.bench.statistics import Ranking, Record, Runs, by_task, curves, ranking
from infgp.errors import InvalidInputError, require

#: Line without gaps.
_SOLID = "-"
#: Line of dashes; lengths are in line widths.
_DASH = (0, (4, 1.5))
#: Line of dots; lengths are in line widths.
_DOT = (0, (1, 1.2))
#: Line of dashes and dots; lengths are in line widths.
_MIX = (0, (5, 1.2, 1, 1.2))
#: Colour, line and width in points of each method. The colours are those of Okabe and Ito, which the colour-blind can
#: tell apart. Methods of one family share a colour.
STYLES: dict[str, tuple[str, Any, float]] = {
    "infgp-ts-paper": ("#D55E00", _SOLID, 2.4),
    "infgp": ("#0072B2", _SOLID, 2.4),
    "gp-ts": ("#009E73", _SOLID, 1.3),
    "gp-ei": ("#E69F00", _SOLID, 1.3),
    "gp-ucb": ("#56B4E9", _SOLID, 1.3),
    "gp-kg": ("#CC79A7", _SOLID, 1.3),
    "wgp-ts": ("#009E73", _DASH, 1.3),
    "wgp-ei": ("#E69F00", _DASH, 1.3),
    "wgp-ucb": ("#56B4E9", _DASH, 1.3),
    "wgp-kg": ("#CC79A7", _DASH, 1.3),
    "tgp-ucb": ("#56B4E9", _DOT, 1.8),
    "pursuit": ("#222222", _MIX, 1.3),
    "optuna-gp": ("#777777", _DASH, 1.3),
    "optuna-tpe": ("#777777", _DOT, 1.6),
    "random": ("#AAAAAA", _SOLID, 1.0),
}
#: Colours of methods that `STYLES` does not list.
_OTHERS = ("#000000", "#7F3C8D", "#A5AA00", "#5B2C06")
#: The paper's first figure: heavy-tailed, non-stationary and plain from top to bottom.
SYNTHETIC = tuple(f"{name}{kind}" for kind in ("-ht", "-ns", "") for name in ("ackley", "rosenbrock", "stybtang"))
ACKLEY_D5 = ("ackley-ht-d5", "ackley-ns-d5", "ackley-d5")
TITLES = {"stybtang": "StybTang", "hpo": "HPOBench", "mnist": "MNIST", "nasbench201": "NAS-Bench-201"}


def pyplot() -> Any:
    """Matplotlib's pyplot, loaded when it is needed."""
    return require("matplotlib.pyplot", "plot")


def clean(axis: Any) -> None:
    """Take the frame's upper and right side off."""
    axis.spines[["top", "right"]].set_visible(False)


def save(figure: Any, path: Path) -> None:
    """Write a picture, creating its directory, and close it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    pyplot().close(figure)


def style(method: str) -> tuple[str, Any, float]:
    """Colour, dashes and width of a method's lines; one that is not listed gets the same ones every time.

    Examples
    --------
    >>> style("infgp")[0]
    '#0072B2'
    """
    return STYLES.get(method) or (_OTHERS[sum(map(ord, method)) % len(_OTHERS)], _MIX, 1.3)


def label(method: str) -> str:
    """What a method is called in figures and tables."""
    return METHODS[method].label if method in METHODS else method


def title(task: str) -> str:
    """What a task is called in figures and tables.

    Examples
    --------
    >>> title("stybtang-ns"), title("ackley-ht-d5"), title("hpo-segment")
    ('StybTang-NS', 'Ackley-HT, d = 5', 'HPOBench segment')
    """
    stem, _, dimension = task.partition("-d") if task.rpartition("-d")[2].isdigit() else (task, "", "")
    name, _, rest = stem.partition("-")
    shown = TITLES.get(name, name.capitalize()) + (
        f"-{rest.upper()}" if rest in ("ht", "ns") else f" {rest}" * bool(rest)
    )
    return f"{shown}, d = {dimension}" if dimension else shown


def in_order(methods: Sequence[str]) -> list[str]:
    """Methods in the order of the legend; methods that are not listed come last."""
    order = list(STYLES)
    return sorted(methods, key=lambda m: (order.index(m) if m in order else len(order), m))


def real_tasks(runs: Runs) -> list[str]:
    """Tasks that are not synthetic functions, in the order of the paper's second figure as far as it has them."""
    order = ("portfolio", "hpo", "mnist", "nas", "")
    others = [task for task in runs if task not in (*SYNTHETIC, *ACKLEY_D5)]
    return sorted(others, key=lambda task: (next(k for k, name in enumerate(order) if task.startswith(name)), task))


def seeds_text(counts: Sequence[int]) -> str:
    """How many seeds curves rest on.

    Examples
    --------
    >>> seeds_text([10, 10]), seeds_text([5, 10]), seeds_text([1])
    ('10 seeds', '5–10 seeds', '1 seed')
    """
    low, high = min(counts), max(counts)
    return f"{low} seed{'s' * (low != 1)}" if low == high else f"{low}–{high} seeds"


def panel(axis: Any, task: str, methods: dict[str, dict[int, Record]]) -> None:
    """Cumulative regret on one task: mean over seeds, and a band of a standard error either way."""
    top = 0.0
    for method in in_order(list(methods)):
        cumulative = curves(methods[method])
        count, steps = cumulative.shape
        n, mean = np.arange(1, steps + 1), cumulative.mean(axis=0)
        colour, dashes, width = style(method)
        axis.plot(n, mean, color=colour, ls=dashes, lw=width, label=label(method), zorder=2 + width)
        if count > 1:
            error = cumulative.std(axis=0, ddof=1) / np.sqrt(count)
            axis.fill_between(n, mean - error, mean + error, color=colour, alpha=0.14, lw=0)
        if method != "random" or len(methods) == 1:
            top = max(top, float(mean[-1]))
    counts = [len(mine) for mine in methods.values()]
    axis.set(
        xlim=(1, max(len(r["regret"]) for mine in methods.values() for r in mine.values())),
        ylim=(0.0, 1.08 * top if top > 0.0 else 1.0),
    )
    axis.set_title(title(task), fontsize=11)
    axis.text(0.03, 0.97, seeds_text(counts), transform=axis.transAxes, va="top", fontsize=8, color="#555555")
    axis.tick_params(labelsize=8)
    clean(axis)


def regret_figure(runs: Runs, tasks: Sequence[str], path: Path, columns: int = 3) -> None:
    """Panels of some tasks in rows, with one legend for all; tasks without records leave their panel empty."""
    plt = pyplot()
    columns = min(columns, len(tasks))
    rows = -(-len(tasks) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(3.5 * columns, 2.55 * rows + 0.75), squeeze=False, layout="constrained"
    )
    for axis, task in zip(axes.flat, tasks, strict=False):
        if task in runs:
            panel(axis, task, runs[task])
        else:
            axis.set_title(title(task), fontsize=11)
            axis.text(0.5, 0.5, "no records yet", ha="center", va="center", transform=axis.transAxes, color="#999999")
            axis.set(xticks=[], yticks=[])
            clean(axis)
    for axis in axes.flat[len(tasks) :]:
        axis.set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel("evaluations", fontsize=9)
    for axis in axes[:, 0]:
        axis.set_ylabel("cumulative regret", fontsize=9)
    lines = {line.get_label(): line for axis in axes.flat for line in axis.get_lines()}
    shown = [label(m) for m in in_order(sorted({m for task in tasks for m in runs.get(task, {})}))]
    figure.legend(
        [lines[name] for name in shown],
        shown,
        loc="outside lower center",
        ncols=min(len(shown), 5 if columns > 2 else 2),
        frameon=False,
        fontsize=8.5,
        handlelength=2.6,
    )
    save(figure, path)


def rank_figure(found: Ranking, path: Path) -> None:
    """Average ranks on a line, and how far apart methods must be for Nemenyi's test to tell them apart."""
    plt = pyplot()
    methods = list(found.ranks)
    figure, axis = plt.subplots(figsize=(6.4, 0.32 * len(methods) + 1.2), layout="constrained")
    best = found.ranks[methods[0]]
    axis.axvspan(best, best + found.critical, color="#0072B2", alpha=0.10, lw=0)
    for row, method in enumerate(methods):
        colour = style(method)[0]
        axis.plot([1.0, found.ranks[method]], [row, row], color="#DDDDDD", lw=1, zorder=1)
        axis.plot(found.ranks[method], row, "o", color=colour, ms=8)
        axis.text(found.ranks[method] + 0.14, row, f"{found.ranks[method]:.1f}", va="center", fontsize=8)
    axis.set(yticks=range(len(methods)), yticklabels=[label(m) for m in methods], xlim=(0.8, len(methods) + 0.4))
    axis.set_xlabel(
        f"average rank over {len(found.tasks)} tasks (1 is best);\nshaded: not told from the best by Nemenyi's test",
        fontsize=9,
    )
    axis.invert_yaxis()
    clean(axis)
    save(figure, path)


def write(records_dir: str | os.PathLike[str], out_dir: str | os.PathLike[str]) -> list[Path]:
    """Draw all figures that the records in a folder allow.

    Parameters
    ----------
    records_dir : path
        A folder of records of one suite, as the runner writes them.
    out_dir : path
        Where the pictures go: ``synthetic.png`` (the paper's nine panels), ``ackley-d5.png``, ``real.png`` (the paper's
        second figure) and ``ranks.png``.

    Returns
    -------
    list of Path
        The pictures.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for seed in range(2):
    ...     record_files.append(folder, {"task": "ackley", "method": "random", "seed": seed, "regret": [1.0, 0.5]})
    >>> [path.name for path in write(folder, folder)]
    ['synthetic.png']
    """
    runs = by_task(record_files.load(records_dir))
    if not runs:
        raise InvalidInputError(f"There are no records in {os.fspath(records_dir)}; run `infgp bench run` first.")
    out, drawn = Path(out_dir), []
    groups = {"synthetic": SYNTHETIC, "ackley-d5": ACKLEY_D5, "real": tuple(real_tasks(runs))}
    for name, tasks in groups.items():
        if any(task in runs for task in tasks):
            regret_figure(runs, tasks, out / f"{name}.png", columns=3 if name != "real" else max(3, min(len(tasks), 4)))
            drawn.append(out / f"{name}.png")
    found = ranking(runs)
    if found is not None and len(found.tasks) > 1:
        rank_figure(found, out / "ranks.png")
        drawn.append(out / "ranks.png")
    return drawn
