"""`maximize` and `minimize` with functions and callbacks that misbehave: nothing that was evaluated is lost."""

from __future__ import annotations

import decimal
import fractions
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import infgp
from tests.fuzz import draws
from tests.fuzz.draws import Wrong


class Broken:
    """A value that cannot be used for anything."""

    def __float__(self) -> float:
        raise RuntimeError("no float")

    def __repr__(self) -> str:
        raise RuntimeError("no text")


def _raise(error: BaseException) -> Any:
    raise error


def _recurse() -> Any:
    return _recurse()


#: What a function may return that is a number or a failure.
GOOD: dict[str, Callable[[], Any]] = {
    "float": lambda: 1.5,
    "int": lambda: 3,
    "numpy": lambda: np.float32(0.5),
    "array": lambda: np.array(0.25),
    "none": lambda: None,
    "nan": lambda: math.nan,
    "huge": lambda: 1e300,
    "inf": lambda: math.inf,
    "minus inf": lambda: -math.inf,
    "denormal": lambda: 5e-324,
}
#: What a function may do that ends a run, unless it is caught.
BAD: dict[str, Callable[[], Any]] = {
    "text": lambda: "high",
    "list": lambda: [1.0, 2.0],
    "complex": lambda: 1j,
    "too long": lambda: 10**400,
    "bool": lambda: "True",
    "dict": lambda: {},
    "broken": Broken,
    "bytes": lambda: b"1" * 10**6,
    "decimal NaN": lambda: decimal.Decimal("sNaN"),
    "raise": lambda: _raise(ZeroDivisionError("odd")),
    "key": lambda: _raise(KeyError("p0")),
    "stop": lambda: _raise(StopIteration()),
    "recursion": _recurse,
    "memory": lambda: _raise(MemoryError()),
    "exit": lambda: _raise(SystemExit(3)),
    "interrupt": lambda: _raise(KeyboardInterrupt()),
    "invalid": lambda: _raise(infgp.InvalidInputError("not ours")),
}
#: What a function may do besides, which must not matter.
ODD: dict[str, Callable[[dict[str, Any]], object]] = {
    "clear": lambda point: point.clear(),
    "add": lambda point: point.update(more=1),
    "change": lambda point: point.update(dict.fromkeys(point, "changed")),
    "state": lambda _: np.random.seed(0),  # noqa: NPY002
}
#: What a callback may return or raise.
CALLBACKS: dict[str, Callable[[], Any]] = {
    "nothing": lambda: None,
    "text": lambda: "stop",
    "raise": lambda: _raise(RuntimeError("callback")),
    "fraction": lambda: fractions.Fraction(1, 3),
    "array": lambda: np.ones(2),
}


def make(rng: np.random.Generator) -> dict[str, Any]:
    """A run: its steps are what the function does at one call after the other."""
    bad = rng.random() < 0.6
    steps = []
    for _ in range(int(rng.integers(1, 16))):
        names = BAD if bad and rng.random() < 0.15 else GOOD
        odd = str(rng.choice(list(ODD))) if rng.random() < 0.1 else None
        callback = str(rng.choice(list(CALLBACKS))) if rng.random() < 0.05 else "nothing"
        steps.append([str(rng.choice(list(names))), odd, callback])
    return {
        "space": draws.space(rng),
        "seed": int(rng.integers(2**31)),
        "minimize": bool(rng.integers(2)),
        "catch": bool(rng.random() < 0.3),
        "threads": int(rng.choice([0, 0, 1, 3])),
        "as dict": bool(rng.integers(2)),
        "options": draws.options(rng),
        "steps": steps,
    }


def play(case: dict[str, Any]) -> None:
    """Run it; what was evaluated is in the result or on the exception."""
    steps, evaluated, called, space = case["steps"], [], 0, draws.built(case["space"])
    if not steps:
        return

    def value(point: dict[str, Any]) -> Any:
        nonlocal called
        name, odd, _ = steps[called % len(steps)]
        called += 1
        if odd is not None:
            ODD[odd](point)
        result = {**GOOD, **BAD}[name]()
        if name in GOOD:
            evaluated.append(name)
        return result

    def callback(optimizer: infgp.Optimizer, _: object) -> Any:
        return CALLBACKS[steps[(len(optimizer.observations) - 1) % len(steps)][2]]()

    f: Callable[..., Any] = (lambda point: value(point)) if case["as dict"] else (lambda **point: value(point))
    run = infgp.minimize if case["minimize"] else infgp.maximize
    options = {"seed": case["seed"], "callbacks": (callback,), **draws.chosen(case["options"])}
    if case["catch"]:
        options["catch"] = (ArithmeticError, LookupError)
    pool = ThreadPoolExecutor(case["threads"]) if case["threads"] else None
    try:
        optimizer = run(f, space, len(steps), executor=pool, **options).optimizer
    except BaseException as error:
        optimizer = getattr(error, "optimizer", None)
        if optimizer is None:
            raise
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)
    if pool is None and len(optimizer.observations) < len(evaluated):
        raise Wrong(f"{len(optimizer.observations)} observations of {len(evaluated)} evaluations")
    for observation in optimizer.observations:
        if optimizer.space.validate(dict(observation.point)) != dict(observation.point):
            raise Wrong(f"invalid point {observation.point}")
    if optimizer.fallbacks:
        raise Wrong(f"{optimizer.fallbacks} hidden fallbacks")
    optimizer.space.validate(optimizer.ask())
