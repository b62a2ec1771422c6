"""The unit of work: one session, one commit at the edge, jobs sent after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session

from downlink.domain.errors import UnavailableError
from downlink.storage.stored_json import read_json
from downlink.storage.traces.objects import Folder, TraceStore

Job = tuple[str, UUID]
SendJobs = Callable[[Sequence[Job]], None]
DATABASE = TraceStore()
"""Traces stay in the database."""
IN_BINARY = {"is_binary": True}
"""Execution options of queries for contents."""
log = structlog.get_logger()


def drop_jobs(_jobs: Sequence[Job]) -> None:
    """Leave the jobs to the tick, which finds them by the rows' states."""


@dataclass
class Unit:
    """The database session and jobs of an action. It never commits; the caller that opened the unit does."""

    session: Session
    jobs: list[Job] = field(default_factory=list)
    store: TraceStore = DATABASE
    folder: Folder | None = None
    """Folder into which this unit writes objects, once it does."""

    def enqueue(self, name: str, subject: UUID) -> None:
        """Send this job once the unit is committed; dropped when it is rolled back."""
        if (name, subject) not in self.jobs:
            self.jobs.append((name, subject))


class UnitFactory:
    """Opens units on one database: `with units() as unit: …` commits at the end, or rolls back on any exception."""

    def __init__(self, engine: Engine, send: SendJobs, store: TraceStore = DATABASE) -> None:
        self.engine = engine
        self.store = store
        self._send = send

    @contextmanager
    def __call__(self, *, is_read_only: bool = False) -> Iterator[Unit]:
        with (
            _away_is_unavailable(is_read_only=is_read_only),
            Session(self._engine_for(is_read_only), expire_on_commit=False) as session,
        ):
            unit = Unit(session, store=self.store)
            yield unit
            if unit.folder:
                unit.folder.finish()  # no committed row may name an object that is not there
            session.commit()
        self._send_jobs(unit.jobs)

    def _engine_for(self, is_read_only: bool) -> Engine:
        return self.engine.execution_options(postgresql_readonly=True) if is_read_only else self.engine

    def _send_jobs(self, jobs: Sequence[Job]) -> None:
        """The rows are committed and say what is due: a queue that is away costs a second, not a job."""
        if not jobs:
            return
        try:
            self._send(jobs)
        except Exception:
            log.warning("jobs_not_sent", jobs=[name for name, _ in jobs], exc_info=True)

    def close(self) -> None:
        self.engine.dispose()


@contextmanager
def _away_is_unavailable(*, is_read_only: bool) -> Iterator[None]:
    try:
        yield
    except PoolTimeoutError as error:
        raise UnavailableError(
            "database_busy", "The database has no free connection; try again in some seconds."
        ) from error
    except DBAPIError as error:
        unavailable = _unavailable(error)
        if unavailable is None or (
            is_read_only and unavailable.code == READ_ONLY
        ):  # a change in a unit that makes none
            raise
        raise unavailable from error


READ_ONLY = "database_read_only"
# Class 53 and 55 of PostgreSQL's error codes, and the deadlock: nothing is wrong with the request.
_BY_SQLSTATE = {
    "40P01": ("database_deadlock", "Two transactions waited for each other, and the database ended this one; try again."),
    "53100": ("disk_full", "The database's disk is full: nothing more can be stored until there is room. Try again then."),
    "23503": ("row_gone", "What this belongs to was deleted meanwhile, or what was to go is still in use; look again."),
    "25006": (READ_ONLY, "The database takes no changes at present; try again once it does."),
    "55P03": ("database_busy", "What this needs is held by another transaction; try again in some seconds."),
}  # fmt: skip


def _unavailable(error: DBAPIError) -> UnavailableError | None:
    """The error that asks the caller to retry later, under its own name; None for a fault of the statement."""
    state = getattr(error.orig, "sqlstate", None)
    if known := _BY_SQLSTATE.get(str(state)):
        log.warning(known[0], sqlstate=state, detail=str(error.orig))
        return UnavailableError(*known)
    if error.connection_invalidated or isinstance(error, OperationalError):
        return UnavailableError("database_away", "The database does not answer; try again in some seconds.")
    return None


def open_units(url: str, pool_size: int, send: SendJobs = drop_jobs, store: TraceStore = DATABASE) -> UnitFactory:
    """A factory with a connection pool; no connection is made before the first unit."""
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=4,
        pool_timeout=10,
        pool_pre_ping=True,
        hide_parameters=True,  # they may be names, hashes and samples, and errors are logged
        json_deserializer=read_json,
        connect_args={"connect_timeout": 5, "options": "-c timezone=UTC -c lock_timeout=20s"},
    )
    event.listen(engine, "handle_error", leave_values_out)
    event.listen(engine, "do_execute", answer_in_binary)
    return UnitFactory(engine, send, store)


def answer_in_binary(cursor: Any, statement: str, parameters: Any, context: Any) -> bool | None:
    """Have the rows of a query with IN_BINARY sent as they are: PostgreSQL would write bytes as text twice as long."""
    if not context.execution_options.get("is_binary"):
        return None
    cursor.execute(statement, parameters, binary=True)
    return True


def leave_values_out(context: ExceptionContext) -> None:
    """Keep the first line of what the database says: those below it quote rows, and errors are logged."""
    for error in (context.original_exception, context.sqlalchemy_exception):
        if error is not None:
            error.args = tuple(part.partition("\n")[0] if isinstance(part, str) else part for part in error.args)


def try_lock(unit: Unit, name: str) -> bool:
    """Take a named lock until the end of the transaction; False when another holds it."""
    query = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:name, 0))")
    return bool(unit.session.execute(query, {"name": name}).scalar_one())


def lock(unit: Unit, name: str) -> None:
    """Wait for a named lock and hold it until the end of the transaction."""
    unit.session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": name})
