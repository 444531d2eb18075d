"""Saved optimizers that somebody has changed: they are refused in a sentence, or they work."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import infgp

#: Values that take the place of others.
ODD = [
    None,
    -1,
    1e308,
    -1e308,
    5e-324,
    1e-200,
    10**30,
    float("nan"),
    float("inf"),
    "x",
    [],
    {},
    True,
    [[]],
    0,
    "9" * 400,
]
#: Changes of one file, at most.
CHANGES = 3
#: How often a file is damaged as text.
AS_TEXT = 0.15


@functools.cache
def templates() -> tuple[str, ...]:
    """Saved optimizers: with constraints, several objectives, outliers; a new one; with a warp; with conditions."""
    space = {"x": infgp.Float(0.0, 1.0), "c": infgp.Choice(["a", "b"]), "k": infgp.Int(1, 9, log=True)}
    limited = infgp.Optimizer(space, seed=0, n_initial=3)
    for k in range(8):
        point = limited.ask()
        limited.tell(point, -((point["x"] - 0.3) ** 2) + 5.0 * (k == 5), constraints=[point["x"] - 0.8])
    limited.ask()
    several = infgp.Optimizer(space, ["maximize", "minimize"], 0, n_initial=3)
    for _ in range(6):
        point = several.ask()
        several.tell(point, [point["x"], point["x"] ** 2])
    several.ask()
    plain = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, "minimize", 0, n_initial=3, priors=infgp.Priors())
    for k in range(12):
        point = plain.ask()
        plain.tell(point, None if k == 3 else (point["x"] - 0.3) ** 2 + 5.0 * (k % 4 == 0), 0.01)
    plain.ask()
    new = infgp.Optimizer(space, seed=2**127)
    warped = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, "minimize", 0, n_initial=3, warp="learned")
    for _ in range(10):
        point = warped.ask()
        warped.tell(point, 10.0 ** (6.0 * abs(point["x"] - 0.3)))
    y, z = infgp.Float(0.0, 1.0, step=0.1, when={"c": "b"}), infgp.Int(0, 9, step=3, when={"c": ["a", "b"]})
    branching = infgp.Optimizer({"c": infgp.Choice(["a", "b"]), "y": y, "z": z}, seed=0, n_initial=3)
    for _ in range(6):
        point = branching.ask()
        branching.tell(point, point.get("y", 0.5))
    branching.ask()
    return tuple(json.dumps(optimizer.to_json()) for optimizer in (limited, several, plain, new, warped, branching))


def make(rng: np.random.Generator) -> dict[str, Any]:
    """A file: its steps are the changes, each the way to what is changed and the change."""
    template = int(rng.integers(len(templates())))
    content, steps = json.loads(templates()[template]), []
    for _ in range(int(rng.integers(1, CHANGES + 1))):
        way, part = [], content
        while isinstance(part, dict | list) and part and rng.random() < 0.95:
            key = list(part)[rng.integers(len(part))] if isinstance(part, dict) else int(rng.integers(len(part)))
            way.append(key)
            part = part[key]
        if rng.random() < 0.1:
            steps.append(["leave out", way, None])
        elif isinstance(part, int | float) and rng.random() < 0.5:
            steps.append(["set", way, float(part) * float(10.0 ** rng.uniform(-30, 30)) * float(rng.choice([-1, 1]))])
        else:
            steps.append(["set", way, ODD[rng.integers(len(ODD))]])
    if rng.random() < AS_TEXT:
        steps.append(["text", float(rng.random()), str(rng.choice(["", "\0", "\ud800", "[" * 5000, "1e999", "}"]))])
    return {"template": template, "steps": steps}


def changed(content: Any, way: list[Any], how: str, value: Any) -> Any:
    """The content with one part changed, if it is still there."""
    if not way:
        return value
    key, *rest = way
    if isinstance(content, dict) and key in content:
        if not rest and how == "leave out":
            return {k: v for k, v in content.items() if k != key}
        return {**content, key: changed(content[key], rest, how, value)}
    if isinstance(content, list) and isinstance(key, int) and key < len(content):
        middle = [] if not rest and how == "leave out" else [changed(content[key], rest, how, value)]
        return [*content[:key], *middle, *content[key + 1 :]]
    return content


def play(case: dict[str, Any]) -> None:
    """Load the file; if it can be loaded, go on with it."""
    content = json.loads(templates()[case["template"]])
    for how, way, value in case["steps"]:
        if how != "text":
            content = changed(content, way, how, value)
    text = json.dumps(content)
    for how, where, value in case["steps"]:
        if how == "text":
            k = int(where * len(text))
            text = text[:k] + (value + text[k + 1 :] if value else "")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.json")
        path.write_bytes(text.encode(errors="surrogatepass"))
        try:
            optimizer = infgp.Optimizer.load(path)
        except infgp.InvalidInputError:
            return
    go_on(optimizer)


def go_on(optimizer: infgp.Optimizer) -> None:
    """Use a loaded optimizer."""
    optimizer.space.validate(optimizer.ask())
    if optimizer.counts[1]:
        numbers: list[float] = []
        if len(optimizer.directions) == 1:
            best = optimizer.recommend()
            numbers = [best.mean, best.std, best.feasibility]
        else:
            numbers = [v for t in optimizer.tradeoffs() for v in (*t.means, *t.stds)]
        if not np.isfinite(numbers).all():
            raise ArithmeticError(f"not finite: {numbers}")
