"""Tables and numbers as they are written in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from infgp.bench.statistics import Array


def row(*entries: object) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(str, entries))} |"


def table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown.

    Examples
    --------
    >>> print(table(["a", "b"], [[1, 2]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    return "\n".join([row(*head), "|" + "---|" * len(head), *(row(*entries) for entries in rows)])


def number(value: float) -> str:
    """Three significant digits, without an exponent where that is readable.

    Examples
    --------
    >>> number(1234.5), number(0.01234), number(float("nan")), number(0.0000012)
    ('1234', '0.0123', '–', '1.2e-06')
    """
    if not np.isfinite(value):
        return "–"
    return (
        f"{value:.0f}" if abs(value) >= 100 else f"{value:#.3g}".rstrip(".") if abs(value) >= 1e-3 else f"{value:.2g}"
    )


def p_value(p: float) -> str:
    """A p-value as one reads it.

    Examples
    --------
    >>> p_value(0.0312), p_value(1e-7), p_value(float("nan"))
    ('0.031', '< 0.001', '–')
    """
    return "–" if np.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def ratio(logs: Sequence[float] | Array) -> str:
    """Geometric mean of ratios, from their logarithms, and of several its 95 % interval; a dash of none.

    Examples
    --------
    >>> ratio(np.log([2.0])), ratio(np.log([1.0, 4.0])), ratio([])
    ('2.00', '2.00 (0.51–7.78)', '–')
    """
    if not len(logs):
        return "–"
    mean = float(np.mean(logs))
    if len(logs) == 1:
        return f"{np.exp(mean):.2f}"
    error = float(np.std(logs, ddof=1)) / np.sqrt(len(logs))
    return f"{np.exp(mean):.2f} ({np.exp(mean - 1.96 * error):.2f}–{np.exp(mean + 1.96 * error):.2f})"
