"""Space files and storage URLs with random changes: they are refused in a sentence, and no password is shown."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import infgp
from infgp.app.spacefile import read_space
from infgp.app.storage import Plan, hide_password, name_of, reason
from tests.fuzz.draws import Wrong

#: What a storage URL's password is made of, so that it is noticed wherever it shows up.
PASSWORD = "S3cret"
SPACE = """
a = { type = "float", low = 0.0, high = 1.0 }
b = { type = "int", low = 1, high = 9, log = true }
[c]
type = "choice"
options = ["x", "y", 3]
[d]
type = "float"
low = 0.0
high = 1.0
step = 0.25
when = { c = ["x", 3], b = 2 }
"""
URLS = [
    f"postgresql+psycopg://ann:{PASSWORD}@db:5432/studies?sslmode=require",
    f"mysql+pymysql://ann:{PASSWORD}@[::1]/studies",
    f"host=db user=ann password='{PASSWORD}' dbname=x",
    f"ann:{PASSWORD}@db/studies",
    f"sqlite:///study.db?password={PASSWORD}",
    f"postgresql://db/x?user=ann&password={PASSWORD}",
]
#: What is put into a text.
PIECES = [
    *"@:/?#%=&'\"[]{}\\\n\0 +;,.-",
    "%40",
    "://",
    "9" * 5000,
    "1e999",
    "nan",
    "true",
    "[" * 3000,
    "\x1b",
    "é",
    "\ud800",
]


def edits(rng: np.random.Generator) -> list[list[Any]]:
    """Random edits of a text: where, how many characters go, what comes."""
    return [
        [float(rng.random()), int(rng.integers(4)), PIECES[rng.integers(len(PIECES))] if rng.random() < 0.8 else ""]
        for _ in range(rng.integers(1, 5))
    ]


def edited(text: str, steps: list[list[Any]]) -> str:
    """The text after its edits."""
    for where, gone, piece in steps:
        k = int(where * len(text))
        text = text[:k] + piece + text[k + gone :]
    return text


def make(rng: np.random.Generator) -> dict[str, Any]:
    """A space file or a URL: its steps are edits."""
    return {"which": int(rng.integers(len(URLS) + 4)), "steps": edits(rng)}


def play(case: dict[str, Any]) -> None:
    """Read it."""
    if case["which"] < len(URLS):
        url(URLS[case["which"]], case["steps"])
    else:
        read(edited(SPACE, case["steps"]).encode(errors="surrogatepass"))


def read(content: bytes) -> None:
    """Read a space file; whatever is accepted can be searched."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "space.toml")
        path.write_bytes(content)
        with contextlib.suppress(infgp.InvalidInputError):
            space = read_space(path)
            space.validate(infgp.Optimizer(space, seed=0).ask())


def url(text: str, steps: list[list[Any]]) -> None:
    """Name a storage in a message, edits having been made anywhere but within the password."""
    before, _, after = text.partition(PASSWORD)
    for where, gone, piece in steps:
        k = int(where * (len(before) + len(after) + 1))
        if k <= len(before):
            before = before[:k] + piece + before[min(k + gone, len(before)) :]
        else:
            k -= len(before)
            after = after[:k] + piece + after[k + gone :]
    if not (before.startswith("sqlite") and "=" not in before):  # the word has become a part of a file's name
        shown(before + PASSWORD + after)


def shown(url: str) -> None:
    """Raise if a message about a storage shows the password in its URL; a file's name is no secret."""
    messages = [name_of(url), repr(Plan("f:f", "space.toml", 1, storage=url)), reason(url, ValueError(f"no {url}"))]
    messages.append(hide_password(url, f"cannot reach {url}"))
    for message in messages:
        if PASSWORD in message:
            raise Wrong(f"{message!r} shows the password of {url!r}")
