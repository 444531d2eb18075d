"""What users write passes a strict type checker, and what is wrong does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

GOOD = """
import infgp

def note(optimizer: infgp.Optimizer, observation: infgp.Observation) -> None:
    print(observation.value)

space = {"x": infgp.Float(0.0, 1.0), "k": infgp.Int(1, 3), "kind": infgp.Choice(["a", "b"])}
optimizer = infgp.Optimizer(space, "minimize", seed=0)
point = optimizer.ask()
optimizer.tell(point, point["x"] + 1.0)
found: infgp.Recommendation = optimizer.recommend()
one = infgp.maximize(lambda x: x, {"x": infgp.Float(0.0, 1.0)}, 5, callbacks=[note], catch=[ValueError])
two = infgp.minimize(lambda x: x, {"x": infgp.Float(0.0, 1.0)}, 5, callbacks=note, catch=(ValueError, KeyError))
reveal_type(one)
"""
BAD = """
import infgp

optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)})
optimizer.best_params
infgp.maximize(lambda x: x, {"x": infgp.Float(0.0, 1.0)}, "5")
"""


def check(text, tmp_path):
    (tmp_path / "user.py").write_text(text)
    root = Path(__file__).parents[1]
    env = {**os.environ, "MYPYPATH": str(root / "src"), "MYPY_CACHE_DIR": str(root / ".mypy_cache")}
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "user.py"]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)


def test_ordinary_use(tmp_path):
    done = check(GOOD, tmp_path)
    assert done.returncode == 0, done.stdout
    assert 'Revealed type is "infgp.run.Result"' in done.stdout


def test_mistakes_are_noticed(tmp_path):
    done = check(BAD, tmp_path)
    assert '"Optimizer" has no attribute "best_params"' in done.stdout
    assert 'Argument 3 to "maximize" has incompatible type "str"' in done.stdout
