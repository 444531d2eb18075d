"""Text of others, made fit to be shown and stored."""

from __future__ import annotations

from infgp.printing import printable

#: Characters of a message that are shown and stored.
LONGEST = 300


def shorten(text: str, length: int = LONGEST) -> str:
    """`text` in one line of printable characters, cut where it is longer than `length`.

    Examples
    --------
    >>> shorten("a" * 1000, 3)
    'aaa…'
    """
    line = printable(text[: 4 * length])
    if len(line) <= length and len(text) <= 4 * length:
        return line
    return f"{line[:length]}…"
