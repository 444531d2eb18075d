"""Text of others, made fit to be shown and stored."""

from __future__ import annotations

#: Characters of a message that are shown and stored.
LONGEST = 300


def printable(text: str) -> str:
    r"""`text` in one line; characters that would move the cursor, or change colours, are spelt out.

    Examples
    --------
    >>> printable("two\nlines, and a bell: \a")
    'two lines, and a bell: \\x07'
    """
    line = " ".join(text.split())
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in line)


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
