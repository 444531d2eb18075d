"""The database behind ``infgp run``: opening it, and messages that never show its password."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote

from infgp.errors import InfGPError
from infgp.space import Float, Int, Parameter, Space

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.storages import RDBStorage

#: Tries to open a storage; several runs that make its tables at once get into each other's way.
OPENINGS = 4
#: Heartbeats in a row that a run must miss before its trials count as lost.
MISSED_BEATS = 3


class StorageError(InfGPError):
    """The storage cannot be opened, or has stopped answering."""


@dataclass(frozen=True)
class Plan:
    """What ``infgp run`` was asked for; the names are those of its options."""

    objective: str
    space: str
    trials: int
    jobs: int = 1
    storage: str = field(default="sqlite:///infgp.db", repr=False)  # may hold a password
    study: str | None = None
    minimize: bool = False
    seed: int | None = None
    keep_going: bool = False
    timeout: float | None = None
    heartbeat: int = 10
    patience: int = 60

    @property
    def name(self) -> str:
        """Name of the study."""
        return self.study or self.objective


def hide_password(url: str, text: str) -> str:
    """`text` without any password that the storage URL holds.

    Examples
    --------
    >>> hide_password("postgresql://ann:s%40cret@db/x", "cannot reach postgresql://ann:s%40cret@db/x: s@cret")
    'cannot reach postgresql://ann:***@db/x: ***'
    """
    found = re.findall(r"://[^/?#]*?:([^/?#]*)@", url) + re.findall(r"://[^:]*:(.*)@", url)
    found += re.findall(r"[?&][^=&]*(?:pass|pwd|secret|token)[^=&]*=([^&#]*)", url, re.IGNORECASE)
    secrets = {form for secret in found for form in (secret, unquote(secret)) if form}
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """Optuna's distributions for a space.

    Examples
    --------
    >>> distributions(Space.of({"x": Float(0.0, 1.0)}))["x"].high
    1.0
    """
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    def one(parameter: Parameter) -> BaseDistribution:
        if isinstance(parameter, Float):
            return FloatDistribution(parameter.low, parameter.high, log=parameter.log)
        if isinstance(parameter, Int):
            return IntDistribution(parameter.low, parameter.high, log=parameter.log)
        return CategoricalDistribution(tuple(parameter.options))

    return {name: one(p) for name, p in zip(space.names, space.parameters, strict=True)}


def open_study(plan: Plan, space: Space) -> tuple[Study, RDBStorage]:
    """The study, made if it is not there."""
    import optuna
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

    from infgp.optuna import InfGPSampler

    def fail(why: str, remedy: str) -> StorageError:
        return StorageError(hide_password(plan.storage, f"The storage {plan.storage} {why}; {remedy}"))

    settings: dict[str, Any] = {"pool_pre_ping": True}  # connections that a restarted server has dropped
    if plan.storage.startswith("sqlite"):
        settings["connect_args"] = {"timeout": 60}  # seconds to wait for others to write
    direction: Literal["minimize", "maximize"] = "minimize" if plan.minimize else "maximize"
    sampler = InfGPSampler(seed=plan.seed, search_space=distributions(space))
    for attempt in range(1, OPENINGS + 1):
        try:
            storage = optuna.storages.RDBStorage(
                plan.storage,
                settings,
                heartbeat_interval=plan.heartbeat,
                grace_period=MISSED_BEATS * plan.heartbeat,
            )
            study = optuna.create_study(
                storage=storage, sampler=sampler, study_name=plan.name, direction=direction, load_if_exists=True
            )
            break
        except (ArgumentError, NoSuchModuleError, ValueError) as error:
            raise fail(
                f"is not a database URL ({first_line(error)})",
                "write e.g. sqlite:///study.db or postgresql+psycopg://user:password@host/database.",
            ) from None
        except ImportError as error:
            raise fail(
                f"needs a driver that is not installed ({first_line(error)})",
                "install it: 'psycopg[binary]' for postgresql+psycopg://…, pymysql for mysql+pymysql://…",
            ) from None
        except (SQLAlchemyError, optuna.exceptions.StorageInternalError, RuntimeError) as error:
            if attempt == OPENINGS:
                raise fail(
                    f"cannot be opened ({first_line(error)})", "check that it is up and that the URL is right."
                ) from None
            time.sleep(0.3 * attempt)
    return study, storage


def first_line(error: BaseException) -> str:
    """The first line of what the innermost error says."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines: Sequence[str] = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]
