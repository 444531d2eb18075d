"""Search spaces written down in TOML, for ``infgp run``."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from typing import Any

from infgp.errors import InvalidInputError
from infgp.habits import nearest
from infgp.space import Choice, Float, Int, Parameter, Space

KINDS: dict[str, Callable[..., Parameter]] = {"float": Float, "int": Int, "choice": Choice}
#: Arguments of each kind of parameter: the required ones, then the optional ones.
ARGUMENTS = {
    "float": (("low", "high"), ("log", "step", "when")),
    "int": (("low", "high"), ("log", "step", "when")),
    "choice": (("options",), ("when",)),
}
EXAMPLE = 'rate = { type = "float", low = 1e-4, high = 1.0, log = true }'


def read_space(path: str | os.PathLike[str]) -> Space:
    """The space in a TOML file: a table for each parameter, with its type ("float", "int", "choice") and arguments.

    A condition is a table of other parameters' names and values: ``when = { kind = "a" }`` or
    ``when = { layers = [2, 3] }``.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "space.toml")
    ...     with open(file, "w") as f:
    ...         _ = f.write('rate = { type = "float", low = 1e-4, high = 1.0, log = true }')
    ...     read_space(file).parameters
    (Float(low=0.0001, high=1.0, log=True),)
    """
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            content = tomllib.loads(file.read().decode("utf-8-sig"))  # editors on Windows begin files with a mark
    except OSError as error:
        raise InvalidInputError(
            f"The space file {name} cannot be read ({error.strerror}); give a TOML file with lines such as {EXAMPLE}"
        ) from error
    except UnicodeDecodeError:
        raise InvalidInputError(
            f"The space file {name} is not written in UTF-8, as TOML is; save it anew with this encoding."
        ) from None
    except (ValueError, RecursionError) as error:  # also what is no text, too deep, or has numbers of 5 000 digits
        reason = str(error)[:200]
        raise InvalidInputError(f"The space file {name} is not TOML ({reason}); a line looks like {EXAMPLE}") from None
    try:
        return Space.of({key: _parameter(key, entry) for key, entry in content.items()})
    except InvalidInputError as error:
        raise InvalidInputError(f"The space file {name} cannot be used: {error}") from error


def _parameter(key: str, entry: Any) -> Parameter:
    kind = entry.get("type") if isinstance(entry, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        meant = nearest(kind, KINDS)
        guess = "" if meant is None else f" (did you mean {meant!r}?)"
        raise InvalidInputError(
            f"{key!r} needs a type among {', '.join(KINDS)}, but is {entry!r}{guess}; write e.g. {EXAMPLE}"
        )
    needed, others = ARGUMENTS[kind]
    given = {name: value for name, value in entry.items() if name != "type"}
    missing = [name for name in needed if name not in given]
    unknown = [name for name in given if name not in needed + others]
    if missing or unknown:
        faults = [
            f"{what} {', '.join(names)}" for what, names in (("lacks", missing), ("has unknown", unknown)) if names
        ]
        raise InvalidInputError(
            f"{key!r} {' and '.join(faults)}; a {kind} takes {', '.join(needed)} and perhaps {', '.join(others)}."
        )
    try:
        return KINDS[kind](**given)
    except InvalidInputError as error:
        raise InvalidInputError(f"{key!r}: {error}") from error
