"""A hunt that is guided by which lines a text reaches: saved optimizers, space files and storage URLs.

    python -m tests.fuzz.coverage files|spaces|urls [--seconds 60] [--record]     # needs the extra "fuzz" (atheris)

What it has found interesting is kept in .fuzz/NAME, so that the next run goes on from there. A text that fails is
written to .fuzz/NAME-crash-….
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import atheris

import infgp.predict.mixture
import infgp.sample.chain  # before the others: compiled code cannot be watched

with atheris.instrument_imports(include=["infgp"]):
    import infgp.app.spacefile
    import infgp.app.storage
    import infgp.search.optimizer

from tests.fuzz import files, texts
from tests.fuzz.record import RECORD, read, tally_of, write

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


def recorded(name: str, seconds: int) -> int:
    """Hunt in a process of its own, which atheris ends, and add what was tried to the record; returns its exit code."""
    command = [sys.executable, "-m", "tests.fuzz.coverage", name, "--seconds", str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    stats = dict(re.findall(r"stat::(\w+):\s+(\d+)", done.stderr))
    kind = f"{name}, guided"
    tally = tally_of(read(), kind)
    tally.cases += int(stats["number_of_executed_units"])
    tally.seconds += seconds
    tally.longest = max(tally.longest, float(stats["slowest_unit_time_sec"]))
    if done.returncode:
        tally.findings.append(next(line for line in done.stderr.splitlines() if "ERROR" in line))
    write({kind: tally})
    print(f"{tally.cases} {kind}, {len(tally.findings)} findings")
    return done.returncode


def main() -> None:
    """The command; atheris ends the process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--record", action="store_true", help=f"add what was tried to {RECORD}")
    given = parser.parse_args()
    if given.record:
        raise SystemExit(recorded(given.name, given.seconds))
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
