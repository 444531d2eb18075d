"""Build the wheel and the sdist, install each into an empty environment, and use it as a newcomer would.

    python -m tests.release                                  # with the Python that runs it
    python -m tests.release --pythons python3.12,python3.13  # the wheel with others, too
    python -m tests.release --write                          # keep what was measured in results/release/check.json

Needs the packages build and twine. Seconds are of CPU time, so that what else the machine does hardly counts.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "results" / "release" / "check.json"
#: Bytes of a megabyte.
MEGABYTE = 1e6


def run(command: list[str | Path], folder: Path) -> tuple[str, float]:
    """What a command prints, and its CPU seconds. Its environment has nothing of this checkout."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    begin = _cpu()
    done = subprocess.run(command, cwd=folder, env={**kept, "MPLBACKEND": "Agg"}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout, _cpu() - begin


def _cpu() -> float:
    """CPU seconds of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def megabytes(folder: Path) -> float:
    """Size of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) / MEGABYTE


def installed(python: str, package: Path, extra: str = "") -> dict[str, object]:
    """Install a package into an empty environment, run the demo twice and the README's first example."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run([python, "-m", "venv", "env"], folder)
        binaries, empty = folder / "env" / "bin", megabytes(folder / "env")
        _, install = run([binaries / "pip", "install", "-q", f"{package}{extra}"], folder)
        size = megabytes(folder / "env") - empty
        version, _ = run([binaries / "infgp", "--version"], folder)
        _, first = run([binaries / "infgp", "demo"], folder)
        _, second = run([binaries / "infgp", "demo"], folder)
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        (folder / "example.py").write_text(re.findall(r"```python\n(.*?)```", readme, re.DOTALL)[0], encoding="utf-8")
        printed, _ = run([binaries / "python", "example.py"], folder)
        assert printed.startswith("recommended: "), printed
        drawn = (folder / "infgp-demo.png").exists()
        assert drawn == bool(extra), "the picture needs the extra plot, and nothing else does"
        interpreter, _ = run([binaries / "python", "-c", "import platform; print(platform.python_version())"], folder)
    return {
        "package": package.suffix.lstrip("."),
        "extra": extra,
        "python": interpreter.strip(),
        "version": version.strip(),
        "installed_megabytes": round(size),
        "install_cpu_seconds": round(install),
        "first_demo_cpu_seconds": round(first),
        "second_demo_cpu_seconds": round(second),
    }


def main() -> None:
    """Build, check, install, use."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pythons", default=sys.executable)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        run([sys.executable, "-m", "build", "--outdir", name, str(ROOT)], Path(name))
        wheel, sdist = next(Path(name).glob("*.whl")), next(Path(name).glob("*.tar.gz"))
        run([sys.executable, "-m", "twine", "check", "--strict", wheel, sdist], Path(name))
        print(f"wheel {megabytes_of(wheel):.1f} MB, sdist {megabytes_of(sdist):.1f} MB")
        records = [installed(options.pythons.split(",")[0], wheel)]
        print(records[-1], flush=True)
        records.append(installed(options.pythons.split(",")[0], sdist))
        print(records[-1], flush=True)
        for python in options.pythons.split(","):
            records.append(installed(python, wheel, "[plot]"))
            print(records[-1], flush=True)
    if options.write:
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


def megabytes_of(file: Path) -> float:
    """Size of one file."""
    return file.stat().st_size / MEGABYTE


if __name__ == "__main__":
    main()
