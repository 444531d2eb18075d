"""Functions that make trouble; what each gives at a point depends on the point alone, so that values can be checked."""

import math
import multiprocessing
import os
import random
import resource
import signal
import time

#: Share of the points at which each function fails.
SHARES = {"forking": 0.0, "sleeping": 0.2, "dying": 0.3, "pooling": 0.0, "raising": 0.3}
#: Options of ``infgp run`` for each function.
OPTIONS = {
    "forking": (),
    "sleeping": ("--timeout", "2"),
    "dying": ("--keep-going",),
    "pooling": ("--timeout", "5"),  # a pool waits for ever for a process that was killed
    "raising": ("--keep-going",),
}


def value(a, b, c):
    return -((a - 0.3) ** 2) - (b - 0.6) ** 2 - abs(math.log10(c) + 1)


def luck(*point):
    """A number between 0 and 1 that is the same whenever the point is."""
    return random.Random(repr(point)).random()


def fails(function, a, b, c):
    """Whether a function fails at a point, left to itself."""
    return luck(a, b, c) < SHARES[function]


def forking(a, b, c):
    """The child returns as well, before its parent or after it, and says something else."""
    if os.fork() == 0:
        time.sleep(0.1 * luck(a, b, c))
        return 1e6
    time.sleep(0.05)
    return value(a, b, c)


def sleeping(a, b, c):
    time.sleep(60.0 if fails("sleeping", a, b, c) else 0.5 * luck(a, b, c))
    return value(a, b, c)


def dying(a, b, c):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if fails("dying", a, b, c):
        deaths = [lambda: os._exit(3), os.abort, lambda: os.kill(os.getpid(), signal.SIGKILL)]
        deaths[int(1000.0 * a) % 3]()
    return value(a, b, c)


def pooling(a, b, c):
    with multiprocessing.Pool(2) as pool:
        return pool.starmap(value, [(c, b, a), (a, b, c)], chunksize=1)[1]


def raising(a, b, c):
    if fails("raising", a, b, c):
        raise RuntimeError(f"no luck at {a}")
    return value(a, b, c)
