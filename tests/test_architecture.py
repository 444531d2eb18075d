"""Arrows point one way, and importing infgp is light."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"


def imports(path: Path) -> set[str]:
    """Modules of infgp that a file imports when it is itself imported (not inside functions or for types)."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("infgp"):
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names if alias.name.startswith("infgp"))
    return found


def graph() -> dict[str, set[str]]:
    names = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return {name: imports(path) & (names.keys() - {name, "infgp"}) for name, path in names.items()}


def test_no_import_cycle():
    edges, done = graph(), set()
    assert len(edges) > 10
    while len(done) < len(edges):
        free = {name for name, needs in edges.items() if name not in done and needs <= done}
        assert free, f"import cycle among {sorted(edges.keys() - done)}"
        done |= free


#: From the ground up: a module imports from its own layer or from those before it.
LAYERS = (
    {"errors", "habits", "arguments", "printing", "progress"},
    {"core"},
    {"parameterbase", "parameters", "space", "calling", "sample"},
    {"predict"},
    {"search"},
    {"estimator", "optuna", "botorch", "loop", "run", "plot", "testing"},
    {"report"},
    {"app"},
    {"bench"},
    {"__main__"},
)


def layer(module: str) -> int:
    part = module.split(".")[1]
    return next(k for k, names in enumerate(LAYERS) if part in names)


def all_imports(path: Path) -> set[str]:
    """Modules of infgp that a file imports anywhere, inside functions too, but not for types alone."""
    tree, found = ast.parse(path.read_text()), set()
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if (
            id(node) not in typing_only
            and isinstance(node, ast.ImportFrom)
            and (node.module or "").startswith("infgp.")
        ):
            found.add(node.module)
    return found


def test_arrows_point_down_the_layers():
    """The command line starts the benchmarks, which nothing below it knows: the one arrow that points up."""
    wrong, seen = [], 0
    for path in (SOURCE / "infgp").rglob("*.py"):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        if name in ("infgp.__init__", "infgp.app.cli"):
            continue
        for needed in all_imports(path):
            seen += 1
            if layer(needed) > layer(name):
                wrong.append(f"{name} -> {needed}")
    assert seen > 200
    assert not wrong


#: Largest number of lines of a module: what one sitting can read.
LONGEST = 400
#: Packages that ARCHITECTURE.md describes as a whole.
WHOLES = {"botorch", "report", "tasks", "methods", "theory"}


def test_modules_are_short_and_described():
    described = set(re.findall(r"`(?:[\w.]+/)*([\w.]+)/?`", (SOURCE.parent / "ARCHITECTURE.md").read_text("utf-8")))
    files = [path for path in (SOURCE / "infgp").rglob("*.py") if path.name != "__init__.py"]
    assert len(files) > 150
    assert not [path.name for path in files if path.read_text("utf-8").count("\n") > LONGEST]
    assert not [path for path in files if path.stem not in described and not WHOLES & set(path.parts)]


def test_nothing_imports_the_test_tools():
    assert not [name for name, needs in graph().items() if "infgp.testing" in needs]


def test_import_is_light():
    heavy = {"torch", "botorch", "optuna", "ray", "matplotlib", "sklearn", "arviz", "pandas", "tqdm"}
    code = "import infgp, sys; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "infgp" in loaded
    assert not heavy & set(loaded)


def run_python(code: str, **environment: str) -> str:
    env = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout


def test_compiled_code_is_cached_between_processes():
    """A second process loads what the first has compiled: cache hits only, no misses."""
    code = """
import numpy as np, infgp
from infgp.sample import compiled
x = np.random.default_rng(0).random((9, 2))
infgp.InfiniteGP(n_warmup=2, n_samples=2, n_chains=1, random_state=0).fit(x, x[:, 0])
stats = compiled.draw_scales.stats, compiled.label_sweep.stats, compiled.draw_trend.stats
print(sum(len(s.cache_misses) for s in stats), sum(len(s.cache_hits) for s in stats))
"""
    run_python(code)  # compiles what no test before has
    misses, hits = run_python(code).split()
    assert misses == "0"
    assert int(hits) >= 2


def test_code_is_compiled_where_nothing_can_be_written(tmp_path):
    """A copy of the package without a place for compiled code: neither beside it nor in the user's cache."""
    shutil.copytree(SOURCE / "infgp", tmp_path / "infgp", ignore=shutil.ignore_patterns("__pycache__", "bench"))
    code = """
import numba.core.caching as caching
caching.CacheImpl._locator_classes = []  # as for a user without a writable folder; root may write anywhere
from infgp.core.places import spanning_tree
import infgp, numpy as np
assert "TMP" in infgp.__file__
print(spanning_tree(np.array([[0.0], [0.8], [0.1]])).tolist())
""".replace("TMP", str(tmp_path))
    assert run_python(code, PYTHONPATH=str(tmp_path)).strip() == "[0, 2, 0]"


def test_a_broken_extra_is_not_called_missing(tmp_path):
    """An ImportError from inside Optuna is passed on; a missing Optuna is named with the extra that brings it."""
    (tmp_path / "optuna").mkdir()
    (tmp_path / "optuna" / "__init__.py").write_text("import nowhere_to_be_found")
    code = """
try:
    import infgp.optuna
except ImportError as error:
    print(type(error).__name__, error)
"""
    assert "No module named 'nowhere_to_be_found'" in run_python(code, PYTHONPATH=f"{tmp_path}:{SOURCE}")
    missing = "import sys; sys.modules['optuna'] = None" + code
    assert "MissingExtraError" in run_python(missing)
    assert "infgp[optuna]" in run_python(missing)
