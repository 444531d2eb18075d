"""The hunt for hangs, crashes, raw errors, invalid points and hidden fallbacks: random histories, fits and files.

    python -m tests.fuzz [--minutes 1] [--seed 0] [--kinds histories,fits,files]    # prints what it tried and found
    python -m tests.fuzz --kinds histories --only 17                                # one case again, by its seed

A case is made from its seed alone. One that fails is printed with the command that makes it again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import infgp
from infgp.core.priors import Priors

#: Seconds after which a case counts as one that hangs.
LONGEST = 30
#: Rewards are spread over this many decades, half of them below 1.
DECADES = 600


class Wrong(Exception):  # noqa: N818 - a finding, not an error of the fuzzer
    """Something that must not happen."""


def parameter(rng: np.random.Generator) -> Any:
    """A random parameter."""
    kind = rng.integers(5)
    if kind == 0:
        return infgp.Choice([["a", "b"], [True, 0, 2.5], list("abcde"), [None, "[/x]"]][rng.integers(4)])
    if kind == 1:
        return infgp.Int(int(rng.integers(-5, 1)), int(rng.integers(2, 1000)))
    if kind == 2:
        return infgp.Float(10.0 ** -float(rng.integers(1, 300)), 10.0 ** float(rng.integers(1, 300)), log=True)
    if kind == 3:
        return infgp.Int(1, int(rng.integers(2, 9)), log=True)
    return infgp.Float(-float(rng.random()), 10.0 ** float(rng.integers(-3, 4)))


def reward(rng: np.random.Generator) -> float | None:
    """A random reward: ordinary, over hundreds of decades, repeated, or failed."""
    kind = rng.integers(8)
    if kind == 0:
        return [None, float("nan"), float("inf"), -float("inf")][rng.integers(4)]
    if kind == 1:
        return float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-DECADES / 2, DECADES / 2))
    if kind == 2:
        return float(rng.integers(2))
    if kind == 3:
        return 0.1 + 0.2
    return float(rng.standard_t(1.5))


def options(rng: np.random.Generator) -> dict[str, Any]:
    """Random options of an optimizer."""
    chosen: dict[str, Any] = {
        "target": ["expected", "main", "mean"][rng.integers(3)],
        "acquisition": ["logei", "logei", "thompson", "local"][rng.integers(4)],
        "kernel": ["se", "matern52"][rng.integers(2)],
        "surfaces": [None, None, 1][rng.integers(3)],
        "regions": bool(rng.random() < 0.7),
        "surface_scales": ["own", "own", "shared"][rng.integers(3)],
        "exploration": [0.0, "paper"][rng.integers(2)],
        "priors": [None, None, Priors()][rng.integers(3)],
        "gradients": bool(rng.random() < 0.1),
        "n_initial": int(rng.integers(1, 8)),
    }
    if rng.random() < 0.2:
        chosen["direction"] = ["maximize", "minimize"][: 1 + int(rng.integers(2))]
    return chosen


def history(seed: int) -> None:
    """A random use of an optimizer."""
    rng = np.random.default_rng([1, seed])
    space = {f"p{k}": parameter(rng) for k in range(rng.integers(1, 6))}
    chosen = options(rng)
    optimizer = infgp.Optimizer(space, seed=int(rng.integers(2**31)), **chosen)
    count, limits = len(optimizer.directions), [[], ["a"], ["a", "b"]][rng.choice(3, p=[0.8, 0.1, 0.1])]
    for _ in range(rng.integers(5, 40)):
        step = rng.integers(12)
        if step < 7 or not optimizer.pending:
            for point in optimizer.ask(int(rng.integers(1, 4))):
                if optimizer.space.validate(point) != point:
                    raise Wrong(f"invalid point {point}")
        if step < 8 and optimizer.pending:
            point = optimizer.pending[rng.integers(len(optimizer.pending))]
            values = [reward(rng) for _ in range(count)]
            value = None if None in values else values[0] if count == 1 else values
            constraints = {name: reward(rng) or 0.0 for name in limits}
            sound = all(np.isfinite(v) or np.isinf(v) for v in constraints.values())
            noise = float(rng.random()) if count == 1 and rng.random() < 0.05 else None
            optimizer.tell(point, value, noise, constraints if sound else None)
        elif step == 8 and optimizer.pending:
            optimizer.withdraw(optimizer.pending[-1])
        elif step == 9:
            again = infgp.Optimizer.from_json(json.loads(json.dumps(optimizer.to_json(), allow_nan=False)))
            if again.ask() != (mine := optimizer.ask()):
                raise Wrong("another point after save and load")
            optimizer.withdraw(mine)
        elif step == 10 and optimizer.counts[1]:
            with_law(optimizer, count)
    if optimizer.counts[1]:
        with_law(optimizer, count)
    if optimizer.fallbacks:
        raise Wrong(f"{optimizer.fallbacks} hidden fallbacks")


def with_law(optimizer: infgp.Optimizer, count: int) -> None:
    """Recommend and predict."""
    if count > 1:
        found = optimizer.tradeoffs()
        numbers = [v for t in found for v in (*t.means, *t.stds)]
    else:
        best = optimizer.recommend()
        optimizer.space.validate(best.point)
        numbers = [best.mean, best.std, *best.quantiles.values(), best.feasibility]
    mean, std = optimizer.predict([optimizer.observations[-1].point])
    numbers += [*np.ravel(mean), *np.ravel(std)]
    if not np.isfinite(numbers).all():
        raise Wrong(f"not finite: {numbers}")


def fit(seed: int) -> None:
    """A fit to degenerate data."""
    rng = np.random.default_rng([2, seed])
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 4))
    x = rng.random((n, d)) * 10.0 ** rng.integers(-100, 100)
    if rng.random() < 0.3:
        x[:, rng.integers(d)] = 0.5
    if rng.random() < 0.3:
        x[rng.integers(n, size=n // 2)] = x[0]
    y = rng.normal(size=n) if rng.random() < 0.7 else np.full(n, 0.1 + 0.2)
    for _ in range(rng.integers(3)):
        y[rng.integers(n)] = 10.0 ** rng.uniform(-50, 50)
    noise = rng.random(n) * 10.0 ** rng.integers(-20, 20) if rng.random() < 0.3 else None
    model = infgp.InfiniteGP(
        kernel=["se", "matern52"][rng.integers(2)],
        ard=bool(rng.integers(2)),
        surfaces=[None, None, 1][rng.integers(3)],
        regions=bool(rng.integers(2)),
        surface_scales=["own", "shared"][rng.integers(2)],
        sampler="truncated" if noise is None and rng.random() < 0.2 else "collapsed",
        n_warmup=20,
        n_samples=5,
        random_state=seed,
    )
    model.fit(x, y, noise_variance=noise)
    parts = [*model.predict(x[:3], return_std=True), model.predict_quantiles(x[:3], [0.05, 0.95])]
    parts += [*model.predict_main(x[:3], return_std=True), model.sample_y(x[:3], 2)]
    parts.append(model.predict_density(x[:3], y[:3]))
    if not all(np.isfinite(part).all() for part in parts):
        raise Wrong(f"not finite: {parts}")


def damage(rng: np.random.Generator, content: Any) -> Any:
    """The content with one random part changed."""
    odd = [None, -1, 1e308, 10**30, float("nan"), "x", [], {}, True, [[]], 0, "9" * 400]
    if isinstance(content, dict) and content and rng.random() < 0.95:
        key = list(content)[rng.integers(len(content))]
        if rng.random() < 0.05:
            return {k: v for k, v in content.items() if k != key}
        return {**content, key: damage(rng, content[key])}
    if isinstance(content, list) and content and rng.random() < 0.95:
        k = int(rng.integers(len(content)))
        return [*content[:k], damage(rng, content[k]), *content[k + 1 :]]
    return odd[rng.integers(len(odd))]


def saved(seed: int) -> None:
    """A saved file that somebody has changed: it is refused in a sentence, or it works."""
    rng = np.random.default_rng([3, seed])
    content = damage(rng, json.loads(TEMPLATE))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.json")
        text = json.dumps(content)
        path.write_text(text[: rng.integers(len(text))] if rng.random() < 0.1 else text)
        try:
            optimizer = infgp.Optimizer.load(path)
        except infgp.InvalidInputError:
            return
    optimizer.space.validate(optimizer.ask())
    if optimizer.counts[1] and len(optimizer.directions) == 1:
        optimizer.recommend()


def template() -> str:
    """A saved optimizer."""
    optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0), "c": infgp.Choice(["a", "b"])}, seed=0, n_initial=3)
    for k in range(8):
        point = optimizer.ask()
        optimizer.tell(point, -((point["x"] - 0.3) ** 2) + 5.0 * (k == 5), constraints=[point["x"] - 0.8])
    optimizer.ask()
    return json.dumps(optimizer.to_json())


TEMPLATE = ""
KINDS = {"histories": history, "fits": fit, "files": saved}


def alarm(*_: object) -> None:
    """A case that takes too long."""
    raise Wrong(f"still running after {LONGEST} seconds")


def attempt(kind: str, case: int) -> str | None:
    """What is wrong with a case, if anything."""
    signal.alarm(LONGEST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", infgp.ConvergenceWarning)
            KINDS[kind](case)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{kind} {case}: {type(error).__name__}: {str(error)[:200]} ({where.filename}:{where.lineno})"
    finally:
        signal.alarm(0)
    return None


def hunt(kinds: list[str], cases: Iterable[int], minutes: float = math.inf) -> list[str]:
    """Try cases in turn until they or the time are over; returns what was found."""
    global TEMPLATE
    TEMPLATE = TEMPLATE or template()
    before = signal.signal(signal.SIGALRM, alarm)
    end, tried, findings = time.monotonic() + 60.0 * minutes, dict.fromkeys(kinds, 0), []
    try:
        for case in itertools.takewhile(lambda _: time.monotonic() < end, cases):
            for kind in kinds:
                tried[kind] += 1
                if (found := attempt(kind, case)) is not None:
                    findings.append(f"{found}; again with: python -m tests.fuzz --kinds {kind} --only {case}")
                    print(findings[-1], flush=True)
    finally:
        signal.signal(signal.SIGALRM, before)
    print(", ".join(f"{count} {kind}" for kind, count in tried.items()), f"tried: {len(findings)} findings")
    return findings


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=list(KINDS))
    parser.add_argument("--only", type=int, help="one case, by its seed")
    given = parser.parse_args()
    cases = itertools.count(given.seed) if given.only is None else [given.only]
    return 1 if hunt(given.kinds, cases, given.minutes) else 0


if __name__ == "__main__":
    sys.exit(main())
