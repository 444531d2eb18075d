"""What an optimizer is, in plain JSON types, and files that are written all or not at all."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from infgp.core import priors as prior_classes
from infgp.core.model import OWN_GRADES, State
from infgp.core.priors import Priors
from infgp.core.scaling import RewardScale
from infgp.errors import InvalidInputError, check_int
from infgp.search.learning import WarmChain
from infgp.search.standing import Log, Setup, Standing
from infgp.space import Space

#: Text that marks a file as a saved optimizer.
FORMAT = "infgp.Optimizer"
#: Version of the format of saved optimizers.
VERSION = 2
#: Names of the classes that a saved prior may have.
PRIORS = ("Fixed", "Gamma", "InverseGamma", "LogNormal", "Normal", "UniformPhi")


def write(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write JSON to a file, all of it or nothing: a crash on the way leaves the old file.

    The file has the permissions of the file that it replaces, or else the permissions of any new file of this process.
    """
    where = Path(path)
    text = json.dumps(content, allow_nan=False)
    try:
        handle, temporary = tempfile.mkstemp(dir=where.parent, prefix=f".{where.name}.", suffix=".tmp")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(where))
        os.replace(temporary, where)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    """Permissions that a file written in the ordinary way would have."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)  # there is no way to read it without setting it
        os.umask(mask)
        return 0o666 & ~mask


def read(path: str | os.PathLike[str]) -> Any:
    """The content of a JSON file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise InvalidInputError(
            f"{os.fspath(path)} is not JSON ({error}); give a file that Optimizer.save wrote."
        ) from error


def search_to_json(setup: Setup, log: Log, standing: Standing, entropy: tuple[int, int]) -> dict[str, Any]:
    """A search in plain JSON types."""
    strategy, options = setup.strategy, setup.learner.options
    return {
        "format": FORMAT,
        "version": VERSION,
        "space": setup.space.to_json(),
        "options": {
            "direction": list(setup.directions),
            "target": strategy.target,
            "acquisition": strategy.acquisition,
            "exploration": [strategy.exploration.c, strategy.exploration.power],
            "n_initial": setup.n_initial,
            "gradients": strategy.gradients,
            **{name: value for name, value in vars(options).items() if name != "priors"},
            "priors": priors_to_json(options.priors),
            "bend": setup.learner.bend,
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
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInputError(f"The saved optimizer is damaged: {error!r} is missing or malformed.") from error


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
    return first, design


def observations_from_json(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Arguments of `Optimizer.tell`, one observation after the other."""
    for entry in content["observations"]:
        yield {
            "point": entry["point"],
            "value": entry["values"],
            "noise_variance": entry["noise_variance"] or None,
            "constraints": entry["constraints"],
        }


def standing_from_json(content: Mapping[str, Any], setup: Setup, log: Log) -> Standing:
    """Where the search stood, its observations having been told."""
    problem = setup.problem(log)
    series = {**problem.objectives, **problem.constraints}
    return Standing(
        told=len(log),
        pending=tuple(setup.space.validate(point) for point in content["pending"]),
        asked=check_int("asked", content["asked"], 0),
        designed=check_int("designed", content["designed"], 0),
        fallbacks=check_int("fallbacks", content["fallbacks"], 0),
        chains={
            name: chain_from_json(chain, setup.space.d, series[name].y.size)
            for name, chain in content["chains"].items()
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
    return {"n": chain.n, "unit": unit, "states": [_plain(state) for state in chain.states]}


def chain_from_json(entry: Mapping[str, Any], d: int, n_values: int) -> WarmChain:
    """The chain that :func:`chain_to_json` described; ValueError unless it fits d dimensions and n_values values."""
    n, (location, scale) = check_int("n", entry["n"], 1), entry["unit"]
    states = tuple(_state(state) for state in entry["states"])
    shapes = {(s.labels.shape, s.beta.shape, s.phi.shape, s.sigma2.shape, s.tau2.shape) for s in states}
    known = set(range(len(OWN_GRADES)))
    graded = all(s.grade.size in (1, s.n_surfaces + 1) and set(s.grade.tolist()) <= known for s in states)
    if shapes != {((n,), (d + 1,), (1, d), (1,), (1,))} or n > n_values or not graded:
        raise ValueError("chain")
    return WarmChain(states, n, RewardScale(float(location), float(scale)))


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
    )
