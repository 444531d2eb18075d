"""Asynchronous workers: whoever is free gets the next point: python examples/workers.py

Evaluations take from ten to fifty thousandths of a second here; yours take hours.
"""

# --8<-- [start:workers]
import time
from concurrent.futures import ThreadPoolExecutor

import infgp


def speed(threads: int, block: float) -> float:
    """A measurement that takes as long as it takes; some fail."""
    time.sleep(0.01 * threads)
    if block > 900.0:
        raise MemoryError("the block does not fit")
    return -abs(threads - 3) - abs(block - 256.0) / 200.0


space = {"threads": infgp.Int(1, 5), "block": infgp.Float(16.0, 1024.0, log=True)}
with ThreadPoolExecutor(4) as pool:
    result = infgp.maximize(speed, space, budget=30, seed=0, executor=pool, catch=MemoryError)
print(result)
# --8<-- [end:workers]
