import re
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest

import infgp.run
from infgp import GainBelow, RegretBelow
from infgp.errors import InvalidInputError, MissingExtraError
from infgp.progress import progress_bar
from infgp.run import maximize, minimize
from infgp.search.optimizer import Optimizer
from infgp.space import Choice, Float, Int

LINE = {"x": Float(0.0, 1.0)}
MIXED = {"x": Float(0.0, 1.0), "n": Int(1, 9), "kind": Choice(["a", "b"])}


def hill(x):
    return -((x - 0.3) ** 2)


def bowl(x, n, kind):
    return (x - 0.3) ** 2 + 0.1 * abs(n - 4) + (kind == "b")


def counted(f, act):
    """`f`, whose k-th call (from 1) does act(k) first."""
    calls = []

    def g(x):
        calls.append(x)
        act(len(calls))
        return f(x)

    return g, calls


def test_a_maximum_is_found_and_the_budget_is_kept():
    f, calls = counted(hill, lambda k: None)
    result = maximize(f, LINE, 12, seed=0)
    assert abs(result.point["x"] - 0.3) < 0.1
    assert len(calls) == len(result.observations) == 12
    assert [o.point["x"] for o in result.observations] == calls
    assert [o.value for o in result.observations] == [hill(x) for x in calls]
    assert result.best_observed.value == max(o.value for o in result.observations)
    assert result.stopped_by == "budget"
    assert result.optimizer.pending == ()
    assert result.seconds > 0.0


def test_a_minimum_is_found_in_a_mixed_space():
    result = minimize(bowl, MIXED, 25, seed=0)
    assert result.point["kind"] == "a"
    assert bowl(**result.point) < 0.5
    assert result.best_observed.value == min(o.value for o in result.observations)


def test_the_loop_is_ask_and_tell():
    optimizer = Optimizer(LINE, seed=5)
    for _ in range(9):
        point = optimizer.ask()
        optimizer.tell(point, hill(**point))
    result = maximize(hill, LINE, 9, seed=5)
    assert result.observations == optimizer.observations
    assert result.recommendation == optimizer.recommend()


def test_functions_of_names_of_a_dict_and_of_anything():
    class Bowl:
        def __call__(self, point):
            return bowl(**point)

        def method(self, config):
            return bowl(**config)

    by_name = [bowl, lambda **point: bowl(**point), lambda kind, n, x: bowl(x, n, kind), partial(bowl)]
    by_dict = [Bowl(), Bowl().method, lambda point: bowl(**point)]
    results = [minimize(f, MIXED, 4, seed=1).observations for f in by_name + by_dict]
    assert all(observations == results[0] for observations in results)


def test_a_single_parameter_with_a_name_of_the_space_is_a_value():
    assert maximize(lambda x: x, LINE, 2, seed=0).observations[0].value >= 0.0


# --- Stopping ---------------------------------------------------------------------------------------------------------


def test_no_evaluation_begins_after_the_time_is_up():
    f, calls = counted(hill, lambda k: time.sleep(0.05))
    result = maximize(f, LINE, 1000, seed=0, max_seconds=0.2, n_initial=1000)
    assert result.stopped_by == "time"
    assert 1 <= len(calls) == len(result.observations) <= 5
    assert result.optimizer.pending == ()


def test_time_that_is_not_up_stops_nothing():
    assert maximize(hill, LINE, 3, seed=0, max_seconds=1e6).stopped_by == "budget"


def test_callbacks_see_every_evaluation_and_stop_the_run():
    seen = []

    def watch(optimizer, observation):
        seen.append((len(optimizer.observations), observation))

    def stop(optimizer, observation):
        return len(optimizer.observations) == 4

    result = maximize(hill, LINE, 12, seed=0, callbacks=(stop, watch))
    assert result.stopped_by == "callback"
    assert [n for n, _ in seen] == [1, 2, 3, 4]
    assert tuple(o for _, o in seen) == result.observations
    assert result.recommendation is not None


def test_a_single_callback_and_a_truth_value_of_numpy():
    result = maximize(hill, LINE, 9, seed=0, callbacks=lambda optimizer, _: np.float64(optimizer.counts[0]) >= 3)
    assert (result.stopped_by, len(result.observations)) == ("callback", 3)


def test_only_true_stops():
    result = maximize(hill, LINE, 5, seed=0, callbacks=(lambda optimizer, observation: "yes",))
    assert len(result.observations) == 5


def test_an_interrupt_keeps_what_there_is():
    def interrupt(k):
        if k == 7:
            raise KeyboardInterrupt

    f, _ = counted(hill, interrupt)
    result = maximize(f, LINE, 12, seed=0)
    assert result.stopped_by == "interrupt"
    assert len(result.observations) == 6
    assert result.optimizer.pending == ()
    assert result.recommendation is not None
    assert result.observations == maximize(hill, LINE, 6, seed=0).observations


def test_an_interrupt_before_the_first_reward():
    def f(x):
        raise KeyboardInterrupt

    result = maximize(f, LINE, 12, seed=0)
    assert (result.point, result.recommendation, result.best_observed, result.observations) == (None, None, None, ())
    assert "stopped by interrupt" in str(result)


# --- Exceptions -------------------------------------------------------------------------------------------------------


def fail_on_third(k):
    if k == 3:
        raise ZeroDivisionError("third")


def test_exceptions_to_catch_are_failures(caplog):
    f, calls = counted(hill, fail_on_third)
    result = maximize(f, LINE, 6, seed=0, catch=(ArithmeticError,))
    assert len(calls) == 6
    assert [o.value is None for o in result.observations] == [False, False, True, False, False, False]
    assert [record.getMessage() for record in caplog.records] == ["An evaluation failed: ZeroDivisionError('third')"]


@pytest.mark.parametrize("catch", [[ValueError, ArithmeticError], ZeroDivisionError], ids=["list", "type"])
def test_exceptions_to_catch_may_be_in_a_list_or_alone(catch):
    f, _ = counted(hill, fail_on_third)
    assert [o.value is None for o in maximize(f, LINE, 4, seed=0, catch=catch).observations] == [0, 0, 1, 0]


def test_other_exceptions_are_raised_with_nothing_left_pending():
    f, _ = counted(hill, fail_on_third)
    optimizer = Optimizer(LINE, seed=0)
    with pytest.raises(ZeroDivisionError, match="third"):
        maximize(f, optimizer, 6, catch=(ValueError,))
    assert len(optimizer.observations) == 2
    assert optimizer.pending == ()


def test_a_reward_that_is_no_number_is_raised_with_nothing_left_pending():
    optimizer = Optimizer(LINE, seed=0)
    with pytest.raises(InvalidInputError, match="A reward must be a number"):
        maximize(lambda x: "good", optimizer, 6)
    assert (optimizer.observations, optimizer.pending) == ((), ())


class Together(Executor):
    """Runs jobs when three of them have been submitted, so that they are done together."""

    _max_workers = 3

    def __init__(self):
        self.waiting = []

    def submit(self, call, *args):
        job = Future()
        self.waiting.append((job, call, args))
        if len(self.waiting) == 3:
            for done, function, given in self.waiting:
                try:
                    done.set_result(function(*given))
                except Exception as error:
                    done.set_exception(error)
            self.waiting = []
        return job


def test_what_others_have_evaluated_is_told_before_an_error_is_raised():
    """One of three jobs that are done together returns a string, or raises: the other two are told."""
    for bad in ("good", ZeroDivisionError("no")):
        calls = []

        def f(x, bad=bad, calls=calls):
            calls.append(x)
            if len(calls) == 2 and isinstance(bad, Exception):
                raise bad
            return bad if len(calls) == 2 else -x

        with pytest.raises((InvalidInputError, ZeroDivisionError)) as error:
            maximize(f, LINE, 9, seed=0, executor=Together())
        assert len(error.value.optimizer.observations) == 2
        assert error.value.optimizer.pending == ()


def test_a_broken_callback_and_a_broken_pool_lose_nothing():
    def broken(optimizer, observation):
        if len(optimizer.observations) == 3:
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken") as error:
        maximize(hill, LINE, 6, seed=0, callbacks=(broken,))
    assert len(error.value.optimizer.observations) == 3

    class Breaking(Together):
        def submit(self, call, *args):
            if len(told) == 3:
                raise BrokenExecutor("the pool is broken")
            return super().submit(call, *args)

    told = []
    with pytest.raises(BrokenExecutor) as error:
        maximize(hill, LINE, 9, seed=0, executor=Breaking(), callbacks=(lambda o, _: told.append(1),))
    assert len(error.value.optimizer.observations) == 3


def test_ctrl_c_during_the_final_recommendation_loses_nothing(monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Optimizer, "recommend", interrupted)
    result = maximize(hill, LINE, 3, seed=0)
    assert len(result.observations) == 3
    assert result.recommendation is None
    assert result.stopped_by == "interrupt"
    assert "luckiest" in str(result)


def test_an_error_in_a_callback_is_raised_and_the_reward_kept():
    optimizer = Optimizer(LINE, seed=0)

    def broken(optimizer, observation):
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        maximize(hill, optimizer, 6, callbacks=(broken,))
    assert len(optimizer.observations) == 1
    assert optimizer.pending == ()


def test_runs_that_only_fail(caplog):
    result = maximize(lambda x: None, LINE, 5, seed=0)
    assert (result.point, result.best_observed) == (None, None)
    assert str(result) == "evaluations  5 (5 failed), stopped by budget"
    assert "all 5 evaluations failed" in caplog.text


# --- Executors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_workers", "most"), [(None, 3), (2, 2)])
def test_threads_work_at_the_same_time(n_workers, most):
    lock, running, peak = threading.Lock(), 0, 0

    def f(x):
        nonlocal running, peak
        with lock:
            running += 1
            peak = max(peak, running)
        time.sleep(0.03)
        with lock:
            running -= 1
        return hill(x)

    with ThreadPoolExecutor(3) as executor:
        result = maximize(f, LINE, 12, seed=0, executor=executor, n_workers=n_workers)
    assert peak == most
    assert len(result.observations) == 12
    assert all(o.value == hill(**o.point) for o in result.observations)
    assert result.optimizer.pending == ()


def test_one_worker_is_the_serial_run():
    with ThreadPoolExecutor(1) as executor:
        parallel = maximize(hill, LINE, 9, seed=2, executor=executor)
    assert parallel.observations == maximize(hill, LINE, 9, seed=2).observations


@pytest.mark.parametrize("f", [bowl, partial(bowl)])
def test_processes(f):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        result = minimize(f, MIXED, 6, seed=0, executor=executor)
    assert len(result.observations) == 6
    assert all(o.value == bowl(**o.point) for o in result.observations)


def test_exceptions_on_an_executor():
    optimizer = Optimizer(LINE, seed=0)
    with ThreadPoolExecutor(2) as executor:
        f, _ = counted(hill, fail_on_third)
        with pytest.raises(ZeroDivisionError):
            maximize(f, optimizer, 8, executor=executor)
        assert optimizer.pending == ()
        f, _ = counted(hill, fail_on_third)
        result = maximize(f, optimizer, 8, executor=executor, catch=(ZeroDivisionError,))
    assert sum(o.value is None for o in result.observations) == 1


def test_a_stop_does_not_wait_for_what_is_under_way():
    release = threading.Event()

    def f(x):
        if threading.current_thread().name.endswith("_0"):
            release.wait(60.0)
        return hill(x)

    with ThreadPoolExecutor(2) as executor:
        try:
            result = maximize(f, LINE, 12, seed=0, executor=executor, callbacks=(lambda *_: True,))
        finally:
            release.set()
    assert result.stopped_by == "callback"
    assert len(result.observations) == 1
    assert result.optimizer.pending == ()


def test_an_interrupt_on_an_executor():
    def interrupt(k):
        if k == 7:
            raise KeyboardInterrupt

    f, _ = counted(hill, interrupt)
    with ThreadPoolExecutor(1) as executor:
        result = maximize(f, LINE, 12, seed=0, executor=executor)
    assert (result.stopped_by, len(result.observations)) == ("interrupt", 6)
    assert result.optimizer.pending == ()


# --- Going on, results ------------------------------------------------------------------------------------------------


def test_a_run_goes_on_with_its_optimizer():
    whole = maximize(hill, LINE, 12, seed=0)
    half = maximize(hill, LINE, 7, seed=0)
    rest = maximize(hill, half.optimizer, 5)
    assert rest.optimizer is half.optimizer
    assert half.observations + rest.observations == whole.observations
    assert rest.recommendation == whole.recommendation


def test_points_that_were_pending_before_the_run_stay_so():
    optimizer = Optimizer(LINE, seed=0)
    mine = optimizer.ask()
    result = maximize(hill, optimizer, 5)
    assert len(result.observations) == 5
    assert optimizer.pending == (mine,)


def test_a_result_prints_as_a_table():
    f = partial(lambda x, n, kind: None if n == 1 else bowl(x, n, kind))
    result = minimize(f, MIXED, 10, seed=0)
    failed = sum(o.value is None for o in result.observations)
    lines = dict(line.split("  ", 1) for line in str(result).splitlines())
    assert lines["evaluations"].strip() == f"10 ({failed} failed), stopped by budget"
    assert lines["kind"].strip() == result.point["kind"]
    assert float(lines["x"]) == pytest.approx(result.point["x"], rel=1e-3, abs=1e-9)
    assert float(lines["expected cost"].split("±")[0]) == pytest.approx(result.recommendation.mean, rel=1e-3)
    assert float(lines["luckiest cost"].split("(")[0]) == pytest.approx(result.best_observed.value, rel=1e-3)
    low, high = map(float, lines["90 % of costs"].split("…"))
    assert low < high
    assert "reward" not in str(result)


@pytest.mark.parametrize(
    ("objective", "name"),
    [
        ("median", "median reward"),
        (("cvar", 0.2), "mean of the worst 20 % of the rewards"),
        ("mean", "expected reward"),
    ],
    ids=str,
)
def test_a_result_names_its_objective(objective, name):
    result = maximize(hill, LINE, 6, seed=0, objective=objective, outliers="ignore")
    assert (result.recommendation.objective, result.recommendation.outliers) == (name, "ignore")
    lines = dict(line.split("  ", 1) for line in str(result).splitlines())
    assert float(lines[name].split("±")[0]) == pytest.approx(result.recommendation.mean, rel=1e-3, abs=1e-9)
    assert "of 6 rewards" in lines["off the surface"]


def test_a_result_prints_the_warnings_of_its_recommendation():
    result = maximize(hill, LINE, 6, seed=0)
    assert "warning" not in str(result)
    told = replace(result, recommendation=replace(result.recommendation, otherwise={"x": 0.5}))
    assert str(told).splitlines()[-1] == told.recommendation.warnings[0]
    assert "outliers='ignore' {'x': 0.5} would be better" in str(told)


def test_a_result_becomes_a_frame():
    f, _ = counted(hill, lambda k: None)
    result = maximize(lambda x: None if x > 0.6 else f(x), LINE, 10, seed=0)
    frame = result.to_frame()
    assert list(frame.columns) == ["x", "value"]
    assert frame["x"].tolist() == [o.point["x"] for o in result.observations]
    assert frame["value"].isna().tolist() == [o.value is None for o in result.observations]
    assert frame["value"].isna().any()


def test_a_frame_needs_pandas(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pandas"):
        maximize(hill, LINE, 1, seed=0).to_frame()


def test_the_progress_bar_counts_evaluations(capsys):
    maximize(hill, LINE, 4, seed=0, progress=True)
    assert "4/4" in capsys.readouterr().err
    shown = maximize(hill, LINE, 6, seed=0, progress=True)
    said = re.findall(r"best expected reward (\S+) ±", capsys.readouterr().err)
    assert float(said[-1]) == pytest.approx(shown.optimizer.best_expected().mean, rel=1e-3)
    assert shown.observations == maximize(hill, LINE, 6, seed=0).observations  # to show it changes nothing
    maximize(hill, LINE, 4, seed=0)
    assert capsys.readouterr().err == ""


def test_the_progress_bar_needs_tqdm(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tqdm", None)
    with pytest.raises(MissingExtraError, match=r"infgp\[progress\]"), progress_bar(True, 3, "step"):
        pass


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budget": 0}, "budget must be an integer >= 1"),
        ({"budget": 2.5}, "budget must be an integer >= 1"),
        ({"max_seconds": 0.0}, "max_seconds must be a finite number > 0"),
        ({"max_seconds": "1"}, "max_seconds must be a finite number > 0"),
        ({"f": 3}, "f must be a function"),
        ({"seed": "a"}, "seed must be an integer"),
        ({"objective": "worst"}, "objective must be 'mean', 'median'"),
        ({"outliers": "drop"}, "outliers='drop' is not known"),
        ({"kernel": "rbf"}, "kernel='rbf' is not known"),
        ({"callbacks": 3}, "callbacks must be a function"),
        ({"cost": "money"}, "cost must be 'seconds', a function of the point, or None"),
        ({"max_cost": 3.0}, "max_cost needs cost"),
        ({"max_cost": 0.0, "cost": "seconds"}, "max_cost must be a finite number > 0"),
        ({"callbacks": [print, None]}, "or a list of such functions, but got"),
        ({"catch": "ValueError"}, "catch must be an exception type such as ValueError"),
        ({"catch": [KeyboardInterrupt]}, "or a list of exception types, but got"),
        ({"timeout": 60}, "infgp.maximize has no argument 'timeout'; use max_seconds"),
        ({"n_jobs": 2}, "no argument 'n_jobs'; use executor=ThreadPoolExecutor"),
        ({"direction": "minimize"}, "call infgp.maximize or infgp.minimize"),
        ({"n_intial": 3}, "no argument 'n_intial'; use n_initial"),
        ({"zzz": 3}, "no argument 'zzz'; its arguments are f, space, budget, .*, n_initial, "),
        ({"space": Optimizer(LINE), "timeout": 3}, "use max_seconds"),
        ({"n_workers": 2}, "n_workers=2 is for an executor"),
        ({"executor": 4}, "executor must be an executor of concurrent.futures"),
        ({"n_workers": 0, "executor": ThreadPoolExecutor(1)}, "n_workers must be an integer >= 1"),
        ({"space": Optimizer(LINE), "seed": 1}, "its own seed and options"),
        ({"space": Optimizer(LINE), "kernel": "se"}, "its own seed and options"),
        ({"space": Optimizer(LINE, "minimize")}, "made to minimize"),
    ],
)
def test_arguments_that_make_no_sense(change, message):
    with pytest.raises(InvalidInputError, match=message):
        infgp.run.maximize(**{"f": hill, "space": LINE, "budget": 3, **change})


def test_a_run_stops_when_its_rule_is_met():
    result = maximize(hill, LINE, 60, seed=0, stop=RegretBelow(0.05))
    assert result.stopped_by == "rule"
    assert result.optimizer.n_initial <= len(result.observations) < 60
    assert hill(result.point["x"]) > -0.05
    assert "stopped by rule" in str(result)
    assert maximize(hill, LINE, 8, seed=0, stop=RegretBelow(1e-12)).stopped_by == "budget"


def test_the_last_evaluations_confirm():
    result = maximize(hill, LINE, 14, seed=0, confirm=4)
    points = [o.point for o in result.observations]
    assert len(points) == 14
    assert points[:10] == [o.point for o in maximize(hill, LINE, 10, seed=0).observations]
    assert len({p["x"] for p in points[:10]}) == 10
    # Each of the last is a point from before, or a recommended one that was not evaluated yet.
    assert sum(p not in points[: 10 + k] for k, p in enumerate(points[10:])) <= 1


def test_a_run_that_goes_on_may_confirm_with_all_of_its_budget():
    first = maximize(hill, LINE, 8, seed=0)
    points = [o.point for o in maximize(hill, first.optimizer, 3, confirm=3).optimizer.observations]
    assert len(points) == 11
    assert sum(p not in points[: 8 + k] for k, p in enumerate(points[8:])) <= 1


@pytest.mark.parametrize(
    "cost", [lambda point: 1.0 / 0.0, lambda point: -1.0, lambda point: float("nan"), lambda point: "much"]
)
def test_an_evaluation_whose_cost_is_wrong_is_told_before_the_error_is_raised(cost):
    with pytest.raises((ZeroDivisionError, InvalidInputError)) as error:
        maximize(hill, LINE, 5, seed=0, cost=cost)
    (told,) = error.value.optimizer.observations
    assert error.value.optimizer.pending == ()
    assert told.value == hill(**told.point)
    assert told.cost is None


def test_a_run_stops_when_its_money_is_spent():
    result = maximize(hill, LINE, 50, seed=0, cost=lambda point: 1.0 + point["x"], max_cost=6.0)
    costs = [o.cost for o in result.observations]
    assert costs == [1.0 + o.point["x"] for o in result.observations]
    assert result.stopped_by == "cost"
    assert result.cost == sum(costs) >= 6.0 > sum(costs[:-1])
    assert [o.point for o in result.observations] == [
        o.point for o in maximize(hill, LINE, len(costs), seed=0).observations
    ]
    again = maximize(hill, result.optimizer, 2, cost=lambda point: 1.0, max_cost=6.0)  # a budget for each run
    assert (again.stopped_by, again.cost) == ("budget", 2.0)


@pytest.mark.parametrize("workers", [None, 2])
def test_costs_may_be_seconds(workers):
    """Also of evaluations that fail; an evaluation that sleeps takes no less."""

    def nap(x):
        time.sleep(0.02)
        if x > 0.5:
            raise ArithmeticError
        return x

    with ThreadPoolExecutor(2) as executor:
        pool = {} if workers is None else {"executor": executor}
        result = maximize(nap, LINE, 4, seed=0, cost="seconds", catch=ArithmeticError, **pool)
    assert {o.value is None for o in result.observations} == {True, False}
    assert all(0.02 <= o.cost < 60.0 for o in result.observations)


def test_a_rule_that_is_met_begins_the_confirmation():
    result = maximize(hill, LINE, 60, seed=0, stop=GainBelow(0.05, 10), confirm=3)
    without = maximize(hill, LINE, 57, seed=0, stop=GainBelow(0.05, 10))
    assert result.stopped_by == without.stopped_by == "rule"
    assert len(result.observations) == len(without.observations) + 3


def test_nothing_is_confirmed_where_all_evaluations_fail():
    assert len(maximize(lambda x: None, LINE, 8, seed=0, confirm=4, stop=RegretBelow(0.1)).observations) == 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stop": 0.1}, "stop must be a rule"),
        ({"confirm": -1}, "confirm must be an integer >= 0"),
        ({"confirm": 9}, "confirm must be less than the budget of 9"),
    ],
)
def test_rules_and_confirmations_that_make_no_sense(options, message):
    f, calls = counted(hill, lambda k: None)
    with pytest.raises(InvalidInputError, match=message):
        maximize(f, LINE, 9, **options)
    assert not calls
