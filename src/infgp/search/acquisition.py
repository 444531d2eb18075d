"""What the model suggests for one objective: a score drawn from, or averaged over, the posterior, maximised.

Four ways, behind one function. The knowledge gradient (:mod:`infgp.search.knowledge`) asks which reward would raise
the best objective that is known, log expected improvement (:mod:`infgp.search.improvement`) which point is better than
the best one; both average over states. Thompson sampling draws a function and maximises it (paper, Algorithm 1). Local
Thompson sampling maximises it over perturbations of the best points only, since a draw over a cube of many dimensions
has its maximum almost surely where nothing is known. The neighbourhood that it searches shrinks, and starts again from
the whole space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial.distance import cdist

from infgp.core.kernels import log_ell_from_phi
from infgp.core.linalg import FloatArray
from infgp.core.model import Data
from infgp.core.surface import Conditioned
from infgp.predict.functionals import Aim
from infgp.predict.objectives import MeanObjective, ObjectiveLaw, draw_objective
from infgp.predict.paths import draw_path
from infgp.predict.targets import TargetLaw
from infgp.search.border import inwards
from infgp.search.costs import LogCost, per_cost
from infgp.search.improvement import LogImprovement
from infgp.search.knowledge import KnowledgeGradient
from infgp.search.learning import Learned
from infgp.search.maximise import climb, maximise, pick
from infgp.space import Space

#: Acquisitions that average over states; the others draw one.
AVERAGED = ("kg", "logei")
#: Number of inputs that failed of which a step takes notice.
MOST_FAILED = 200
#: Number of good inputs to which they are the closest.
NEAR_FAILED = 24
#: Number of good points: evaluated points with the best objective, around which is searched.
GOOD = 5
#: Number of inputs above which a search also climbs from the best point. Candidates around a point move some of its
#: coordinates at random, and with many inputs hardly any candidate moves all of them well.
MANY = 10
#: Largest distance of a climb in each input, in units of the cube's side. Longer climbs end in corners.
CLIMB = 0.3
#: Iterations of L-BFGS-B in a climb.
CLIMB_ITERATIONS = 20
#: Number of candidates for log expected improvement over the whole space. It is small on purpose, and no gradients are
#: followed: the highest points of the score are often corners that nothing is known about (`results/search_variants`).
FAR = 64
#: Number of candidates for log expected improvement around each good point.
NEAR = 150
#: Number of candidates for the knowledge gradient around each good point. A reward teaches much the same nearby.
NEAR_TO_LEARN = 60
#: Number of candidates of local Thompson sampling.
LOCAL_CANDIDATES = 2000
#: Shortest step of a candidate of local Thompson sampling, in units of the reach (:func:`local_candidates`).
SHORTEST = 0.01
#: How often the neighbourhood of local Thompson sampling is halved before the whole space is searched again.
HALVINGS = 5
#: Evaluations per dimension that bring no better point, after which the neighbourhood is halved.
PATIENCE = 3


def assume(given: Conditioned, longer: Data, y: FloatArray) -> Conditioned:
    """The state with rewards y at the last inputs of `longer` taken for granted, on the main surface there."""
    if not y.size:
        return given
    labels = np.concatenate((given.state.labels, given.main_labels(longer.x[-y.size :])))
    data = longer.with_rewards(np.concatenate((given.data.y, y)), given.data.warp)
    return replace(given, state=replace(given.state, labels=labels), data=data)


def lengthened(data: Data, x: FloatArray) -> Data:
    """Data with further inputs x, shape (k, d), whose rewards are still to be filled in."""
    noise = np.concatenate((data.noise, np.zeros(x.shape[0])))
    return Data(np.vstack((data.x, x)), np.concatenate((data.y, np.zeros(x.shape[0]))), noise) if x.size else data


def anticipate(
    rng: np.random.Generator,
    draws: Sequence[Conditioned],
    pending: FloatArray,
    failed: FloatArray,
    believed: bool = False,
) -> list[Conditioned]:
    """States with poor rewards at inputs that failed, and rewards at pending inputs.

    The rewards are drawn from the posterior, or `believed`: those that the main surface has on average. The knowledge
    gradient asks what one more reward would change. Believed rewards leave what is expected as it is and count as
    known; drawn ones make points look better or worse than they are expected to be, and with many points pending the
    search follows its own inventions (`studies/batches.py`).
    """
    failed = telling(failed, draws[-1])
    with_failed = lengthened(draws[0].data, failed)
    with_both = lengthened(with_failed, pending)
    ahead = []
    for given in draws:
        poor = np.percentile(given.data.y, 16.0) if failed.size else 0.0
        known = assume(given, with_failed, np.full(failed.shape[0], poor))
        if not pending.size:
            rewards = np.empty(0)
        elif believed:
            rewards = TargetLaw.of(known, "main").mean(pending)
        else:
            rewards = draw_path(rng, known, "main")(pending)
        ahead.append(assume(known, with_both, rewards))
    return ahead


def telling(failed: FloatArray, given: Conditioned) -> FloatArray:
    """Of inputs that failed at most `MOST_FAILED`: each of them is a row to solve.

    Half of them are the closest to good inputs. The others are spread over all distances from there, or what lies
    farther away would look as if nothing were known of it.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> x = np.linspace(0.0, 1.0, 9)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> given = Conditioned(prior_draw(np.random.default_rng(0), x, model), Data(x, x[:, 0]), model)
    >>> telling(np.random.default_rng(1).random((5000, 1)), given).shape
    (200, 1)
    """
    if failed.shape[0] <= MOST_FAILED:
        return failed
    x = given.data.x
    best = x[np.argsort(-TargetLaw.of(given, "main").mean(x), kind="stable")[:NEAR_FAILED]]
    order = np.argsort(cdist(failed, best).min(axis=1), kind="stable")
    half = MOST_FAILED // 2
    spread = np.linspace(half, order.size - 1, MOST_FAILED - half).round().astype(int)
    return np.asarray(failed[np.sort(np.concatenate((order[:half], order[spread])))])


def suggest(
    rng: np.random.Generator,
    objective: Learned,
    space: Space,
    *,
    acquisition: str,
    aim: Aim,
    pending: FloatArray,
    gradients: bool = False,
    price: LogCost | None = None,
) -> FloatArray:
    """The next input, shape (d,), snapped to the space.

    Parameters
    ----------
    rng : numpy.random.Generator
    objective : Learned
        Inputs of it that failed are taken to be poor.
    space : Space
    acquisition : {"kg", "logei", "thompson", "local"}
    aim : Aim
        What is optimised.
    pending : array, shape (k, d)
        Inputs that are being evaluated; see :func:`anticipate`.
    gradients : bool
        Whether log expected improvement is maximised with gradients from many starts, not over candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.options import ModelOptions
    >>> from infgp.predict.functionals import Objective
    >>> from infgp.search.learning import Learner, Series
    >>> from infgp.space import Float
    >>> rng, x, none = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None], np.empty((0, 1))
    >>> learned = Learner.of(ModelOptions(), d=1).learn(rng, Series(x, x[:, 0], np.zeros(6), none), None)
    >>> aim = Aim(Objective(), learned.rewards)
    >>> suggest(rng, learned, Space.of({"a": Float(0, 1)}), acquisition="logei", aim=aim, pending=none).shape
    (1,)
    """
    x, failed, draws = objective.data.x, objective.series.failed, objective.draws
    averaged = acquisition in AVERAGED
    if not averaged:
        draws = (draws[int(rng.integers(len(draws)))],)
    ahead = anticipate(rng, draws, pending, failed, believed=acquisition == "kg")
    if averaged:
        mean = MeanObjective.of(ahead, aim)
        good = promising(x, mean, space)
        if acquisition == "kg":
            gain = KnowledgeGradient.of(rng, space, mean, ahead[0].data.x, good)
            score = inwards(rng, per_cost(gain, price), space, mean.laws)
            return pick(rng, score, space, good, FAR, NEAR_TO_LEARN, mattering(ahead))
        improvement = LogImprovement.of(mean.laws, ahead[0].data.x)
        if gradients:
            return maximise(rng, improvement, space, good)[0]
        score = inwards(rng, per_cost(improvement, price), space, mean.laws)
        return pick(rng, score, space, good, FAR, NEAR, mattering(ahead))
    path = draw_objective(rng, ahead[0], aim)
    if acquisition == "thompson":
        return maximise(rng, path, space, best_of(x, path(x)))[0]
    law = ObjectiveLaw.of(ahead[0], aim)
    good = best_of(x, law.mean(x))
    reach = local_reach(stale=int(np.argmax((x == good[0]).all(axis=1)[::-1])), d=space.d)
    if reach == 0.0:  # restart
        return maximise(rng, path, space, good)[0]
    points = local_candidates(rng, space, good, reach * np.exp(log_ell_from_phi(ahead[0].state.phi[0])))
    return np.asarray(points[int(np.argmax(path(points)))])


def promising(x: FloatArray, mean: MeanObjective, space: Space) -> FloatArray:
    """Points around which is searched: inputs with the best objective and, of many inputs, where a climb from it ends.

    The climb follows one state, which is another one at each step: a mean over states takes as many times as long.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.core.scaling import RewardScale
    >>> from infgp.predict.functionals import Objective
    >>> from infgp.space import Float
    >>> rng, d = np.random.default_rng(0), 12
    >>> x, model = rng.random((30, d)), Model("se", Priors().resolve(d), ard=False)
    >>> given = Conditioned(prior_draw(rng, x, model), Data(x, x.sum(axis=1)), model)
    >>> mean = MeanObjective.of([given], Aim(Objective(), RewardScale(0.0, 1.0)))
    >>> points = promising(x, mean, Space.of({f"x{k}": Float(0.0, 1.0) for k in range(d)}))
    >>> points.shape, bool(mean(points)[0] > mean(x).max())
    ((6, 12), True)
    """
    good = best_of(x, mean(x))
    if space.d <= MANY:
        return good
    return np.vstack((climb(MeanObjective(mean.laws[-1:]), space, good[:1], CLIMB_ITERATIONS, CLIMB), good))


def mattering(draws: Sequence[Conditioned]) -> FloatArray | None:
    """How much each of many inputs matters, shape (d,): the inverse of its length-scale, averaged over states.

    None where inputs are few. With many, the candidates around a good point would seldom move together the few inputs
    on which the reward depends.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, d = np.random.default_rng(0), 12
    >>> x, model = rng.random((30, d)), Model("se", Priors().resolve(d), ard=True)
    >>> mattering([Conditioned(prior_draw(rng, x, model), Data(x, x.sum(axis=1)), model)]).shape
    (12,)
    """
    if draws[0].data.x.shape[1] <= MANY:
        return None
    return np.asarray(np.mean([np.sqrt(given.state.phi[0]) for given in draws], axis=0))


def best_of(x: FloatArray, value: FloatArray) -> FloatArray:
    """The distinct inputs with the largest values, shape (at most GOOD, d)."""
    order = np.argsort(-value, kind="stable")[: 10 * GOOD]
    _, first = np.unique(x[order], axis=0, return_index=True)
    return np.asarray(x[order[np.sort(first)[:GOOD]]])


def local_reach(stale: int, d: int) -> float:
    """Size of the neighbourhood of local Thompson sampling, in length-scales; 0 for a restart over the whole space.

    It is halved as long as the last `stale` evaluations have not moved the best point, and starts again from the whole
    space when it has become small. Found from the data alone, so that nothing needs to be kept.

    Examples
    --------
    >>> [local_reach(stale, d=2) for stale in (0, 6, 12, 30, 36)]
    [1.0, 0.5, 0.25, 0.0, 1.0]
    """
    phase = stale // (PATIENCE * d) % (HALVINGS + 1)
    return 0.0 if phase == HALVINGS else float(0.5**phase)


def local_candidates(rng: np.random.Generator, space: Space, good: FloatArray, reach: FloatArray) -> FloatArray:
    """Sparse perturbations of good points, at steps from a hundredth of a reach to a whole one; one a row.

    The reach follows the length-scales that the chain has learned: it is wide while the function looks smooth and
    narrows where it is found to be rough.
    """
    d = space.d
    centre = good[rng.integers(good.shape[0], size=LOCAL_CANDIDATES)]
    width = np.exp(rng.uniform(np.log(SHORTEST), 0.0, (LOCAL_CANDIDATES, 1))) * np.minimum(reach, 1.0)
    step = width * rng.standard_normal((LOCAL_CANDIDATES, d))
    mask = rng.random((LOCAL_CANDIDATES, d)) < rng.uniform(1.0 / d, 1.0, (LOCAL_CANDIDATES, 1))
    mask[np.arange(LOCAL_CANDIDATES), rng.integers(d, size=LOCAL_CANDIDATES)] = True
    return space.snap(np.clip(centre + step * mask, 0.0, 1.0))
