"""The pictures in docs/gallery.md: those of examples/plots.py.

python docs/make_gallery.py     # writes docs/gallery/*.png
"""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parent
#: Largest size of a picture, in bytes.
LARGEST = 80_000


def main() -> None:
    """Draw all pictures, and say how large they are."""
    folder = DOCS / "gallery"
    folder.mkdir(exist_ok=True)
    for file in runpy.run_path(str(DOCS.parent / "examples" / "plots.py"))["draw"](folder):
        size = file.stat().st_size
        if size > LARGEST:
            raise SystemExit(f"{file} has {size} bytes, more than {LARGEST}; lower its dpi.")
        print(f"{file.relative_to(DOCS.parent)}: {size} bytes")


if __name__ == "__main__":
    main()
