"""The command of the hunt.

    python -m tests.fuzz [--minutes 1] [--seed 0] [--kinds histories,fits] [--jobs 2]   # prints what it tried and found
    python -m tests.fuzz --kinds histories --only 17                                    # one case again, by its number
    python -m tests.fuzz --kinds fits --cases 5000 --record                             # goes on where the record stops
    python -m tests.fuzz --table                                                        # the record, for the docs

A case is made from its number alone. One that fails is made smaller and written to tests/fuzz/kept, where
tests/test_fuzz.py finds it.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path

from tests.fuzz.hunt import KINDS, alone, as_text, case_of, hunt, orders_of, smaller
from tests.fuzz.record import RECORD, Tally, read, table, tally_of, write

#: Where the cases that once failed are kept.
KEPT = Path(__file__).with_name("kept")
#: Seconds between two times that the record is written.
EVERY = 20.0


def keep(kind: str, number: int, found: str) -> str:
    """Make a case that fails smaller and keep it; returns what to print."""
    case = smaller(kind, case_of(kind, number), found)
    KEPT.mkdir(exist_ok=True)
    path = KEPT / f"{kind}-{number}.json"
    path.write_text(as_text({"kind": kind, "case": case}) + "\n")
    return f"{kind} {number}: {found}\n    kept in {path}; again: python -m tests.fuzz --kinds {kind} --only {number}"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=int, help="of each kind")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=list(KINDS))
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--only", type=int, help="one case, by its number")
    parser.add_argument("--record", action="store_true", help=f"add to {RECORD}, and go on where it stops")
    parser.add_argument("--table", action="store_true", help="print the record and leave")
    given = parser.parse_args()
    if given.table:
        print(table(read()))
        return 0
    if given.only is not None:
        found = [f"{kind}: {alone(kind, case_of(kind, given.only))}" for kind in given.kinds]
        print(*found, sep="\n")
        return 0
    tallies = {kind: tally_of(read(), kind) if given.record else Tally() for kind in given.kinds}
    orders = (
        order
        for order in orders_of(given.kinds, given.seed, given.cases)
        if order[1] - given.seed >= tallies[order[0]].cases or not given.record
    )
    written, before = time.monotonic(), {kind: len(tally.findings) for kind, tally in tallies.items()}
    for kind, number, seconds, found in hunt(orders, given.jobs, given.minutes):
        tally = tallies[kind]
        tally.cases, tally.seconds = tally.cases + 1, tally.seconds + seconds
        if seconds > tally.longest:
            tally.longest, tally.slowest = seconds, number
        if found is not None:
            tally.findings.append(f"{number}: {found}")
            print(keep(kind, number, found), flush=True)
        if given.record and time.monotonic() - written > EVERY:
            write(tallies)
            written = time.monotonic()
    if given.record:
        write(tallies)
    for kind, tally in tallies.items():
        print(f"{tally.cases} {kind}, longest {tally.longest:.1f} s ({tally.slowest}), {len(tally.findings)} findings")
    return int(any(len(tally.findings) > before[kind] for kind, tally in tallies.items()))


if __name__ == "__main__":
    sys.exit(main())
