"""`infgp run`, stopped and continued, and what can be asked of its study: python examples/command_line.py

Everything happens in a temporary folder. Needs the extra `cli`.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

TRAIN = """
import random


def loss(rate, layers):
    wrong = 50.0 if random.random() < 0.1 else 0.0
    return abs(rate - 0.01) * 10.0 + 0.1 * abs(layers - 3) + random.gauss(0.0, 0.02) + wrong
"""
SPACE = """
rate = { type = "float", low = 1e-4, high = 1.0, log = true }
layers = { type = "int", low = 1, high = 6 }
"""


def infgp(folder: Path, *arguments: str) -> None:
    """Give a command in a folder, and show it with what it prints."""
    print("$ infgp", " ".join(arguments), flush=True)
    done = subprocess.run([sys.executable, "-m", "infgp", *arguments], cwd=folder, capture_output=True, text=True)
    print(done.stdout + done.stderr)
    done.check_returncode()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "train.py").write_text(TRAIN)
        (folder / "space.toml").write_text(SPACE)
        run = ["run", "train:loss", "--space", "space.toml", "--minimize", "--seed", "0"]
        infgp(folder, *run, "--trials", "12")
        infgp(folder, *run, "--trials", "20", "--jobs", "2")  # goes on: eight more
        infgp(folder, "recommend", "infgp.db")
        infgp(folder, "explain", "infgp.db", "0")
