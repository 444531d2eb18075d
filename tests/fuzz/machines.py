"""A Hypothesis state machine: an optimizer beside a plain list of what was asked and told.

python -m tests.fuzz.machines [--examples 200] [--seed 0]
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import infgp

PARAMETERS = st.one_of(
    st.builds(infgp.Float, st.floats(-1e3, 0.0), st.floats(0.1, 1e3)),
    st.builds(infgp.Float, st.floats(1e-300, 1e-3), st.floats(1.0, 1e300), log=st.just(True)),
    st.builds(infgp.Int, st.integers(-9, 0), st.integers(1, 10**6)),
    st.sampled_from([infgp.Choice(["a", "b"]), infgp.Choice([None, True, 2.5])]),
)
#: All floats, NaN, infinities and denormals among them.
REWARDS = st.none() | st.floats() | st.sampled_from([0.0, 1.0])


class Searching(RuleBasedStateMachine):
    """Ask, tell, withdraw, save and recommend in any order."""

    @initialize(
        space=st.lists(PARAMETERS, min_size=1, max_size=3),
        seed=st.integers(0, 2**64),
        n_initial=st.integers(1, 5),
        options=st.fixed_dictionaries(
            {"outliers": st.sampled_from(["count", "ignore"])},
            optional={
                "objective": st.sampled_from(["median", ("quantile", 0.1), ("cvar", 0.3), ("probability", 0.5)]),
                "goal": st.sampled_from(["final", "along"]),
                "warp": st.sampled_from([None, "learned"]),
            },
        ),
    )
    def begin(self, space: list[Any], seed: int, n_initial: int, options: dict[str, Any]) -> None:
        named = {f"p{k}": parameter for k, parameter in enumerate(space)}
        self.optimizer = infgp.Optimizer(named, seed=seed, n_initial=n_initial, **options)
        self.waiting: list[Any] = []
        self.told: list[Any] = []

    @rule(count=st.integers(1, 2))
    def ask(self, count: int) -> None:
        points = self.optimizer.ask(count)
        assert [self.optimizer.space.validate(point) for point in points] == points
        self.waiting += points

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), value=REWARDS)
    def tell(self, data: Any, value: float | None) -> None:
        point = self.waiting.pop(data.draw(st.integers(0, len(self.waiting) - 1)))
        self.optimizer.tell(point, value)
        self.told.append(point)

    @precondition(lambda self: self.waiting)
    @rule(text=st.text(max_size=3) | st.lists(st.floats(), min_size=2, max_size=3) | st.booleans())
    def tell_nonsense(self, text: object) -> None:
        try:
            self.optimizer.tell(self.waiting[0], text)  # type: ignore[arg-type]
        except infgp.InvalidInputError:
            return
        raise AssertionError(f"{text!r} was taken for a reward")

    @precondition(lambda self: self.waiting)
    @rule()
    def withdraw(self) -> None:
        self.optimizer.withdraw(self.waiting.pop())

    @rule()
    def save_and_load(self) -> None:
        text = json.dumps(self.optimizer.to_json(), allow_nan=False)
        self.optimizer = infgp.Optimizer.from_json(json.loads(text))
        assert json.dumps(self.optimizer.to_json(), allow_nan=False) == text

    @precondition(lambda self: self.optimizer.counts[1])
    @rule()
    def recommend(self) -> None:
        best = self.optimizer.recommend()
        assert self.optimizer.space.validate(best.point) == best.point
        low, middle, high = best.quantiles.values()
        assert low <= middle <= high
        assert best.std >= 0.0

    @invariant()
    def nothing_lost(self) -> None:
        if hasattr(self, "optimizer"):
            assert Counter(map(repr, self.optimizer.pending)) == Counter(map(repr, self.waiting))
            assert [observation.point for observation in self.optimizer.observations] == self.told
            assert self.optimizer.fallbacks == 0


def run(examples: int, steps: int, minimise: bool, seed: int = 0) -> None:
    """Play random orders of calls; raises with the smallest one that fails."""
    phases = [hypothesis.Phase.generate, *([hypothesis.Phase.shrink] if minimise else [])]
    settings = hypothesis.settings(
        max_examples=examples,
        stateful_step_count=steps,
        phases=phases,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    run_state_machine_as_test(hypothesis.seed(seed)(Searching), settings=settings)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    run(given.examples, 30, True, given.seed)
    print(f"{given.examples} orders of calls, seed {given.seed}: nothing found")
