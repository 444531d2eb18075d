"""``python -m infgp`` is the command ``infgp``, also where its script is not on the path."""

import sys

from infgp.app.cli import main

if __name__ == "__main__":
    sys.exit(main())
