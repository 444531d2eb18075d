"""Tabulate the trading simulator of the portfolio task.

``python -m infgp.bench.tasks.tabulate_portfolio`` runs cvxportfolio on a grid of strategies × random scenarios, adds a
line to a file of rows after every simulation, packs what is complete into ``src/infgp/bench/data/portfolio.npz`` and
certifies its optimum and writes what it looks like to ``results/tables/portfolio.md``.
Killed and started again, it goes on where it was; ``--level 2`` fills the finer grid around the rows that are there,
``--scenarios`` adds more scenarios. One simulation takes about a second on one core: set ``OPENBLAS_NUM_THREADS=1``.
``--quick`` tabulates two scenarios on the coarsest grid; ``--scenarios 0`` only packs the rows that are there.

A scenario is a window of 30 trading days of 2014, a bid–ask spread, a daily borrowing cost, and the errors of the
trader's forecasts. The market data (28 stocks) come with cvxportfolio, which is under the GPL and is needed by this
command only; the stored table holds nothing but simulated returns.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infgp.bench.tasks import certify, rows
from infgp.bench.tasks.portfolio import DAYS, HOLD, RISK, TRADE, lattice
from infgp.errors import require

TABLE = Path(__file__).parents[1] / "data" / "portfolio.npz"
ROWS = Path("results/tables/portfolio.jsonl")
#: Least number of trading days before a scenario, from which the covariance of returns is taken.
HISTORY = 60
#: Variance of the errors of the forecasts, in variances of the returns.
FORECAST_ERROR = 40.0
#: Largest leverage of a portfolio, in units of its value.
LEVERAGE = 3.0
#: Level of the finest grid of strategies.
FINEST = 2
Index = tuple[int, int, int]


@dataclass(frozen=True)
class Scenario:
    """What one evaluation draws at random."""

    start: int
    spread: float
    borrowing: float
    seed: int


def scenario(number: int) -> Scenario:
    """The scenario of that number, the same in every run of the command."""
    rng = np.random.default_rng([201, number])
    return Scenario(
        start=int(rng.integers(HISTORY, 251 - DAYS)),
        spread=float(10.0 ** rng.uniform(-4.0, -2.0)),
        borrowing=float(10.0 ** rng.uniform(-4.0, -3.0)),
        seed=int(rng.integers(2**32)),
    )


@cache
def market() -> dict[str, Any]:
    """Returns, volumes and volatilities of the stocks that come with cvxportfolio, a row a trading day."""
    pandas, package = require("pandas", "bench"), require("cvxportfolio", "bench")
    folder = Path(str(package.__file__)).parent / "tests"

    def read(name: str) -> Any:
        return pandas.read_csv(folder / f"{name}.csv", index_col=0, parse_dates=[0])

    returns = read("returns")
    return {
        "returns": returns,
        "volumes": read("volumes").loc[returns.index],
        "sigmas": read("sigmas").loc[returns.index],
    }


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings and the log of cvxportfolio and what it uses."""
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


@quiet()
def simulate(strategy: NDArray[np.float64], case: Scenario) -> tuple[float, float]:
    """Return over the window in per cent and mean daily turnover of a strategy (risk, trade, hold).

    The trader knows spread and borrowing cost, takes yesterday's volatilities and mean volumes of 20 days, the
    covariance of all returns before the window, and noisy forecasts of the day's returns, a (r + e) with
    var e = 40 var r and a = 1/41, which makes them right on average.
    """
    cvx, pandas = require("cvxportfolio", "bench"), require("pandas", "bench")
    returns, volumes, sigmas = market()["returns"], market()["volumes"], market()["sigmas"]
    window = slice(case.start, case.start + DAYS + 1)
    past, coming = returns.iloc[: case.start, :-1], returns.iloc[window, :-1]
    errors = np.random.default_rng(case.seed).standard_normal(coming.shape)
    forecast = (coming + np.sqrt(FORECAST_ERROR * past.to_numpy().var()) * errors) / (1.0 + FORECAST_ERROR)
    known = {"a": case.spread / 2.0, "b": 1.0, "sigma": sigmas.shift(1).iloc[window]}

    def borrowing() -> Any:
        return cvx.HoldingCost(short_fees=100.0 * 252.0 * case.borrowing)  # per cent a year

    simulator = cvx.MarketSimulator(
        market_data=cvx.UserProvidedMarketData(returns, volumes, cash_key="cash", min_history=pandas.Timedelta("5D")),
        costs=[cvx.TransactionCost(**known), borrowing()],
    )
    risk, trade, hold = (float(value) for value in strategy)
    mean_volumes = volumes.rolling(20).mean().shift(1).iloc[window]
    policy = cvx.SinglePeriodOptimization(
        cvx.ReturnsForecast(forecast)
        - risk * cvx.FullCovariance(past.cov())
        - trade * cvx.TransactionCost(**known, volume_hat=mean_volumes)
        - hold * borrowing(),
        [cvx.LeverageLimit(LEVERAGE)],
        solver="CLARABEL",
        fallback_solver=None,
    )
    result = simulator.backtest(policy, start_time=returns.index[case.start], end_time=coming.index[-1])
    return 100.0 * (float(result.v.iloc[-1] / result.v.iloc[0]) - 1.0), float(result.turnover.mean())


def grid(level: int) -> list[Index]:
    """Indices, in the finest grid, of the points of the grid of that level; each level contains the one before."""
    step = 2 ** (FINEST - level)
    risk, trade, hold = (range(0, len(values), step) for values in lattice(FINEST))
    return list(itertools.product(risk, trade, hold))


def known(path: Path) -> dict[tuple[int, Index], float]:
    """The returns simulated so far, by scenario and index."""
    return {(row["scenario"], tuple(row["at"])): row["percent"] for row in rows.read(path)}


def fill(done: dict[tuple[int, Index], float], scenarios: int, level: int) -> Iterator[tuple[int, Index, float]]:
    """Simulate what is missing, scenario by scenario.

    Where the strategy that is least averse to trading and holding never trades, none does: holding cash only is then
    the optimum whatever the aversions, because cost and risk of the first dollar only grow with them. The scenario's
    other rows are copies.
    """
    values = lattice(FINEST)
    for number in range(scenarios):
        case, wanted = scenario(number), [at for at in grid(level) if (number, at) not in done]
        idle: float | None = None
        if wanted:
            percent, turnover = simulate(np.array([RISK[0], TRADE[0], HOLD[0]]), case)
            idle = percent if turnover < 1e-5 else None
        for at in wanted:
            strategy = np.array([axis[i] for axis, i in zip(values, at, strict=True)])
            yield number, at, simulate(strategy, case)[0] if idle is None else idle


def pack(done: dict[tuple[int, Index], float], table: Path, level: int) -> str:
    """Store the scenarios that are complete on the grid of that level."""
    points, numbers = grid(level), sorted({number for number, _ in done})
    complete = [number for number in numbers if all((number, at) in done for at in points)]
    if not complete:
        return f"no scenario is complete at level {level}, nothing stored"
    shape = (len(complete), *(len(axis) for axis in lattice(level)))
    percent = np.array([[done[number, at] for at in points] for number in complete], dtype=np.float32)
    np.savez_compressed(table, percent=percent.reshape(shape), scenarios=np.array(complete, dtype=np.int32))
    return f"{shape[0]} scenarios on a grid of {shape[1:]} in {table}"


def describe(table: Path) -> str:
    """What the stored returns look like: a table in Markdown."""
    from scipy.stats import kurtosis, skew

    with np.load(table) as stored:
        percent = stored["percent"].astype(np.float64)
    flat = percent.reshape(len(percent), -1)
    best = flat[:, np.argmax(flat.mean(axis=0))]
    idle = int(np.sum(np.ptp(flat, axis=1) < 1e-3))

    def row(what: str, figure: Callable[[NDArray[np.float64]], Any]) -> str:
        return f"| {what} | {np.median(figure(flat)):.1f} | {float(figure(best)):.1f} |"

    return "\n".join(
        (
            f"{len(flat)} scenarios, {flat.shape[1]} strategies; in {idle} scenarios nobody trades.",
            f"Excess kurtosis of all returns together: {kurtosis(flat.ravel()):.1f}.",
            "",
            "| over scenarios | median strategy | strategy with the best mean |",
            "|---|---|---|",
            row("mean, per cent", partial(np.mean, axis=0)),
            row("median, per cent", partial(np.median, axis=0)),
            row("sd, per cent", partial(np.std, axis=0)),
            row("skewness", skew),
            row("excess kurtosis", kurtosis),
            "",
        )
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Tabulate the trading simulator of the portfolio task.")
    parser.add_argument("--scenarios", type=int, default=64)
    parser.add_argument("--level", type=int, choices=range(FINEST + 1), default=1, help="2 is the finest grid")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop simulating after so long")
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--quick", action="store_true", help="two scenarios on the coarsest grid, stored elsewhere")
    options = parser.parse_args(arguments)
    scenarios, level = (2, 0) if options.quick else (options.scenarios, options.level)
    path = options.rows or (ROWS.with_stem("portfolio-quick") if options.quick else ROWS)
    table = options.table or (path.with_suffix(".npz") if options.quick else TABLE)
    done, start = known(path), time.monotonic()
    for count, (number, at, percent) in enumerate(fill(done, scenarios, level), start=1):
        done[number, at] = percent
        rows.append(path, {"scenario": number, "at": at, "percent": percent})
        seconds = time.monotonic() - start
        if count % 25 == 0:
            print(f"scenario {number}, {count} simulations in {seconds:.0f} s", flush=True)
        if seconds > 60.0 * options.minutes:
            break
    print(pack(done, table, level))
    if table == TABLE:
        certify.main(["portfolio"])
        ROWS.with_suffix(".md").write_text(describe(table))


if __name__ == "__main__":
    main()
