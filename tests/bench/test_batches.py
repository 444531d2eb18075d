import numpy as np
import pytest

from infgp.bench.methods.batches import FittedBatchRun, WorkersRun


def told(run):
    return len(run.optimizer.observations)


def designed(run, count=4):
    for x in np.linspace(0.0, 1.0, count):
        run.tell(np.array([x]), float(-((x - 0.3) ** 2)))
    return run


def test_rewards_of_a_batch_are_kept_back_until_it_is_complete():
    run = designed(WorkersRun(1, 0, workers=3, together=True))
    assert told(run) == 4
    points = []
    for k in range(3):
        points.append(run.ask())
        assert len(run.optimizer.pending) == 3
        assert told(run) == 4
        run.tell(points[-1], float(k))
    assert told(run) == 7
    assert not run.optimizer.pending
    assert len({float(x[0]) for x in points}) == 3


def test_workers_are_told_a_reward_when_the_next_one_asks():
    run = designed(WorkersRun(1, 0, workers=3, together=False))
    for k in range(5):
        run.tell(run.ask(), float(k))
    assert told(run) == 4 + 3
    assert [o.values for o in run.optimizer.observations[4:]] == [(0.0,), (1.0,), (2.0,)]  # the first told first


def test_a_recommendation_knows_all_rewards():
    run = designed(WorkersRun(1, 0, workers=4, together=True))
    run.tell(run.ask(), 0.0)
    run.recommend()
    assert told(run) == 5


def test_botorch_finds_a_batch_at_once():
    pytest.importorskip("botorch", reason="BoTorch is not installed")
    run = designed(FittedBatchRun(1, 0, size=2))
    first = run.ask()
    run.tell(first, 0.0)
    assert len(run.inputs) == 4  # kept back
    second = run.ask()
    assert not np.array_equal(first, second)
    run.tell(second, 0.0)
    assert len(run.inputs) == 6
