"""How the command line reads its arguments: errors that repeat none of them, and hints for habits of other tools."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

#: What to do about options of other tools.
OPTIONS = {
    "--budget": "--trials is their number",
    "--direction": "--minimize finds the least value, and the largest is the default",
    "--maximize": "maximizing is the default, and no option",
    "--n-jobs": "--jobs is meant",
    "--n-trials": "--trials is meant",
    "--workers": "--jobs is meant",
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors repeat no argument: what was put in the wrong place may be a password."""

    _given: Sequence[str] = ()

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def] # noqa: D102
        self._given = list(sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and exit."""
        if message.startswith("unrecognized arguments"):
            message = f"some arguments are not known{self._guess()}"
        if message.startswith("the following arguments are required"):
            message += self._guess()
        parts = {part for text in self._given for part in (text, text.partition("=")[2], text[2:])}
        for part in sorted(parts - {"", *self._options()}, key=len, reverse=True):
            message = re.sub(rf"(?<![\w-]){re.escape(part)}(?![\w-])", "…", message)
        super().error(f"{message}; see {self.prog} --help")

    def _options(self) -> list[str]:
        """Names of all options and commands, those of commands included."""
        names = [name for name in self._option_string_actions if name.startswith("--")]
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                names += [*action.choices, *(name for parser in action.choices.values() for name in parser._options())]
        return names

    def _guess(self) -> str:
        """What to do about unknown options: a habit, or known options that were perhaps meant."""
        known = [name for name in self._options() if name.startswith("--")]
        given = [text.partition("=")[0] for text in self._given if text.startswith("--")]
        unknown = [name for name in given if not any(option.startswith(name) for option in known)]
        habit = next((OPTIONS[name] for name in unknown if name in OPTIONS), None)
        if habit is not None:
            return f" ({habit})"
        meant = {found for name in unknown for found in difflib.get_close_matches(name, known, 1)}
        return f" (perhaps {' and '.join(sorted(meant))} was meant)" if meant else ""
