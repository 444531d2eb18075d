"""Random spaces, rewards and options, as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

import infgp

#: Rewards are spread over this many decades, half of them below 1.
DECADES = 600
#: Lists of choices, some of which look like markup, like each other, or like nothing.
CHOICES: list[list[Any]] = [["a", "b"], [True, 0, 2.5], list("abcde"), [None, "[/x]"], ["", " ", "\x1b[2J"], [1, "1"]]


class Wrong(Exception):  # noqa: N818 - a finding, not an error of the fuzzer
    """Something that must not happen."""


def parameter(rng: np.random.Generator) -> list[Any]:
    """The name and arguments of a random parameter."""
    kind = rng.integers(6)
    if kind == 0:
        return ["Choice", CHOICES[rng.integers(len(CHOICES))]]
    if kind == 1:
        return ["Int", int(rng.integers(-5, 1)), int(rng.integers(2, 1000))]
    if kind == 2:
        return ["Float", 10.0 ** -float(rng.integers(1, 300)), 10.0 ** float(rng.integers(1, 300)), True]
    if kind == 3:
        return ["Int", 1, int(rng.integers(2, 9)), True]
    if kind == 4:
        return ["Int", -(2**40), int(rng.integers(2, 2**40))]
    return ["Float", -float(rng.random()), 10.0 ** float(rng.integers(-3, 4))]


def space(rng: np.random.Generator) -> dict[str, Any]:
    """A random space; some parameters have a step or a condition on the one before."""
    out: dict[str, Any] = {}
    for k in range(rng.integers(1, 6)):
        entry, more = parameter(rng), dict[str, Any]()
        if entry[0] != "Choice" and len(entry) == 3 and rng.random() < 0.2:
            parts = int(rng.integers(1, 9))
            step = (entry[2] - entry[1]) / parts
            more["step"] = step if entry[0] == "Float" else max(1, int(step))
        before = out.get(f"p{k - 1}", ["Float"])
        if before[0] != "Float" and rng.random() < 0.5:
            value = before[1][rng.integers(len(before[1]))] if before[0] == "Choice" else before[1]
            more["when"] = {f"p{k - 1}": value}
        out[f"p{k}"] = [*entry, more] if more else entry
    return out


def built(described: dict[str, Any]) -> dict[str, Any]:
    """The parameters that a space was described by."""

    def one(kind: str, *arguments: Any) -> Any:
        more = arguments[-1] if isinstance(arguments[-1], dict) else {}
        arguments = arguments[:-1] if more else arguments
        if kind == "Choice":
            return infgp.Choice(*arguments, **more)
        low, high, *log = arguments
        return getattr(infgp, kind)(low, high, log=bool(log), **more)

    return {name: one(*entry) for name, entry in described.items()}


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


def constraint(rng: np.random.Generator) -> float:
    """How far a random constraint is from its limit: a number or ±inf, but nothing that counts as failed."""
    value = reward(rng)
    return 0.0 if value is None or np.isnan(value) else value


def options(rng: np.random.Generator) -> dict[str, Any]:
    """Random options of a search that differ from the default, each now and then."""
    rare: dict[str, list[Any]] = {
        "objective": ["median", ("quantile", 0.1), ("cvar", 0.2), ("cvar", 1.0), ("probability", 0.5)],
        "outliers": ["ignore"],
        "stand_ins": ["count"],
        "target": ["main"],
        "goal": ["along"],
        "acquisition": ["thompson", "local"],
        "kernel": ["matern52", "se"],
        "surfaces": [1],
        "regions": [False],
        "surface_scales": ["shared"],
        "exploration": ["paper", 0.5],
        "priors": ["Priors"],
        "gradients": [True],
        "ard": [False],
        "odds": ["smooth"],
        "warp": ["learned", None],
    }
    drawn = {name: values[rng.integers(len(values))] for name, values in rare.items() if rng.random() < 0.2}
    if "gradients" in drawn and rng.random() < 0.7:  # it takes long
        del drawn["gradients"]
    if "gradients" in drawn:  # the knowledge gradient has none
        drawn["goal"] = "along"
    if "objective" in drawn:  # the dominant surface has none
        drawn.pop("target", None)
    return drawn


def chosen(options: dict[str, Any]) -> dict[str, Any]:
    """Options with the objects that some of them name."""
    return {**options, "priors": infgp.Priors()} if "priors" in options else options
