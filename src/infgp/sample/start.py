"""Where a chain starts: afresh, or at an earlier state in the units of the data at hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from infgp.core.kernels import phi_from_log_ell
from infgp.core.model import Data, Model, draw_log_ell
from infgp.core.partition import canonical
from infgp.core.priors import Fixed, Normal
from infgp.core.scaling import RewardScale, Units
from infgp.core.state import State, crowded
from infgp.core.warp import Warp, Warps
from infgp.errors import InvalidInputError, check_choice

#: Names of the starts of a chain; see :func:`start_state`.
STARTS = ("one", "random", "alone")
#: Number of surfaces among which a random start throws the observations.
RANDOM_SURFACES = 8


def start_state(rng: np.random.Generator, data: Data, model: Model, start: str | State) -> State:
    """Where a chain begins.

    Parameters
    ----------
    rng : numpy.random.Generator
    data : Data
    model : Model
    start : {"one", "random", "alone"} or State
        ``"one"``: all observations on one surface. ``"random"``: each observation on one of eight surfaces, at random.
        ``"alone"``: each observation on a surface of its own. A state: an earlier state, in the same units, of this
        data set or of a shorter one; its labels and hyperparameters are kept, and further observations join its largest
        surface.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.priors import Priors
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> data = Data(np.linspace(0, 1, 4)[:, None], np.zeros(4))
    >>> start_state(np.random.default_rng(0), data, model, "one").labels
    array([0, 0, 0, 0])
    """
    n, d = data.x.shape
    if isinstance(start, State):
        known = start.labels.size
        if known > n or start.phi.shape[1] != d:
            raise InvalidInputError(
                f"The state to go on from has {known} observations of {start.phi.shape[1]} inputs, but the data {n} "
                f"of {d}: give all earlier observations first, in their order, and the new ones after them."
            )
        labels = np.concatenate((start.labels, np.full(n - known, start.main)))
        if model.one_surface:
            labels = np.zeros(n, dtype=np.int64)
        top = len(model.grades) - 1  # the state may come from a model with other grades
        grade = np.minimum(start.grade, top) if top else np.zeros(1, dtype=np.int64)
        warp = start.warp if start.warp < len(model.warps) else 0  # and with other warps
        state = replace(start, labels=labels, scale=np.ones(1), grade=grade, warp=warp)
        many = crowded(state)  # further observations may have joined a flat surface
        return replace(state, grade=np.where(np.isin(np.arange(grade.size), many), 0, grade)) if many.size else state
    check_choice("init", start, STARTS)
    p = model.priors
    log_ell = np.log(np.full(d, 0.3 * np.sqrt(d)))
    if isinstance(p.lengthscale, Fixed):
        log_ell = draw_log_ell(rng, model, d)
    thrown = {
        "one": np.zeros(n, dtype=np.int64),
        "random": rng.integers(RANDOM_SURFACES, size=(n,)),
        "alone": np.arange(n, dtype=np.int64),
    }
    return State(
        labels=canonical(thrown[start]),
        beta=np.zeros(d + 1) if isinstance(p.beta, Normal) else p.beta.sample(rng, d + 1),  # type: ignore[union-attr]
        nu=p.nu.value if isinstance(p.nu, Fixed) else p.nu.shape / p.nu.rate,
        phi=phi_from_log_ell(log_ell)[None, :],
        sigma2=np.array([p.sigma2.value if isinstance(p.sigma2, Fixed) else 1.0]),
        tau2=np.array([p.tau2.value if isinstance(p.tau2, Fixed) else 0.1]),
    )


def in_reward_units(state: State, old: RewardScale, new: RewardScale) -> State:
    """The same state for rewards in other units. The trend is h(x) = (1, x).

    Examples
    --------
    >>> import numpy as np
    >>> state = State(np.zeros(2, int), np.array([1.0, 2.0]), 0.5, np.ones((1, 1)), np.ones(1), np.ones(1))
    >>> in_reward_units(state, RewardScale(3.0, 2.0), RewardScale(1.0, 4.0)).beta
    array([1., 1.])
    """
    ratio = old.scale / new.scale
    beta = ratio * state.beta
    beta[0] += (old.location - new.location) / new.scale
    return replace(state, beta=beta, sigma2=state.sigma2 * ratio**2, tau2=state.tau2 * ratio**2)


def in_warps(state: State, old: RewardScale, new: RewardScale, before: Warps, after: Warps) -> State:
    """The same state for rewards in other units, with other warps to choose from, of which it takes the most alike.

    A warp of rewards in other units is one whose knee and width are in the other units, up to a change of units of z.
    That is exact, and the step to the nearest of the new warps is not; what is made is a place for a chain to go on.

    Examples
    --------
    >>> import numpy as np
    >>> one, warps = np.ones(1), Warps((Warp(), Warp(-2.0, 0.1)), (0.5, 0.5))
    >>> state = State(np.zeros(2, int), np.array([1.0, 2.0]), 0.5, np.ones((1, 1)), one, one, warp=1)
    >>> in_warps(state, RewardScale(3.0, 2.0), RewardScale(3.0, 2.0), warps, warps).beta
    array([1., 2.])
    """
    warp = before.maps[state.warp]
    if warp.straight:
        return replace(in_reward_units(state, old, new), warp=0)
    knee = float(new.to_standard(old.from_standard(np.array(warp.a))))
    moved = Warp(knee, warp.b * old.scale / new.scale)
    index = after.nearest(moved)
    return replace(in_reward_units(state, warp.units, moved.units), warp=index)


def in_units(
    state: State, old: Units, new: Units, ard: bool, before: Warps | None = None, after: Warps | None = None
) -> State:
    """The same state for inputs and rewards in other units, and with other warps to choose from.

    One length-scale for all inputs cannot follow ranges that grow at different rates: it takes their geometric mean.
    """
    state = in_warps(state, old.rewards, new.rewards, before or Warps(), after or Warps())
    ratio = new.inputs.span / old.inputs.span
    shift = (new.inputs.low - old.inputs.low) / old.inputs.span
    beta = np.append(state.beta[0] + state.beta[1:] @ shift, state.beta[1:] * ratio)
    grown = np.square(ratio if ard else np.full(ratio.size, np.exp(np.mean(np.log(ratio)))))
    return replace(state, beta=beta, phi=state.phi * grown)
