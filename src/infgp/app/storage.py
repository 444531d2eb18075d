"""The database behind ``infgp run``: opening it, and messages that never show its password."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote, unquote_plus

from infgp.app.objective import settle
from infgp.app.text import shorten
from infgp.errors import InfGPError, InvalidInputError
from infgp.habits import nearest
from infgp.space import Space

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import RDBStorage
    from sqlalchemy import Engine

#: Tries to open a storage; several runs that make its tables at once get into each other's way.
OPENINGS = 4
#: Heartbeats in a row that a run must miss before its trials count as lost.
MISSED_BEATS = 3


#: What sets the clock of a session to UTC, by dialect. Heartbeats are stored without a time zone, as the clock of the
#: session shows them, and compared with the clock of another run's session.
UTC = {
    "postgresql": "SET TIME ZONE 'UTC'",
    "mysql": "SET time_zone = '+00:00'",
    "mariadb": "SET time_zone = '+00:00'",
}


class StorageError(InfGPError):
    """The storage cannot be opened, or has stopped answering."""


@dataclass(frozen=True)
class Plan:
    """What ``infgp run`` was asked for; the names are those of its options."""

    function: str
    space: str
    trials: int
    jobs: int = 1
    storage: str = field(default="sqlite:///infgp.db", repr=False)  # may hold a password
    study: str | None = None
    minimize: bool = False
    objective: str | None = None  # None for what the study has kept
    outliers: str | None = None
    stand_ins: str | None = None
    goal: str | None = None
    preset: str | None = None
    per_cost: bool | None = None
    until_regret: float | None = None
    probability: float | None = None  # of until_regret, which goes with 0.95
    confirm: int = 0
    seed: int | None = None
    keep_going: bool = False
    timeout: float | None = None
    max_seconds: float | None = None
    heartbeat: int = 10
    patience: int = 60

    @property
    def name(self) -> str:
        """Name of the study."""
        return self.study or self.function


#: URLs of which it is certain what is the password, as no part holds a character that separates parts. No other URL is
#: ever shown.
CERTAIN = re.compile(
    r"(?P<scheme>[A-Za-z][\w+]*://)(?P<user>[^\s:/?#@]*)(?P<password>:[^\s:/?#@]*)?(?P<host>@(?:[\w.-]*|\[[\da-fA-F:.]+\]))"
    r"(?P<rest>(?::\d+)?(?:/[^\s:?#@=&;]*)?)(?P<query>\?[^\s@]*)?"
    r"|(?P<open>[A-Za-z][\w+]*://(?:[\w.-]*|\[[\da-fA-F:.]+\])(?::\d+)?(?:/[^\s:?#@=&;]*)?)(?P<options>\?[^\s@]*)?"
    r"|(?P<file>sqlite(?:\+\w+)?:///[^?=@]*)(?P<settings>\?.*)?"
)
#: A setting that holds a password, in the query of a URL or among ``key=value`` pairs.
SECRET_SETTING = re.compile(r"(?:pass|pwd|secret|token)\w*\s*=\s*('(?:[^'\\]|\\.)*'|[^&#;\s]*)", re.IGNORECASE)

#: What separates the parts of a URL.
SEPARATORS = re.compile(r"[\s:/?#@&=;'\"]+")


def name_of(url: str) -> str:
    """How messages call a storage: by its URL without password and query, if it is certain where in the URL they are.

    Examples
    --------
    >>> name_of("postgresql+psycopg://ann:S3cret@db:5432/studies?sslmode=require")
    'storage postgresql+psycopg://ann:***@db:5432/studies'
    >>> name_of("postgresql://ann:S3@cret@db/studies"), name_of("host=db password=S3cret")
    ('storage URL', 'storage URL')
    """
    found = CERTAIN.fullmatch(url)
    if found is None:
        return "storage URL"
    if found["scheme"] is None:
        return f"storage {found['open'] or found['file']}"
    user = f"{found['user']}:***" if found["password"] else "***"  # without a colon it may be both
    return f"storage {found['scheme']}{user}{found['host']}{found['rest']}"


def is_certain(url: str) -> bool:
    """Whether it is certain what in a URL is the password, so that messages of others can be cleared of it.

    Examples
    --------
    >>> is_certain("sqlite:///study.db"), is_certain("ann:S3cret@db/studies")
    (True, False)
    """
    return CERTAIN.fullmatch(url) is not None


def hide_password(url: str, text: str) -> str:
    """`text` without any password that the storage URL holds, or may hold.

    Examples
    --------
    >>> hide_password("postgresql://ann:s%40cret@db/x", "cannot reach postgresql://ann:s%40cret@db/x: s@cret")
    'cannot reach postgresql://ann:***@db/x: ***'
    >>> hide_password("ann:S3cret@db/x", "cannot reach ann:S3cret@db/x: S3cret")
    'cannot reach ***: ***'
    """
    found, pieces = CERTAIN.fullmatch(url), set[str]()
    if found is None:  # any part of it
        bare = re.sub(r"^[A-Za-z][\w+]*:/+", "", url)
        _, _, after = bare.partition(":")
        secrets = {url, bare, after, *(after[:k] for k, character in enumerate(after) if character == "@")}
        secrets |= {secret.strip("'") for secret in SECRET_SETTING.findall(url)}
        pieces = {piece for piece in SEPARATORS.split(bare) if len(piece) > 1}
    else:  # a misspelt setting of the query may hold a password too, and so may a user without a colon
        secrets = {(found["password"] or "")[1:] or found["user"] or ""}
        secrets.update(SEPARATORS.split(found["query"] or found["options"] or found["settings"] or ""))
    for part in sorted(secrets | pieces, key=len, reverse=True):
        for form in {part, unquote(part), unquote_plus(part)} - {""}:
            whole = r"\b" if part not in secrets else ""  # a piece may be a part of an ordinary word
            text = re.sub(f"{whole}{re.escape(form)}{whole}", "***", text)
    return text


def open_study(plan: Plan, space: Space) -> tuple[Study, RDBStorage]:
    """The study, made if it is not there."""
    import optuna
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

    from infgp.optuna import InfGPSampler

    def fail(why: str, error: Exception, remedy: str) -> StorageError:
        return StorageError(f"The {name_of(plan.storage)} {why}{reason(plan.storage, error)}; {remedy}")

    settings: dict[str, Any] = {"pool_pre_ping": True}  # connections that a restarted server has dropped
    if plan.storage.startswith("sqlite"):
        settings["connect_args"] = {"timeout": 60}  # seconds to wait for others to write
    direction: Literal["minimize", "maximize"] = "minimize" if plan.minimize else "maximize"
    for attempt in range(1, OPENINGS + 1):
        try:
            storage = optuna.storages.RDBStorage(
                plan.storage,
                settings,
                heartbeat_interval=plan.heartbeat,
                grace_period=MISSED_BEATS * plan.heartbeat,
            )
            _prepare(storage.engine)
            study = optuna.create_study(storage=storage, study_name=plan.name, direction=direction, load_if_exists=True)
            if study.study_name != plan.name:
                raise StorageError(
                    f"The {name_of(plan.storage)} takes the names {plan.name!r} and {study.study_name!r} for the same "
                    f"and has a study named {study.study_name!r}; choose another --study."
                )
            options = settle(study, plan)
            break
        except InvalidInputError as error:  # what the study has kept was written by others
            raise StorageError(f"The study {plan.name!r} has an option that cannot be used: {error}") from None
        except (ArgumentError, NoSuchModuleError, ValueError) as error:
            raise fail(
                "is not a database URL",
                error,
                "write e.g. sqlite:///study.db or postgresql+psycopg://user:password@host/database, with %40 for an @, "
                "%3A for a : and %2F for a / in the password.",
            ) from None
        except ImportError as error:
            raise fail(
                "needs a driver that is not installed",
                error,
                "run pip install 'psycopg[binary]' for postgresql+psycopg://…, pip install pymysql for mysql+pymysql://…",
            ) from None
        except (SQLAlchemyError, optuna.exceptions.StorageInternalError, RuntimeError) as error:
            if attempt == OPENINGS:
                raise fail("cannot be opened", error, "check that it is up and that the URL is right.") from None
            time.sleep(0.3 * attempt)
    confirm_after = plan.trials - plan.confirm if plan.confirm else None
    study.sampler = InfGPSampler(seed=plan.seed, search_space=space, confirm_after=confirm_after, **options)
    return study, storage


def load_study(plan: Plan) -> Study:
    """The study that the plan names, to read from; raise where it is not there."""
    import optuna
    from sqlalchemy import make_url
    from sqlalchemy.exc import SQLAlchemyError

    url = plan.storage
    try:
        if url.startswith("sqlite") and not os.path.isfile(make_url(url).database or ""):
            raise ValueError("there is no such file")  # SQLite would make it
        storage = optuna.storages.RDBStorage(url, {"pool_pre_ping": True})
        names = optuna.study.get_all_study_names(storage)
        if plan.name in names:
            return optuna.load_study(study_name=plan.name, storage=storage)
    except (ValueError, ImportError, RuntimeError, SQLAlchemyError, optuna.exceptions.StorageInternalError) as error:
        raise StorageError(
            f"The {name_of(url)} cannot be read{reason(url, error)}; give the --storage that the study is in, such as "
            "sqlite:///infgp.db."
        ) from None
    meant = nearest(plan.name, names)
    guess = f"did you mean {meant!r}?" if meant else f"it has {shorten(', '.join(map(repr, names))) or 'no study'}."
    raise InvalidInputError(f"The {name_of(url)} has no study {shorten(plan.name)!r}; {guess}")


def _prepare(engine: Engine) -> None:
    """Have all sessions show the time in UTC, whatever the server, the user or PGTZ say, and SQLite's exclude others.

    Optuna reads a trial's state before it writes another. Servers lock the trial meanwhile; SQLite locks nothing before
    the first write, unless it is told to, so that a trial that was given up could replace one that was told.
    """
    from sqlalchemy import event

    statement = UTC.get(engine.dialect.name)
    if statement is not None:

        def set_clock(connection: Any, _: object) -> None:
            cursor = connection.cursor()
            cursor.execute(statement)
            cursor.close()
            connection.commit()  # a rollback would undo it

        event.listen(engine, "connect", set_clock)
    if engine.dialect.name == "sqlite":

        def leave_alone(connection: Any, _: object) -> None:
            connection.isolation_level = None  # Python's module begins no transaction of its own

        event.listen(engine, "connect", leave_alone)
        event.listen(engine, "begin", lambda session: session.exec_driver_sql("BEGIN IMMEDIATE"))
    engine.dispose()  # sessions that have begun without


def reason(url: str, error: BaseException) -> str:
    """What an error says, in brackets; nothing if it might say a password.

    Drivers quote what they have not understood, and take other parts of a URL for the password than its writer did.

    Examples
    --------
    >>> reason("postgresql://ann:S3cret@db/x", ValueError("no S3cret here"))
    ' (no *** here)'
    >>> reason("postgresql://ann:S3@cret@db/x", ValueError("no host cret@db"))
    ''
    """
    return f" ({shorten(hide_password(url, first_line(error)))})" if is_certain(url) else ""


def first_line(error: BaseException) -> str:
    """The first line of what the innermost error says."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines: Sequence[str] = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]
