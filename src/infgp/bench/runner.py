"""Running a method on a task: one run, as a record."""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from infgp.bench.core import Method, Run, Task
from infgp.bench.provenance import commit
from infgp.bench.records import Record
from infgp.core.linalg import one_blas_thread
from infgp.errors import check_int
from infgp.search.proposal import Exploration
from infgp.space import Float, Space

FloatArray = NDArray[np.float64]
T = TypeVar("T")

#: Largest number of points of an initial design.
LARGEST_DESIGN = 20
#: First number of the key that the randomness of the initial design is derived from; all methods share it.
DESIGN = 0
#: First number of the key that the randomness of the rewards is derived from; all methods share it.
REWARDS = 1
#: First number of the key that the randomness of the greedy steps is derived from; all methods share it.
GREEDY = 2
#: First number of the key that a method's own seed, and uniform points where it fails, are derived from.
METHOD = 3
#: The paper's probability of a uniform point at step n, ζ_n = n^(−1/2).
GREED = Exploration.of("paper")


def generator(task: str, seed: int, *purpose: int) -> np.random.Generator:
    """Randomness for one purpose on one (task, seed), the same for all methods."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(zlib.crc32(task.encode()), *purpose)))


def initial_design(task: Task, seed: int, size: int | None = None) -> FloatArray:
    """Scrambled Sobol points, 2 (d + 1) but at most 20, shape (size, d); the task's own design if it has one.

    Examples
    --------
    >>> from infgp.bench.tasks import task
    >>> initial_design(task("ackley"), seed=0).shape
    (6, 2)
    """
    size = min(2 * (task.d + 1), LARGEST_DESIGN) if size is None else size
    if task.shared is not None:
        return task.shared.design(size, seed)
    cube = Space.of({f"x{k}": Float(0.0, 1.0) for k in range(task.d)})
    return np.asarray(cube.sobol(generator(task.name, seed, DESIGN), size))


def noise(task: Task, seed: int) -> Callable[[int], np.random.Generator]:
    """The generator of the reward at each step of a run: the same for all methods."""
    if task.shared is not None:
        stream = task.shared.rewards(seed)
        return lambda n: stream
    return partial(generator, task.name, seed, REWARDS)


def greedy_points(task: Task, seed: int, steps: int) -> dict[int, FloatArray]:
    """Steps at which a uniform point is evaluated and not the method's, with that point: with chance ζ_n at step n."""
    points = {}
    for n in range(1, steps):
        rng = generator(task.name, seed, GREEDY, n)
        coin, point = rng.random(), rng.random(task.d)
        if coin < GREED.chance(n):
            points[n] = point
    return points


class Watch:
    """Wall and CPU seconds of a method's work at each step, and what it raised."""

    def __init__(self) -> None:
        self.seconds: list[list[float]] = [[], []]
        self.failures: list[str] = []

    def step(self) -> None:
        """Begin a step."""
        for clock in self.seconds:
            clock.append(0.0)

    def attempt(self, act: Callable[[], T], otherwise: Callable[[], T]) -> T:
        """The answer of `act`, timed; if it raises, that is noted, and the answer of `otherwise`."""
        begin = time.perf_counter(), time.process_time()
        try:
            return act()
        except Exception as error:
            self.failures.append(f"step {len(self.seconds[0]) - 1}: {type(error).__name__}: {error}"[:500])
            return otherwise()
        finally:
            self.seconds[0][-1] += time.perf_counter() - begin[0]
            self.seconds[1][-1] += time.process_time() - begin[1]


def run(
    task: Task,
    method: Method,
    seed: int,
    steps: int | None = None,
    *,
    greedy: bool = True,
    initial: int | None = None,
) -> Record:
    """One run of a method on a task, as a record.

    All methods get the same initial design, the same steps at which a uniform point is evaluated instead of theirs, and
    the same stream of noise. Only the method's own work is timed. Where it raises, that is recorded and a uniform point
    is evaluated.

    Parameters
    ----------
    task : Task
    method : Method
    seed : int
    steps : int, optional
        Evaluations, the initial design included; the task's number by default.
    greedy : bool, default=True
        Whether a uniform point is evaluated with chance n^(−1/2) at step n (the paper's ζ_n-greedy switch).
    initial : int, optional
        Points of the initial design; 2 (d + 1) but at most 20 by default.

    Returns
    -------
    dict
        What can be written as JSON: task, method, seed, d, steps, regret, seconds and cpu_seconds at each step, the
        greedy steps, failures, versions, commit and, where the method recommends a point, that point's regret.

    Examples
    --------
    >>> from infgp.bench.methods import METHODS
    >>> from infgp.bench.tasks import task
    >>> record = run(task("ackley-ht"), METHODS["random"], seed=0, steps=10)
    >>> len(record["regret"]), record["failures"]
    (10, [])
    """
    seed = check_int("seed", seed, 0)
    steps = check_int("steps", task.steps if steps is None else steps, 1)
    design = initial_design(task, seed, initial)
    chosen = {n: x for n, x in greedy_points(task, seed, steps).items() if n >= len(design)} if greedy else {}
    rewards = noise(task, seed)
    watch = Watch()
    points: list[FloatArray] = []

    def uniform() -> FloatArray:
        return generator(task.name, seed, METHOD, len(points)).random(task.d)

    def ask() -> FloatArray:
        return _inside(running.ask(), task.d)

    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")
        running = method.start(task.d, int(generator(task.name, seed, METHOD).integers(2**31)))
        for n in range(steps):
            watch.step()
            given = design[n] if n < len(design) else chosen.get(n)
            x = watch.attempt(ask, uniform) if given is None else given
            y = task.draw(rewards(n), x)
            watch.attempt(partial(running.tell, x, y), lambda: None)
            points.append(x)
        extra = _recommended(running, task, watch)
    return {
        "task": task.name,
        "method": method.name,
        "seed": seed,
        "d": task.d,
        "steps": steps,
        "initial": min(len(design), steps),
        "greedy": greedy,
        "regret": _rounded(task.best - task.expected(np.array(points))),
        **extra,
        "seconds": [round(s, 3) for s in watch.seconds[0]],
        "cpu_seconds": [round(s, 3) for s in watch.seconds[1]],
        "greedy_steps": sorted(chosen),
        "failures": watch.failures,
        "versions": versions(method.packages),
        "commit": commit(),
    }


def _inside(x: FloatArray, d: int) -> FloatArray:
    """The point, if it is one of the cube."""
    x = np.asarray(x, dtype=np.float64)
    if x.shape != (d,) or not ((x >= 0.0) & (x <= 1.0)).all():
        raise ValueError(f"asked for a point outside of the unit cube: {x!r}")
    return x


def _recommended(running: Run, task: Task, watch: Watch) -> Record:
    """Regret of the point that the method recommends in the end, if it does."""
    recommend = getattr(running, "recommend", None)
    if recommend is None:
        return {}
    watch.step()
    point = watch.attempt(lambda: _inside(recommend(), task.d), lambda: None)
    for clock in watch.seconds:
        clock.pop()
    if point is None:
        return {}
    return {"recommend_regret": _rounded(task.best - task.expected(point[None]))[0]}


def _rounded(values: FloatArray) -> list[float]:
    """Six significant digits."""
    return [float(f"{value:.6g}") for value in values]


@cache
def versions(packages: tuple[str, ...]) -> dict[str, str]:
    """Versions of infgp, NumPy, SciPy and the method's packages."""
    found = {}
    for name in ("infgp", "numpy", "scipy", *packages):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


@cache
def warm_up(method: Method, d: int) -> None:
    """Load and compile what a method needs, so that its first run takes no longer than any other."""
    sphere = Task("warm-up", d, method.kinds[0], lambda x: -((x - 0.5) ** 2).sum(axis=1), _sphere, 0.0)
    run(sphere, method, seed=0, steps=5, initial=4, greedy=False)


def _sphere(rng: np.random.Generator, x: FloatArray) -> float:
    return float(-((x - 0.5) ** 2).sum() + 0.1 * rng.standard_normal())
