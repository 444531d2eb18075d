"""What an optimizer is, in plain JSON types, and files that are written all or not at all."""

from __future__ import annotations

import glob
import json
import os
import stat
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from infgp.core import priors as prior_classes
from infgp.core.kernels import KERNELS
from infgp.core.partition import IntArray, canonical
from infgp.core.priors import Priors
from infgp.core.scaling import LARGEST_REWARD, RewardScale
from infgp.core.state import FLAT, State
from infgp.core.warp import WIDTHS, Warp, Warps
from infgp.errors import InvalidInputError, check_int
from infgp.search.learning import LARGEST, Series, WarmChain
from infgp.search.standing import Log, Setup, Standing
from infgp.space import Space

#: Mark of a saved optimizer.
FORMAT = "infgp.Optimizer"
#: Version of the format of saved optimizers.
VERSION = 11
#: Seconds after which a file that was being written by a process that is gone is removed.
STALE = 60.0
#: Bits of a number that randomness is derived from, at most.
MOST_BITS = 4096
#: Largest parameter of a state, in standard units; rewards are at most 10⁶ there. Scales are at least its inverse.
LARGEST_PARAMETER = 1e40
#: Largest number of warps that a chain chooses from.
MOST_WARPS = 1000
#: Names of the classes that a saved prior may have.
PRIORS = ("Fixed", "Gamma", "InverseGamma", "LogNormal", "Normal", "UniformPhi")


def write(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write JSON to a file, all of it or nothing: a crash on the way leaves the old file.

    The file has the permissions of the one that it replaces, or those of any new file of this process.
    """
    target = Path(os.path.realpath(path))  # a symbolic link stays one
    text = json.dumps(content, allow_nan=False)
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        _tidy(target)
        old = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666 if old is None else old)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if old is not None:
            os.chmod(temporary, old)  # whatever the umask says
        os.replace(temporary, target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _tidy(target: Path) -> None:
    """Remove what processes that were killed while they saved have left behind."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        pid = left.name.removeprefix(f".{target.name}.").partition("-")[0]
        try:
            os.kill(int(pid), 0)
        except (ProcessLookupError, ValueError):
            with suppress(OSError):  # a process of another machine may have this number, and have just finished
                if time.time() - left.stat().st_mtime > STALE:
                    left.unlink()
        except OSError:  # it lives, and is somebody else's
            pass


def read(path: str | os.PathLike[str]) -> Any:
    """The content of a JSON file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # also what is no text, too deep, or has numbers of 5 000 digits
        reason = f"{type(error).__name__}: {str(error)[:200]}"
        raise InvalidInputError(
            f"{os.fspath(path)} cannot be read as JSON ({reason}); give a file that Optimizer.save wrote."
        ) from None


def search_to_json(setup: Setup, log: Log, standing: Standing, entropy: tuple[int, int]) -> dict[str, Any]:
    """A search in plain JSON types."""
    strategy, options = setup.strategy, setup.options
    return {
        "format": FORMAT,
        "version": VERSION,
        "space": setup.space.to_json(),
        "options": {
            "direction": list(setup.directions),
            "objective": [objective.option for objective in strategy.objectives],
            "outliers": strategy.outliers,
            "stand_ins": strategy.stand_ins,
            "target": strategy.target,
            "goal": strategy.goal,
            "acquisition": strategy.acquisition,
            "exploration": [strategy.exploration.c, strategy.exploration.power],
            "n_initial": setup.n_initial,
            "gradients": strategy.gradients,
            "reference_point": None if strategy.reference_point is None else list(strategy.reference_point),
            "per_cost": strategy.per_cost,
            **{name: value for name, value in vars(options).items() if name != "priors"},
            "priors": priors_to_json(options.priors),
            "warp": setup.warp,
        },
        "entropy": [str(part) for part in entropy],  # 128 bits: more than some readers of JSON hold in a number
        "asked": standing.asked,
        "designed": standing.designed,
        "fallbacks": standing.fallbacks,
        "observations": [
            {
                "point": dict(o.point),
                "values": None if o.values is None else list(o.values),
                "noise_variance": o.noise_variance,
                "constraints": dict(o.constraints),
                **({} if o.cost is None else {"cost": o.cost}),
            }
            for o, _ in log
        ],
        "pending": [dict(point) for point in standing.pending],
        "chains": {name: chain_to_json(chain) for name, chain in standing.chains.items()},
    }


@contextmanager
def damage_named() -> Iterator[None]:
    """Context in which whatever a malformed content leads to is an InvalidInputError that says so."""
    try:
        yield
    except InvalidInputError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        reason = repr(error)[:200]
        raise InvalidInputError(f"The saved optimizer is damaged: {reason} is missing or malformed.") from error


def options_from_json(content: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `Optimizer`, without the seed."""
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise InvalidInputError("This is not a saved optimizer; give what Optimizer.save or to_json wrote.")
    if content.get("version") != VERSION:
        raise InvalidInputError(
            f"This optimizer was saved in version {content.get('version')!r} of the format, and this infgp reads "
            f"version {VERSION}; use the infgp that wrote it."
        )
    options = dict(content["options"])
    options["exploration"] = tuple(options["exploration"])
    options["priors"] = priors_from_json(options["priors"])
    return {"space": Space.from_json(content["space"]), **options}


def entropy_from_json(content: Mapping[str, Any]) -> tuple[int, int]:
    """The numbers that randomness is derived from."""
    first, design = map(int, content["entropy"])
    if not (0 <= first < 2**MOST_BITS and 0 <= design < 2**MOST_BITS):
        raise ValueError("entropy")
    return first, design


def observations_from_json(content: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Arguments of `Optimizer.tell`, in their order, one observation after the other."""
    for entry in content["observations"]:
        variance = entry["noise_variance"] or None
        yield entry["point"], entry["values"], variance, entry["constraints"], entry.get("cost")


def standing_from_json(content: Mapping[str, Any], setup: Setup, log: Log) -> Standing:
    """Where the search stood, its observations having been told."""
    series = setup.problem(log).series
    return Standing(
        told=len(log),
        pending=tuple(setup.space.validate(point) for point in content["pending"]),
        asked=check_int("asked", content["asked"], 0),
        designed=check_int("designed", content["designed"], 0),
        fallbacks=check_int("fallbacks", content["fallbacks"], 0),
        chains={
            name: chain_from_json(chain, setup.space.d, series[name], len(setup.learner.model.odds))
            for name, chain in content["chains"].items()
            if _aside(chain) == series[name].aside  # a chain on other values does not go on
        },
    )


def priors_to_json(priors: Priors | None) -> dict[str, Any] | None:
    """Plain JSON types; :func:`priors_from_json` undoes it.

    Examples
    --------
    >>> priors_from_json(priors_to_json(Priors())) == Priors()
    True
    """
    if priors is None:
        return None

    def plain(value: Any) -> Any:
        return value.tolist() if isinstance(value, np.ndarray) else value

    def one(prior: Any) -> dict[str, Any] | None:
        if prior is None:
            return None
        if type(prior).__name__ not in PRIORS:
            raise InvalidInputError(f"{prior!r} cannot be saved; use one of {', '.join(PRIORS)}.")
        return {"type": type(prior).__name__, **{name: plain(value) for name, value in vars(prior).items()}}

    return {name: one(prior) for name, prior in vars(priors).items()}


def priors_from_json(entry: Mapping[str, Any] | None) -> Priors | None:
    """The priors that :func:`priors_to_json` described."""
    if entry is None:
        return None

    def one(prior: Mapping[str, Any] | None) -> Any:
        if prior is None:
            return None
        fields = {name: np.array(v) if isinstance(v, list) else v for name, v in prior.items() if name != "type"}
        if prior["type"] not in PRIORS:
            raise ValueError("priors")
        return getattr(prior_classes, prior["type"])(**fields)

    return Priors(**{name: one(prior) for name, prior in entry.items()})


def chain_to_json(chain: WarmChain) -> dict[str, Any]:
    """Plain JSON types; :func:`chain_from_json` undoes it."""
    unit = [chain.scale.location, chain.scale.scale]
    warps = [[warp.a, warp.b] for warp in chain.warps.maps[1:]]
    rows = None if chain.rows is None else chain.rows.tolist()
    states = [_plain(state) for state in chain.states]
    return {
        "n": chain.n,
        "unit": unit,
        "warps": warps,
        "states": states,
        "rows": rows,
        "seed": chain.seed,
        "aside": chain.aside,
    }


def chain_from_json(entry: Mapping[str, Any], d: int, series: Series, kinds: int) -> WarmChain:
    """The chain that :func:`chain_to_json` described; ValueError unless it fits d inputs, the series and the model.

    The model has some `kinds` of odds.
    """
    y, n, (location, scale) = series.y, check_int("n", entry["n"], 1), map(float, entry["unit"])
    states = tuple(_state(state) for state in entry["states"])
    pairs = [(float(a), float(b)) for a, b in entry["warps"]]
    if len(pairs) > MOST_WARPS or not all(
        abs(a) < LARGEST_REWARD and 0.5 * WIDTHS[0] < b < 2.0 * WIDTHS[1] for a, b in pairs
    ):
        raise ValueError("warps")
    warps = Warps.beside_identity([Warp(a, b) for a, b in pairs])
    rows, seed = _rows(entry["rows"], n), check_int("seed", entry["seed"], 0)
    labelled = n if rows is None else rows.size
    if not states or n > y.size or not all(_sound(state, labelled, d, kinds, len(warps)) for state in states):
        raise ValueError("chain")
    if not (abs(location) <= LARGEST and 0.0 < scale <= LARGEST):
        raise ValueError("unit")
    with np.errstate(over="ignore", invalid="ignore"):
        reach = np.abs(y / scale - location / scale).max()
    if n == y.size and not reach <= LARGEST_REWARD:  # a chain that has not seen all values gets another unit
        raise ValueError("unit")
    return WarmChain(states, n, RewardScale(location, scale), warps, rows, seed, series.aside)


def _aside(entry: Mapping[str, Any]) -> float | None:
    """The number that was left out of the values of a chain; None if all were there."""
    return None if entry["aside"] is None else float(entry["aside"])


def _rows(entry: Any, n: int) -> IntArray | None:
    """The selected of n values, which are in ascending order; None for all."""
    if entry is None:
        return None
    rows = np.array([check_int("rows", row, 0) for row in entry], dtype=np.int64)
    if not rows.size or rows[-1] >= n or (np.diff(rows) <= 0).any():
        raise ValueError("rows")
    return rows


def _sound(state: State, n: int, d: int, kinds: int, warps: int) -> bool:
    """Whether a state could have come from a chain for n values of d inputs: compiled code trusts it blindly."""
    shapes = (state.labels.shape, state.beta.shape, state.phi.shape, state.sigma2.shape, state.tau2.shape)
    if shapes != ((n,), (d + 1,), (1, d), (1,), (1,)) or state.scale.ndim != 1 or state.grade.ndim != 1:
        return False
    surfaces = int(state.labels.max()) + 1
    positive = np.concatenate((state.phi[0], state.sigma2, state.tau2, state.scale, [state.nu]))
    return bool(
        np.array_equal(canonical(state.labels), state.labels)
        and (np.abs(state.beta) < LARGEST_PARAMETER).all()
        and ((positive > 1.0 / LARGEST_PARAMETER) & (positive < LARGEST_PARAMETER)).all()
        and state.scale.size in (1, surfaces + 1)
        and state.grade.size in (1, surfaces + 1)
        and np.isin(state.grade, np.arange(FLAT + 1)).all()
        and 0 <= state.odds < kinds
        and 0 <= state.warp < warps
        and 0 <= state.kernel < len(KERNELS)
    )


def _plain(state: State) -> dict[str, Any]:
    values = {name: getattr(state, name) for name in State.__dataclass_fields__}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def _state(entry: Mapping[str, Any]) -> State:
    return State(
        labels=np.array(entry["labels"], dtype=np.int64),
        beta=np.array(entry["beta"], dtype=np.float64),
        nu=float(entry["nu"]),
        phi=np.array(entry["phi"], dtype=np.float64),
        sigma2=np.array(entry["sigma2"], dtype=np.float64),
        tau2=np.array(entry["tau2"], dtype=np.float64),
        scale=np.array(entry["scale"], dtype=np.float64),
        grade=np.array(entry["grade"], dtype=np.int64),
        odds=int(entry["odds"]),
        warp=int(entry["warp"]),
        kernel=int(entry["kernel"]),
    )
