"""A back-test with crashes: how much should be borrowed? python examples/tutorial_backtest.py

Needs the extra `bench`: the daily returns of 28 stocks in 2014 are those that cvxportfolio brings along.
"""

# --8<-- [start:data]
import importlib.util
from pathlib import Path

import numpy as np

import infgp

#: Trading days of one back-test.
DAYS = 40
#: What a day of borrowing costs, as a share of what is borrowed.
INTEREST = 0.05 / 250
#: The broker sells everything if less than this share of the position is the trader's own.
MARGIN = 0.15
#: Strategies that one search may try.
STRATEGIES = 30
#: Back-tests of each strategy, in windows of their own.
WINDOWS = 5


def daily_returns() -> np.ndarray:
    """Returns of 28 stocks on the trading days of 2014, shape (days, stocks)."""
    package = importlib.util.find_spec("cvxportfolio")
    if package is None or not package.submodule_search_locations:
        raise SystemExit("The returns come with cvxportfolio: pip install 'infgp[bench]' -c constraints.txt")
    table = np.genfromtxt(
        Path(package.submodule_search_locations[0]) / "tests" / "returns.csv", delimiter=",", skip_header=1
    )
    return table[:, 1:-1]  # the first column is the date, the last one cash


# --8<-- [end:data]
returns = daily_returns()
returns = returns[:, np.isfinite(returns).all(axis=0)]
SPACE = {"borrowing": infgp.Float(0.0, 6.0), "stocks": infgp.Int(1, 12)}


# --8<-- [start:backtest]
def backtest(rng: np.random.Generator, borrowing: float, stocks: int) -> float:
    """Gain in per cent over forty days from a random day on, of a few stocks bought with borrowed money."""
    start = int(rng.integers(len(returns) - DAYS))
    chosen = rng.choice(returns.shape[1], stocks, replace=False)
    own, position = 1.0, 1.0 + borrowing
    for day in returns[start : start + DAYS, chosen].mean(axis=1):
        own += position * day - borrowing * INTEREST
        position *= 1.0 + day
        if own < MARGIN * position:  # a margin call: sold at a bad price, and what is left is gone
            return -100.0
    return 100.0 * (own - 1.0)


# --8<-- [end:backtest]


# --8<-- [start:search]
def search(objective: str | tuple[str, float]) -> infgp.Recommendation:
    """The strategy that is best by an objective. Every back-test is told by itself."""
    rng, optimizer = np.random.default_rng(0), infgp.Optimizer(SPACE, seed=0, objective=objective)
    for _ in range(STRATEGIES):
        point = optimizer.ask()
        for _ in range(WINDOWS):
            optimizer.tell(point, backtest(rng, **point))
    return optimizer.recommend()


# --8<-- [end:search]


if __name__ == "__main__":
    # --8<-- [start:compare]
    rng = np.random.default_rng(1)
    print("objective             borrowing  stocks |  in 4000 other back-tests: mean  worst tenth  ruined")
    for objective in ("mean", "median", ("cvar", 0.1)):
        point = search(objective).point
        gains = np.sort([backtest(rng, **point) for _ in range(4000)])
        name = objective if isinstance(objective, str) else "mean of worst tenth"
        print(
            f"{name:20s}  {point['borrowing']:9.2f}  {point['stocks']:6d} |"
            f"  {gains.mean():29.1f}  {gains[:400].mean():11.1f}  {np.mean(gains == -100.0):6.1%}"
        )
    # --8<-- [end:compare]
