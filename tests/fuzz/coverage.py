"""A hunt that is guided by which lines a text reaches: saved optimizers, space files and storage URLs.

    python -m tests.fuzz.coverage files|spaces|urls [--seconds 60]     # needs the extra "fuzz" (atheris)

What it has found interesting is kept in .fuzz/NAME, so that the next run goes on from there. A text that fails is
written to .fuzz/NAME-crash-….
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path

import atheris

with warnings.catch_warnings(), atheris.instrument_imports(include=["infgp"], exclude=["infgp.core", "infgp.sample"]):
    import infgp  # but for compiled code
    import infgp.app.spacefile
    import infgp.app.storage

from tests.fuzz import files, texts

#: Where texts are kept.
FOLDER = Path(".fuzz")
#: Seconds after which a text counts as one that hangs.
LONGEST = 30


def saved(text: bytes) -> None:
    """Load an optimizer and go on with it."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return  # `Optimizer.load` refuses it, as tests/fuzz/files.py tries
    try:
        optimizer = infgp.Optimizer.from_json(content)
    except infgp.InvalidInputError:
        return
    files.go_on(optimizer)


def url(text: bytes) -> None:
    """Name a storage; a line break marks the password, after an equals sign or, unless in a file's name, a colon."""
    parts = text.decode(errors="replace").split("\n")
    if len(parts) == 2 and parts[0].endswith("=" if parts[0].startswith("sqlite") else (":", "=")):
        texts.shown(f"{parts[0]}{texts.PASSWORD}{parts[1]}")


def seeds(name: str) -> list[bytes]:
    """Texts to begin with."""
    if name == "files":
        return [template.encode() for template in files.templates()]
    if name == "spaces":
        return [texts.SPACE.encode()]
    return [text.replace(texts.PASSWORD, "\n").encode() for text in texts.URLS]


TARGETS = {"files": saved, "spaces": texts.read, "urls": url}


def main() -> None:
    """The command; atheris ends the process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60)
    given = parser.parse_args()
    corpus = FOLDER / given.name
    corpus.mkdir(parents=True, exist_ok=True)
    for k, text in enumerate(seeds(given.name)):
        (corpus / f"seed{k}").write_bytes(text)
    options = [f"-max_total_time={given.seconds}", f"-timeout={LONGEST}", "-max_len=20000", "-print_final_stats=1"]
    prefix = f"-artifact_prefix={FOLDER / given.name}-"
    atheris.Setup([sys.argv[0], str(corpus), prefix, *options], TARGETS[given.name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
