"""Random uses of an optimizer: ask, tell, batches, withdraw, save and load, recommend, laws, threads."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import infgp
from tests.fuzz import draws
from tests.fuzz.draws import Wrong

#: Steps and how often they come.
STEPS = {"ask": 6, "tell": 7, "withdraw": 1, "reload": 1, "copy": 1, "law": 1, "threads": 1, "again": 1}
#: Mean number of steps of most histories.
SHORT = 6
#: Mean number of steps of one history in five.
LONG = 30
#: Most steps.
LONGEST = 50
#: Most threads at once.
THREADS = 3


def make(rng: np.random.Generator) -> dict[str, Any]:
    """A history."""
    names, weights = list(STEPS), np.array(list(STEPS.values()), dtype=float)
    steps = []
    length = min(LONGEST, 3 + rng.geometric(1.0 / (LONG if rng.random() < 0.2 else SHORT)))
    for name in rng.choice(names, size=length, p=weights / weights.sum()):
        which, value = float(rng.random()), draws.reward(rng)
        noise = float(10.0 ** rng.uniform(-10, 10)) if rng.random() < 0.05 else None
        steps.append([str(name), which, value, noise])
    case = {
        "space": draws.space(rng),
        "seed": int(rng.integers(2**31)),
        "n_initial": int(rng.integers(1, 8)),
        "options": draws.options(rng),
        "steps": steps,
    }
    if rng.random() < 0.3:
        case["options"]["direction"] = "minimize"
    return case


def play(case: dict[str, Any]) -> None:
    """Use an optimizer as the case says."""
    optimizer = infgp.Optimizer(
        draws.built(case["space"]), seed=case["seed"], n_initial=case["n_initial"], **draws.chosen(case["options"])
    )
    asked = told = withdrawn = 0
    for name, which, value, noise in case["steps"]:
        waiting = optimizer.pending
        some = waiting[int(which * len(waiting))] if waiting else None
        if name == "ask" or some is None:
            wanted = 1 if which < 0.8 else 3
            for point in optimizer.ask(wanted):
                valid(optimizer, point)
            asked += wanted
        elif name == "tell":
            optimizer.tell(some, value, noise)
            told += 1
        elif name == "again" and optimizer.observations:  # a replicate that nobody asked for
            optimizer.tell(optimizer.observations[int(which * told)].point, value)
            told += 1
        elif name == "withdraw":
            optimizer.withdraw(some)
            withdrawn += 1
        elif name == "reload":
            text = json.dumps(optimizer.to_json(), allow_nan=False)
            same(optimizer, infgp.Optimizer.from_json(json.loads(text)))
        elif name == "copy":
            same(optimizer, pickle.loads(pickle.dumps(optimizer)) if which < 0.5 else copy.deepcopy(optimizer))
        elif name == "law":
            law(optimizer, which)
        elif name == "threads":
            count = 2 + int(which * (THREADS - 1))
            at_once(optimizer, value, count)
            asked, told = asked + count, told + count
        counts(optimizer, asked, told, withdrawn)
    if len(case["steps"]) % 2:
        law(optimizer, 0.5)
    if optimizer.fallbacks:
        raise Wrong(f"{optimizer.fallbacks} hidden fallbacks")


def valid(optimizer: infgp.Optimizer, point: dict[str, Any]) -> None:
    """Raise unless a point lies in the space."""
    if optimizer.space.validate(point) != point:
        raise Wrong(f"invalid point {point}")


def same(optimizer: infgp.Optimizer, other: infgp.Optimizer) -> None:
    """Raise unless another optimizer goes on as this one does."""
    if repr(other.observations) != repr(optimizer.observations) or other.pending != optimizer.pending:
        raise Wrong("other observations after save and load")
    mine = optimizer.ask()
    if other.ask() != mine:
        raise Wrong("another point after save and load")
    optimizer.withdraw(mine)


def at_once(optimizer: infgp.Optimizer, value: float | None, count: int) -> None:
    """Threads that ask and tell at once, one of them also for its recommendation."""

    def one(_: int) -> None:
        point = optimizer.ask()
        valid(optimizer, point)
        optimizer.tell(point, value)

    with ThreadPoolExecutor(count + 1) as pool:
        jobs: list[Any] = [pool.submit(one, k) for k in range(count)]
        if optimizer.counts[1]:
            jobs.append(pool.submit(law, optimizer, 0.5))
        for job in jobs:
            job.result()


def counts(optimizer: infgp.Optimizer, asked: int, told: int, withdrawn: int) -> None:
    """Raise unless nothing was lost and nothing invented; a replicate takes no point off the pending ones."""
    if len(optimizer.observations) != told:
        raise Wrong(f"{len(optimizer.observations)} observations where {told} were told")
    if len(optimizer.pending) < asked - told - withdrawn:
        raise Wrong(f"{len(optimizer.pending)} pending where {asked} were asked for and {told} told")


def law(optimizer: infgp.Optimizer, which: float) -> None:
    """Ask everything of what was learned that can be asked."""
    observed = optimizer.observations
    if not optimizer.counts[1]:
        expect_refusal(optimizer.recommend)
        return
    best = optimizer.recommend()
    valid(optimizer, best.point)
    numbers = [best.mean, best.std, *best.quantiles.values(), best.feasibility]
    mean, std = optimizer.predict([observed[int(which * len(observed))].point, best.point])
    numbers += [*mean, *std]
    if (
        not np.isfinite(numbers).all()
        or best.std < 0.0
        or sorted(best.quantiles.values()) != [*best.quantiles.values()]
    ):
        raise Wrong(f"no law: {numbers}")


def expect_refusal(call: Callable[[], object]) -> None:
    """Raise unless a call is refused with a sentence."""
    try:
        call()
    except infgp.InvalidInputError:
        return
    raise Wrong(f"{call} was not refused")
