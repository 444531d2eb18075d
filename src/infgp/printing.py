"""How numbers, points and tables are shown: as text on a terminal, and as HTML in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

#: Significant digits of a number that is shown.
DIGITS = 4


def printable(text: str) -> str:
    r"""`text` in one line; characters that would move the cursor, or change colours, are spelt out.

    Examples
    --------
    >>> printable("two\nlines, and a bell: \a")
    'two lines, and a bell: \\x07'
    """
    line = " ".join(text.split())
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in line)


def brief(value: object) -> str:
    """A value as text: floats with four significant digits, everything else in one printable line.

    Examples
    --------
    >>> brief(1 / 3), brief(12), brief("a"), brief(None)
    ('0.3333', '12', 'a', 'None')
    """
    return f"{value + 0.0:.{DIGITS}g}" if isinstance(value, float) else printable(str(value))


def brief_point(point: Mapping[str, object]) -> str:
    """A point as a dict is written, floats with four significant digits.

    Examples
    --------
    >>> brief_point({"x": 1 / 3, "kind": "a", "n": 2})
    "{'x': 0.3333, 'kind': 'a', 'n': 2}"
    """
    items = (f"{name!r}: {brief(value) if isinstance(value, float) else repr(value)}" for name, value in point.items())
    return f"{{{', '.join(items)}}}"


def noun(sign: float) -> str:
    """What a value is called: a reward where larger is better, a cost where smaller is.

    Examples
    --------
    >>> noun(1.0), noun(-1.0)
    ('reward', 'cost')
    """
    return "reward" if sign > 0 else "cost"


def counted(count: int, name: str) -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "point"), counted(3, "point")
    ('1 point', '3 points')
    """
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells, as many in each, in columns that are as wide as they need to be.

    Examples
    --------
    >>> print(text_table([("x", "0.3"), ("kind", "a")]))
    x     0.3
    kind  a
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def html_table(
    title: str, rows: Sequence[Sequence[str]], notes: Sequence[str] = (), heads: Sequence[str] | None = None
) -> str:
    """The same for a notebook, with a title and notes under it; no text in it is taken for markup.

    Examples
    --------
    >>> print(html_table("A <b>", [("x", "0.3 & more")]))
    <table><caption>A &lt;b&gt;</caption>
    <tr><th style="text-align:left">x</th><td style="text-align:left">0.3 &amp; more</td></tr>
    </table>
    """
    left = ' style="text-align:left"'
    lines = [f"<table><caption>{escape(title)}</caption>"]
    if heads is not None:
        lines.append(f"<tr>{''.join(f'<th{left}>{escape(head)}</th>' for head in heads)}</tr>")
    for first, *others in rows:
        cells = "".join(f"<td{left}>{escape(cell)}</td>" for cell in others)
        lines.append(f"<tr><th{left}>{escape(first)}</th>{cells}</tr>")
    return "\n".join([*lines, "</table>", *(f"<p>{escape(note)}</p>" for note in notes)])
