"""What is shown of an optimizer: what it was told, not what it believes, which would take seconds to find out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infgp.printing import brief, brief_point, counted, noun, printable

if TYPE_CHECKING:
    from infgp.search.optimizer import Optimizer


def one_line(optimizer: Optimizer) -> str:
    """The aim of a search and its counts.

    Examples
    --------
    >>> import infgp
    >>> infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, "minimize")
    <Optimizer to minimize the expected cost: 1 parameter, 0 evaluations (0 failed), 0 pending>
    """
    parameters = counted(len(optimizer.space.names), "parameter")
    return f"<Optimizer to {_aims(optimizer)}: {parameters}, {_evaluations(optimizer)}>"


def rows(optimizer: Optimizer) -> list[tuple[str, str]]:
    """The same by name, with the parameters and the luckiest reward.

    Examples
    --------
    >>> import infgp
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)})
    >>> optimizer.tell({"x": 0.5}, 1 / 3)
    >>> print(optimizer)
    to               maximize the expected reward
    x                Float(low=0.0, high=1.0, log=False)
    evaluations      1 evaluation (0 failed), 0 pending
    luckiest reward  0.3333 at {'x': 0.5} (recommend() has the point with the best objective)
    """
    space, setup = optimizer.space, optimizer.setup
    out = [("to", _aims(optimizer))]
    out += [(printable(name), printable(repr(p))) for name, p in zip(space.names, space.parameters, strict=True)]
    out.append(("evaluations", _evaluations(optimizer)))
    if len(setup.signs) == 1 and (best := optimizer.best_observed) is not None:
        text = f"{brief(best.value)} at {brief_point(best.point)} (recommend() has the point with the best objective)"
        out.append((f"luckiest {noun(setup.signs[0])}", text))
    if optimizer.fallbacks:
        out.append(("model failures", f"{optimizer.fallbacks} (a random point each)"))
    return out


def _aims(optimizer: Optimizer) -> str:
    setup = optimizer.setup
    parts = zip(setup.directions, setup.strategy.objectives, setup.signs, strict=True)
    return "; ".join(f"{direction} the {objective.in_words(sign)}" for direction, objective, sign in parts)


def _evaluations(optimizer: Optimizer) -> str:
    told, done = optimizer.counts
    return f"{counted(told, 'evaluation')} ({told - done} failed), {len(optimizer.pending)} pending"
