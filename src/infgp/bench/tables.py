"""Tables of the records, in Markdown: regret, seconds, recommendations, ranks, paired tests, growth, claims.

Every number says on how many seeds it rests.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from infgp.bench import records as record_files
from infgp.bench.cells import number, p_value, table
from infgp.bench.claims import check, heavy_tailed, non_stationary, paper_seconds, plain
from infgp.bench.figures import ACKLEY_D5, SYNTHETIC, in_order, label, real_tasks, title
from infgp.bench.provenance import age
from infgp.bench.statistics import (
    Average,
    Comparison,
    Record,
    Runs,
    against,
    by_task,
    curves,
    growth,
    ranking,
    seconds,
    total,
)
from infgp.errors import InvalidInputError

#: Names of the methods that are compared with every other method.
REFERENCES = ("infgp-ts-paper", "infgp")
#: For each method, the largest ratio of its seconds to the paper's seconds that is asked for.
PAPER_TIMES = {"infgp-ts-paper": 1 / 20, "infgp": 1 / 100}
#: Triples (method, other method, largest ratio of their CPU seconds that is asked for).
TIMES = (("infgp", "gp-ei", 1.0), ("infgp-ts-paper", "gp-ei", 3.0))


def in_task_order(runs: Runs) -> list[str]:
    """Tasks in the order of the figures."""
    return [task for task in (*SYNTHETIC, *ACKLEY_D5) if task in runs] + real_tasks(runs)


def methods_of(runs: Runs) -> list[str]:
    """Methods that have records, in the order of the legend."""
    return in_order(sorted({method for mine in runs.values() for method in mine}))


def averages(runs: Runs, value: Callable[[Record], float | None]) -> str:
    """Mean ± standard error (seeds) of a record's value, tasks in rows and methods in columns; the best is bold."""
    methods, rows = methods_of(runs), []
    for task in in_task_order(runs):
        cells: dict[str, Average] = {}
        for method, mine in runs[task].items():
            values = [v for v in map(value, mine.values()) if v is not None]
            if values:
                cells[method] = Average.of(values)
        best = min((a.mean for a in cells.values()), default=float("nan"))
        entries = []
        for method in methods:
            cell = cells.get(method)
            if cell is None:
                entries.append("")
                continue
            text = number(cell.mean) + (f" ± {number(cell.error)}" if cell.count > 1 else "")
            entries.append(f"{f'**{text}**' if cell.mean == best else text} ({cell.count})")
        rows.append([title(task), *entries])
    return table(["task", *map(label, methods)], rows)


def cumulative(runs: Runs) -> str:
    """Cumulative regret."""
    return (
        "Cumulative regret of a run: mean ± standard error (number of seeds). Bold: the lowest mean of a row.\n\n"
        + averages(runs, total)
    )


def recommended(runs: Runs) -> str:
    """Regret of recommendations."""
    return (
        "Regret of the point recommended after the last evaluation: mean ± standard error (number of seeds), for the "
        "methods that recommend one.\n\n" + averages(runs, lambda record: record.get("recommend_regret"))
    )


def times(runs: Runs) -> str:
    """Seconds of runs next to the paper's, and whether they are what was asked for."""
    methods, rows = methods_of(runs), []
    for task in in_task_order(runs):
        entries = []
        for method in methods:
            mine = runs[task].get(method)
            if mine is None:
                entries.append("")
                continue
            wall, cpu, paper = seconds(mine), seconds(mine, "cpu_seconds"), paper_seconds(task, method)
            ratio = f"; paper {paper}, 1/{paper / wall:.0f}" if paper and wall > 0.0 else ""
            entries.append(f"{number(wall)} ({number(cpu)}){ratio}")
        counts = [len(mine) for mine in runs[task].values()]
        rows.append([title(task), f"{min(counts)}–{max(counts)}", *entries])
    text = (
        "Seconds of a method's own work in a run, wall clock (CPU), median over seeds; after the semicolon the paper's "
        "seconds and ours as a part of them. infgp's default is put next to the paper's ∞-GP-TS and warped GPs next to "
        "the paper's GPs. Wall clock was taken on a shared machine.\n\n"
    )
    return text + table(["task", "seeds", *map(label, methods)], rows) + "\n\n" + "\n".join(_targets(runs))


def _targets(runs: Runs) -> list[str]:
    """What was asked of the seconds, and on how many tasks it is met."""
    lines = []
    for method, part in PAPER_TIMES.items():
        ratios = {
            task: seconds(mine[method]) / paper
            for task, mine in runs.items()
            if method in mine and (paper := paper_seconds(task, method))
        }
        lines.append(_met(f"{label(method)} takes at most 1/{1 / part:.0f} of the paper's seconds", ratios, part))
    for method, other, most in TIMES:
        ratios = {
            task: seconds(mine[method], "cpu_seconds") / seconds(mine[other], "cpu_seconds")
            for task, mine in runs.items()
            if method in mine and other in mine and seconds(mine[other], "cpu_seconds") > 0.0
        }
        lines.append(_met(f"{label(method)} takes at most {most:g} × the CPU seconds of {label(other)}", ratios, most))
    return lines


def _met(text: str, ratios: dict[str, float], most: float) -> str:
    if not ratios:
        return f"- {text}: not measured."
    missed = [f"{title(task)} ({ratio:.3g})" for task, ratio in ratios.items() if ratio > most]
    worst = max(ratios.values())
    tail = f"missed on {', '.join(missed)}" if missed else f"largest ratio {worst:.3g}"
    return f"- {text}: on {len(ratios) - len(missed)} of {len(ratios)} tasks; {tail}."


def ranks(runs: Runs) -> str:
    """Average ranks over all tasks, and over the tasks of each kind."""
    groups = {
        "all tasks": list(runs),
        "heavy-tailed": heavy_tailed(runs),
        "non-stationary": non_stationary(runs),
        "plain": plain(runs),
    }
    parts = [
        "Average rank by mean log cumulative regret over common seeds, 1 being the best, among the methods with "
        "three seeds on each task of a group. Friedman's test asks whether they are all alike, Nemenyi's p whether a "
        "method differs from the best."
    ]
    for name, tasks in groups.items():
        found = ranking(runs, tasks) if tasks else None
        if found is None:
            continue
        rows = [
            [label(method), f"{rank:.2f}", p_value(found.worse[method]) if rank > min(found.ranks.values()) else "best"]
            for method, rank in found.ranks.items()
        ]
        noun = "task" if len(found.tasks) == 1 else "tasks"
        parts.append(
            f"**{name[0].upper() + name[1:]}** ({len(found.tasks)} {noun}; Friedman p {p_value(found.p)}; critical "
            f"difference {found.critical:.2f})\n\n" + table(["method", "average rank", "Nemenyi p"], rows)
        )
    return "\n\n".join(parts) if len(parts) > 1 else "Fewer than two methods have been run on the same tasks."


def paired(found: Sequence[Comparison]) -> str:
    """All comparisons of the ∞-GP with other methods."""
    text = (
        "Cumulative regret over that of the other method, geometric mean over common seeds (95 % interval); below 1 "
        f"the first is better. p: paired t-test on log regret; Holm: corrected for all {len(found)} comparisons; "
        "Wilcoxon: signed ranks, at least 0.0625 with five pairs.\n\n"
    )
    rows = [
        [
            title(c.task),
            label(c.a),
            label(c.b),
            f"{c.ratio:.2f}" + (f" ({c.low:.2f}–{c.high:.2f})" if c.count > 1 else ""),
            p_value(c.p),
            p_value(c.holm),
            p_value(c.wilcoxon),
            c.count,
        ]
        for c in found
    ]
    return text + table(["task", "method", "other", "ratio", "p", "Holm", "Wilcoxon", "seeds"], rows)


def losses(found: Sequence[Comparison]) -> str:
    """Where the ∞-GP loses."""
    lost = sorted((c for c in found if c.outcome > 0 and c.b not in REFERENCES), key=lambda c: c.p)
    made = sum(c.b not in REFERENCES for c in found)
    if not made:
        return "There is nothing to compare yet."
    if not lost:
        return f"None of {made} comparisons is lost with p < 0.05."
    rows = [
        [
            title(c.task),
            label(c.a),
            label(c.b),
            f"{c.ratio:.2f} ({c.low:.2f}–{c.high:.2f})",
            p_value(c.p),
            p_value(c.holm),
            c.count,
        ]
        for c in lost
    ]
    return (
        f"{len(lost)} of {made} comparisons are lost with p < 0.05 (uncorrected; {sum(c.holm < 0.05 for c in lost)} "
        "after Holm's correction).\n\n"
        + table(["task", "method", "loses to", "ratio of regrets", "p", "Holm", "seeds"], rows)
    )


def exponents(runs: Runs) -> str:
    """Growth of the regret."""
    methods, rows = methods_of(runs), []
    for task in in_task_order(runs):
        entries = []
        for method in methods:
            if method not in runs[task]:
                entries.append("")
                continue
            found = growth(curves(runs[task][method]))
            interval = f" ({found.low:.2f}–{found.high:.2f})" if np.isfinite(found.low) else ""
            entries.append(f"{found.exponent:.2f}{interval}, {found.count}" if np.isfinite(found.exponent) else "–")
        rows.append([title(task), *entries])
    return (
        "Exponent b of a cumulative regret that grows as n^b, fitted over the second half of the steps: mean over "
        "seeds (95 % interval), number of seeds. Linear regret has b = 1. Uniform points at the rate n^(−1/2), which "
        "all methods share, alone make b tend to 1/2.\n\n" + table(["task", *map(label, methods)], rows)
    )


def verdicts(runs: Runs) -> str:
    """The paper's claims."""
    rows = [[claim.text, f"**{claim.verdict}**", claim.evidence] for claim in check(runs)]
    rule = "A method is judged on the tasks on which it has three seeds at least.\n\n"
    return rule + table(["claim of section 7", "verdict", "evidence"], rows)


def failures(runs: Runs) -> str:
    """Steps at which a method raised."""
    rows = []
    for task in in_task_order(runs):
        for method in in_order(list(runs[task])):
            failed = [text for record in runs[task][method].values() for text in record.get("failures", [])]
            if failed:
                rows.append(
                    [title(task), label(method), len(failed), failed[0].replace("|", "/").replace("\n", " ")[:160]]
                )
    if not rows:
        return "No method raised at any step."
    return "Steps at which a method raised, where a uniform point took its place.\n\n" + table(
        ["task", "method", "steps", "the first"], rows
    )


def write(records_dir: str | os.PathLike[str], out_dir: str | os.PathLike[str]) -> list[Path]:
    """Write every table to a file of its own, and all tables to ``summary.md`` next to the records.

    Parameters
    ----------
    records_dir : path
        A folder of records of one suite, as the runner writes them; the summary goes here.
    out_dir : path
        Where the tables go, one file each. Pictures that are there are linked in the summary.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for method, regret in (("random", 2.0), ("gp-ei", 1.0)):
    ...     times = {"seconds": [0.1], "cpu_seconds": [0.1]}
    ...     record_files.append(folder, {"task": "ackley", "method": method, "seed": 0, "regret": [regret], **times})
    >>> "summary.md" in [path.name for path in write(folder, folder)]
    True
    """
    records = record_files.load(records_dir)
    if not records:
        raise InvalidInputError(f"There are no records in {os.fspath(records_dir)}; run `infgp bench run` first.")
    runs = by_task(records)
    found = against(runs, REFERENCES)
    tables = {
        "claims": ("The paper's claims", verdicts(runs)),
        "losses": ("Where the ∞-GP loses with p < 0.05", losses(found)),
        "regret": ("Cumulative regret", cumulative(runs)),
        "ranks": ("Ranks over tasks", ranks(runs)),
        "growth": ("Growth of the regret", exponents(runs)),
        "recommended": ("Recommendations", recommended(runs)),
        "time": ("Time", times(runs)),
        "paired": ("All paired comparisons", paired(found)),
        "failures": ("Failures", failures(runs)),
    }
    out, place = Path(out_dir), Path(records_dir)
    out.mkdir(parents=True, exist_ok=True)
    written = []
    made = age((r for methods in runs.values() for mine in methods.values() for r in mine.values()), label)
    for name, (_, text) in tables.items():
        (out / f"{name}.md").write_text(f"{text}\n\n{made}\n", encoding="utf-8")
        written.append(out / f"{name}.md")
    (place / "summary.md").write_text(_summary(runs, tables, place, out), encoding="utf-8")
    return [*written, place / "summary.md"]


PICTURES = {
    "synthetic": "Cumulative regret on the synthetic tasks: mean and standard error. Random may leave a panel.",
    "ackley-d5": "The same on Ackley in five dimensions.",
    "real": "The same on the portfolio, hyperparameter and architecture tasks.",
    "ranks": "Average ranks over all tasks.",
}


def _summary(runs: Runs, tables: dict[str, tuple[str, str]], place: Path, out: Path) -> str:
    """Everything on one page."""
    records = [record for methods in runs.values() for mine in methods.values() for record in mine.values()]
    hours = sum(sum(record["cpu_seconds"]) for record in records) / 3600.0
    lines = [
        f"# Results of the suite `{place.resolve().name}`",
        "",
        f"Written by `infgp bench tables` from {len(records)} runs: "
        f"{len(runs)} tasks, {len(methods_of(runs))} methods, {hours:.1f} hours of the methods' own CPU time.",
        "",
        age(records, label),
        "",
    ]
    for name, caption in PICTURES.items():
        if (out / f"{name}.png").exists():
            link = Path(os.path.relpath(out / f"{name}.png", place)).as_posix()
            lines += [f"![{caption}]({link})", "", caption, ""]
    for heading, text in tables.values():
        lines += [f"## {heading}", "", text, ""]
    return "\n".join(lines)
