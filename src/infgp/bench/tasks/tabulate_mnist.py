"""Train the live task's network on its whole grid with every seed, and store how many digits it gets right.

``python -m infgp.bench.tasks.tabulate_mnist`` adds a line to a file of rows after every training, and packs the seeds
that are complete into ``src/infgp/bench/data/mnist_mlp.npz`` and says what they look like in
``results/tables/mnist_mlp.md``. Killed and started again, it goes on where it was;
``--seeds 0`` only packs. About half a second a training on one core: set ``OPENBLAS_NUM_THREADS=1``.
"""

from __future__ import annotations

import argparse
import time
from itertools import count, takewhile
from pathlib import Path

import numpy as np

from infgp.bench.tasks import rows
from infgp.bench.tasks.hpo import VALIDATE, mnist_grid, train

TABLE = Path(__file__).parents[1] / "data" / "mnist_mlp.npz"
ROWS = Path("results/tables/mnist_mlp.jsonl")


def known(path: Path) -> dict[tuple[int, int], int]:
    """Digits right so far, by row of the grid and seed."""
    return {(row["row"], row["seed"]): row["right"] for row in rows.read(path)}


def describe(table: Path) -> str:
    """What the stored accuracies look like: a line of Markdown."""
    with np.load(table) as stored:
        percent = 100.0 * stored["right"] / VALIDATE
    seeds, spread = percent.shape[1], float(np.median(percent.std(axis=1, ddof=1)))
    return (
        f"{seeds} seeds: best mean {percent.mean(axis=1).max():.1f} %, mean over configurations {percent.mean():.1f} "
        f"%, sd between seeds {spread:.1f} % (median over configurations), standard error of a mean "
        f"{spread / seeds**0.5:.1f} %.\n"
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Tabulate the live MNIST task.")
    parser.add_argument("--rows", type=Path, default=ROWS)
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--quick", action="store_true", help="three trainings")
    options = parser.parse_args(arguments)
    grid, done, start = mnist_grid(), known(options.rows), time.monotonic()
    missing = [(row, seed) for seed in range(options.seeds) for row in range(len(grid)) if (row, seed) not in done]
    for number, (row, seed) in enumerate(missing[:3] if options.quick else missing, start=1):
        done[row, seed] = train(grid[row], seed)
        rows.append(options.rows, {"row": row, "seed": seed, "right": done[row, seed]})
        if number % 100 == 0:
            print(f"{number} of {len(missing)} trainings in {time.monotonic() - start:.0f} s", flush=True)
    everything = range(len(grid))
    complete = list(takewhile(lambda seed: all((row, seed) in done for row in everything), count()))
    if complete:
        right = np.array([[done[row, seed] for seed in complete] for row in everything], dtype=np.int16)
        np.savez_compressed(options.table, right=right)
        if options.table == TABLE:
            ROWS.with_suffix(".md").write_text(describe(TABLE))
    print(f"{len(complete)} seeds are complete on {len(grid)} configurations")


if __name__ == "__main__":
    main()
