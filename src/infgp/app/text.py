"""Text of others, made fit to be shown and stored."""

from __future__ import annotations

#: Characters of a message that are shown and stored.
LONGEST = 300


def shorten(text: str, length: int = LONGEST) -> str:
    r"""`text` in one line of printable characters, cut where it is longer than `length`.

    Examples
    --------
    >>> shorten("two\nlines, and a bell: \a")
    'two lines, and a bell: \\x07'
    >>> shorten("a" * 1000, 3)
    'aaa…'
    """
    line = " ".join(text[: 4 * length].split())
    line = "".join(character if character.isprintable() else repr(character)[1:-1] for character in line)
    if len(line) <= length and len(text) <= 4 * length:
        return line
    return f"{line[:length]}…"
