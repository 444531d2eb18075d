"""What the first search and the tutorials print, as docs/outputs/NAME.txt: python docs/make_outputs.py [NAME …]

The pages show the files. All tutorials take about three minutes on one core.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
EXAMPLES = DOCS.parent / "examples"


def main() -> None:
    """Run each script, and keep what it prints to standard output."""
    names = sys.argv[1:] or ["start", *sorted(path.stem for path in EXAMPLES.glob("tutorial_*.py"))]
    (DOCS / "outputs").mkdir(exist_ok=True)
    for name in names:
        done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, check=True)
        (DOCS / "outputs" / f"{name}.txt").write_text(done.stdout, encoding="utf-8")
        print(f"--- {name}\n{done.stdout}")


if __name__ == "__main__":
    main()
