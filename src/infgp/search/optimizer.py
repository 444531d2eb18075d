"""`Optimizer`: ask, tell, recommend, save."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, overload

import numpy as np

from infgp.arguments import answers_names
from infgp.core.linalg import one_blas_thread
from infgp.core.options import EXACT_UP_TO, ModelOptions, check_warp
from infgp.core.priors import Priors
from infgp.errors import InvalidInputError, check_int
from infgp.habits import SEARCH_ARGUMENTS
from infgp.predict.functionals import ObjectiveLike
from infgp.printing import html_table, text_table
from infgp.search import given, printed, saved
from infgp.search.beliefs import Beliefs
from infgp.search.candidates import second_look
from infgp.search.journal import generator
from infgp.search.learning import check_sampler
from infgp.search.presets import takes_preset
from infgp.search.proposal import DEFAULT_GOAL, Exploration, Proposal, Strategy, propose
from infgp.search.recommending import evaluated_at
from infgp.search.standing import Setup, Standing
from infgp.space import Point, Space, SpaceLike

logger = logging.getLogger("infgp")

#: Values of the option `warp`, besides None.
WARPS = ("auto", "learned")
#: Largest number of points of a design whose size the user did not give.
USUAL_DESIGN = 20
#: Points of a design at most.
LARGEST_DESIGN = 2**20
#: First number of the key that the randomness of a suggestion is derived from.
STEP = 0
#: First number of the key that the randomness of the design is derived from.
DESIGN = 1


class Optimizer(Beliefs):
    """Bayesian optimization that is not fooled by one lucky reward.

    It may be used from several threads: `tell` never waits for an `ask` under way.

    Parameters
    ----------
    space : mapping of str to Float, Int or Choice
        Points that are asked for have the parameters that apply to them (`when`), and so must points that are told.
    direction : {"maximize", "minimize"} or a sequence of them, default="maximize"
        A sequence has an entry for each of several objectives.
    seed : int or None, default=None
        The same seed and rewards give the same points, also across ``save`` and ``load``.
    preset : {"paper", "thompson"} or None, default=None
        A named set of options (:data:`infgp.search.presets.PRESETS`): the paper's Algorithm 1 as printed, or a Thompson
        draw of the objective from infgp's own model, both with the paper's exploration. Options that contradict the
        preset are refused.
    objective : "mean", "median", (str, float), or a list with an entry for each direction, default="mean"
        What is optimised of the reward law at a point: its mean; its median; ("quantile", q), where q = 0.1 is the
        reward that nine of ten exceed; ("cvar", q), the mean of the worst share q; or ("probability", threshold), the
        chance of a better reward than the threshold.
    outliers : {"count", "ignore"}, default="count"
        Whether rewards that fit no surface count. They do if they can happen again: crashes, jackpots, failures.
        Ignore them where they are errors of measurement.
    stand_ins : {"failed", "count"}, default="failed"
        What it means if exactly the same reward is told of two points or more and is far worse than all others, at
        least ten thousand times half of their 16–84 % range: that it stands for evaluations that failed, as if None
        had been told, or that it is a reward like others. A recommendation says so. With several objectives all
        rewards count.
    target : {"objective", "main", "surface"}, default="objective"
        What is searched for: the objective; the dominant surface, which no other rewards move; or (Thompson sampling
        only, the paper's Algorithm 1) a surface drawn by the weights of the surfaces.
    goal : {"final", "along"}, default="final"
        What the search is for: the best point in the end, as in tuning, simulation and design; or good rewards along
        the way, as in trading and online systems, where every evaluation is paid for.
    acquisition : {"kg", "logei", "thompson", "local"} or None, default=None
        How the next point is chosen: by the knowledge gradient or by log expected improvement, averaged over posterior
        states; by Thompson sampling over the space, or around the best points. None is what serves the goal: "kg" for
        "final", "logei" for "along". Several objectives are chosen by expected hypervolume improvement with both, and
        by random weights of Thompson draws with the others.
    exploration : "paper", float or (float, float), default=0.0
        Chance C n^(−λ) of a uniform random point at step n: "paper" is C = 1, λ = ½; a number is C.
    n_initial : int or None, default=None
        Points of a Sobol design before the model is asked; by default 2 (p + 1), with p the number of parameters,
        but at most 20. Earlier data counts.
    gradients : bool, default=False
        Whether log expected improvement is maximised with gradients from many starts, not over candidates.
    reference_point : sequence of float or None, default=None
        With several objectives, a value of each, in the user's units, that trade-offs are to beat. None is the worst
        value of each objective among the evaluated points, as the model believes it to be.
    per_cost : bool, default=False
        Whether what a point is expected to add is divided by what it is expected to cost, which is learned from the
        costs that are told (:mod:`infgp.search.costs`). Without effect before the first cost.
    kernel : {"auto", "learned", "se", "matern52", "matern32"}, default="auto"
        How smooth the landscape is: squared exponential, Matérn with smoothness 5/2 or 3/2, or which of the three is
        learned (:mod:`infgp.sample.moves.kernel`). "auto" is "learned", but "se" where `surfaces` is 1, with several
        objectives and with the truncated sampler.
    ard : bool, default=True
        A length-scale for each input, or one for all.
    surfaces : {None, 1}, default=None
        None for any number of surfaces; 1 for an ordinary GP.
    regions : bool, default=True
        Whether surfaces may belong to a place, and have length-scales of their own (landscapes rough here and smooth
        there) or be flat (rare rewards that do not depend on the input). False is the paper's model. Without effect
        where `surfaces` is 1.
    surface_scales : {"own", "shared"}, default="own"
        Whether every surface has a scale of its own that multiplies its variance and its noise.
    odds : {"kriged", "smooth", "constant"}, default="kriged"
        Whether the chances of the surfaces may change with the input (:mod:`infgp.core.odds`): in laws of further
        rewards, given surfaces that were learned with constant chances; in all that is learned; or, as in the paper,
        not at all.
    sampler : {"collapsed", "truncated"}, default="collapsed"
        How the posterior is drawn from; "truncated" is the paper's sampler of the paper's model: `regions`,
        `surface_scales` and `odds` are without effect, no warp is learned, `ard` has to be False where there are
        several inputs, and noise variances cannot be told.
    priors : Priors or None, default=None
        In standardised units; None for :func:`infgp.search.learning.search_priors`, or, with the truncated sampler, for
        the default of :class:`infgp.Priors`.
    warp : {"auto", "learned", None}, default="auto"
        Whether the map by which the model sees rewards is learned with the surfaces (:mod:`infgp.core.warp`): losses
        over decades, and noise that grows with the reward, then need no logarithm of the user's. "auto" means yes,
        unless `surfaces` is 1 or there are several objectives. Rewards that are discrete, or whose noise variances are
        known, are never warped.
        Predictions and recommendations are in the user's units either way.
    exact_up_to : int or None, default=1000
        Number of rewards up to which the posterior is drawn from exactly. With more, the chain runs on half as many
        selected rewards, among them those at the best points, and its surfaces take in all others: the cost then grows
        in proportion to the number of rewards (docs/large_n.md). None: always exact.

    Examples
    --------
    >>> import infgp
    >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0, n_initial=4)
    >>> for _ in range(8):
    ...     point = optimizer.ask()
    ...     optimizer.tell(point, -(point["x"] - 0.3) ** 2)
    >>> abs(optimizer.recommend().point["x"] - 0.3) < 0.05
    True
    """

    @answers_names("infgp.Optimizer", SEARCH_ARGUMENTS)
    @takes_preset
    def __init__(
        self,
        space: SpaceLike,
        direction: str | Sequence[str] = "maximize",
        seed: int | None = None,
        *,
        preset: str | None = None,  # its options have come with the others
        objective: ObjectiveLike | Sequence[ObjectiveLike] = "mean",
        outliers: str = "count",
        stand_ins: str = "failed",
        target: str = "objective",
        goal: str = DEFAULT_GOAL,
        acquisition: str | None = None,
        exploration: str | float | tuple[float, float] = 0.0,
        n_initial: int | None = None,
        gradients: bool = False,
        reference_point: Sequence[float] | None = None,
        per_cost: bool = False,
        kernel: str = "auto",
        ard: bool = True,
        surfaces: int | None = None,
        regions: bool = True,
        surface_scales: str = "own",
        odds: str = "kriged",
        sampler: str = "collapsed",
        priors: Priors | None = None,
        warp: str | None = "auto",
        exact_up_to: int | None = EXACT_UP_TO,
    ) -> None:
        directions = given.directions(direction)
        strategy = Strategy(
            given.objectives(objective, len(directions)),
            tuple(1.0 if one == "maximize" else -1.0 for one in directions),
            outliers,
            target,
            goal,
            acquisition,
            Exploration.of(exploration),
            gradients,
            given.reference(reference_point, len(directions)),
            per_cost,
            stand_ins,
        )
        strategy.check()
        options = ModelOptions(kernel, ard, surfaces, regions, surface_scales, odds, priors, sampler, exact_up_to)
        options.check()
        check_warp(warp, WARPS)
        searched = Space.of(space)
        check_sampler(options, warp, searched.d)
        own = min(2 * (len(searched.names) + 1), USUAL_DESIGN)
        first = own if n_initial is None else check_int("n_initial", n_initial, 1)
        if first > LARGEST_DESIGN:
            raise InvalidInputError(f"n_initial must be at most {LARGEST_DESIGN}, but got {n_initial!r}.")
        super().__init__(Setup(searched, directions, strategy, options, warp, first), seed)

    def __repr__(self) -> str:
        return printed.one_line(self)

    def __str__(self) -> str:
        return text_table(printed.rows(self))

    def _repr_html_(self) -> str:
        return html_table("Optimizer", printed.rows(self))

    # --- Ask ---------------------------------------------------------------------------------------------------------

    @overload
    def ask(self, n: None = None, *, confirm: bool = False) -> Point: ...
    @overload
    def ask(self, n: int, *, confirm: bool = False) -> list[Point]: ...
    def ask(self, n: int | None = None, *, confirm: bool = False) -> Point | list[Point]:
        """The next point to evaluate, or the next `n`; they are pending until they are told.

        Parameters
        ----------
        n : int, optional
        confirm : bool, default=False
            Choose among the points that were evaluated and the recommended one, to find out which is best: by the
            knowledge gradient, whatever the option `acquisition` is. For one objective.

        Examples
        --------
        >>> import infgp
        >>> len(Optimizer({"k": infgp.Int(1, 9)}, seed=0).ask(3))
        3
        """
        count = 1 if n is None else check_int("n", n, 1)
        with self._asking:
            points: list[Point] = []
            standing = self._standing
            for _ in range(count):  # nothing counts before all are found
                finished = max(standing.told + len(standing.pending), standing.designed) >= self.n_initial
                designs = not (confirm or finished)
                if confirm:
                    found = self._confirm(standing, standing.asked, standing.pending)
                else:
                    index = standing.designed if designs else None
                    found = self._propose(standing, standing.asked, index, standing.pending)
                points.append(self._point(found))
                standing = replace(
                    standing,
                    asked=standing.asked + 1,
                    designed=standing.designed + designs,
                    fallbacks=standing.fallbacks + found.fallback,
                    chains={**standing.chains, **found.chains},
                    pending=(*standing.pending, points[-1]),
                )
            with self._lock:
                now = self._standing  # what was told meanwhile stays told
                self._standing = replace(standing, told=now.told, pending=(*now.pending, *points))
        given = [dict(point) for point in points]
        return given[0] if n is None else given

    def suggest(self, step: int, pending: Sequence[Mapping[str, object]] = (), *, confirm: bool = False) -> Point:
        """A point that is worth evaluating, without a note that it was asked for: for those who keep their own books.

        Parameters
        ----------
        step : int
            Its number, from which randomness is derived; the first ones are of the design.
        pending : sequence of points
            What is being evaluated already, in the place of :attr:`pending`.
        confirm : bool, default=False
            As in :meth:`ask`.

        Examples
        --------
        >>> import infgp
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> optimizer.suggest(0) == optimizer.suggest(0) == optimizer.ask()
        True
        """
        check_int("step", step, 0)
        known = [self.space.validate(point) for point in pending]
        with self._asking:
            standing = self._standing
            if confirm:
                found = self._confirm(standing, step, known)
            else:
                index = step if standing.told + len(known) < self.n_initial else None
                found = self._propose(standing, step, index, known)
            with self._lock:
                fallbacks = self._standing.fallbacks + found.fallback
                chains = {**self._standing.chains, **found.chains}
                self._standing = replace(self._standing, chains=chains, fallbacks=fallbacks)
        return self._point(found)

    def _propose(self, standing: Standing, step: int, index: int | None, pending: Sequence[Point]) -> Proposal:
        """The proposal of a step: the design's at `index`, or the model's where that is None."""
        setup = self._setup
        if index is not None:
            rng = generator(self._design_entropy, DESIGN)
            return Proposal(np.asarray(setup.space.sobol(rng, max(setup.n_initial, index + 1))[index]))
        problem = setup.problem(self._told(standing), pending)
        rng = generator(self._entropy, STEP, step)
        learn = partial(self._learn, standing)
        return propose(rng, problem, learn, setup.strategy, setup.space)

    def _point(self, found: Proposal) -> Point:
        """The point that was found: as it was told if it is evaluated again, without rounding."""
        return self.space.from_unit(found.u[None])[0] if found.point is None else dict(found.point)

    def _confirm(self, standing: Standing, step: int, pending: Sequence[Point]) -> Proposal:
        """The evaluated or recommended input to evaluate again; where the model fails, that of the best reward."""
        self._single("confirm")
        rng, waiting = generator(self._entropy, STEP, step), self.space.to_unit(pending)
        try:
            with one_blas_thread():
                belief, chosen = self._choose("confirm", standing)
                u = second_look(rng, chosen, waiting, self._setup.strategy.price(belief.costs))
                same = bool((u == chosen.u).all())
                again = chosen.point(self._setup, belief.log) if same else evaluated_at(belief.log, u)
                return Proposal(u, belief.known, point=again)
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            logger.warning("The model failed (%s); the point with the best reward is evaluated again.", error)
            done = [o for o, _ in self._told(standing) if o.values is not None]
            best = self.best_observed or done[-1]
            return Proposal(self.space.to_unit([best.point])[0], fallback=True, point=dict(best.point))

    # --- Save and load -----------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file, all of it or nothing: a crash on the way leaves the old file.

        Examples
        --------
        >>> import infgp, tempfile, os
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     optimizer.save(os.path.join(folder, "run.json"))
        ...     again = Optimizer.load(os.path.join(folder, "run.json"))
        >>> again.ask() == optimizer.ask()
        True
        """
        saved.write(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Optimizer:
        """The optimizer that :meth:`save` wrote; it goes on as if nothing had happened."""
        return cls.from_json(saved.read(path))

    def to_json(self) -> dict[str, Any]:
        """Everything, in plain JSON types; :meth:`from_json` undoes it."""
        standing = self._standing
        entropy = (self._entropy, self._design_entropy)
        return saved.search_to_json(self._setup, self._told(standing), standing, entropy)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Optimizer:
        """The optimizer that :meth:`to_json` described."""
        with saved.damage_named():
            out = cls(**saved.options_from_json(content))
            out._entropy, out._design_entropy = saved.entropy_from_json(content)
            out._record(out._checked(saved.observations_from_json(content)))
            out._standing = saved.standing_from_json(content, out._setup, out._log)
        return out
