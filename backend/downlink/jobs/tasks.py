"""The tasks: ids in, a unit of work, one action."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import structlog
from celery import Celery, Task
from structlog.contextvars import bound_contextvars

from downlink.actions.campaigns import retention
from downlink.actions.links import path_jobs, weather_calls
from downlink.actions.notices import deliveries
from downlink.actions.results import analysis, reanalysis, reports, sweep_parts, sweeps
from downlink.actions.runs import progress
from downlink.actions.traces import folders, seal
from downlink.courier.sender import Courier
from downlink.courier.weather import WeatherService
from downlink.domain.errors import NotFoundError, UnavailableError
from downlink.jobs.app import PREFIX
from downlink.storage.results.reanalysis_store import JOB as REANALYSE
from downlink.storage.unit import Unit, UnitFactory

TRIES, RETRY_S = 3, 2.0  # anything longer is the tick's to find
Clock = Callable[[], datetime]
Action = Callable[[Unit, UUID, datetime], None]


@dataclass(frozen=True, slots=True)
class Services:
    """The services on other hosts that jobs call. weather: None where an admin has named none."""

    courier: Courier
    weather: WeatherService | None = None


ACTIONS: dict[str, Action] = {
    "seal": seal.seal,
    "analyse": analysis.analyse_run,
    "report": reports.refresh_report,
    REANALYSE: reanalysis.reanalyse,
    sweep_parts.JOB: sweeps.sweep_part,
    folders.JOB: folders.remove_folder,
    retention.JOB: retention.remove_some,
}
"""Jobs of one transaction each."""
CALLS: dict[str, Callable[[UnitFactory, UUID, Clock, Services], None]] = {
    "path": lambda units, subject, clock, _: path_jobs.make(units, subject, clock),
    "notify": lambda units, subject, clock, services: deliveries.deliver(units, subject, clock, services.courier),
    "weather": lambda units, subject, clock, services: weather_calls.ask(units, subject, clock, services.weather),
}
"""Jobs that call other hosts or compute for minutes, with no transaction open meanwhile."""
RUN_JOBS = frozenset({"seal", "analyse", REANALYSE})
log = structlog.get_logger()


def register_tasks(app: Celery, units: Callable[[], UnitFactory], services: Services) -> None:
    """Give every task its body."""
    for name in (*ACTIONS, *CALLS):
        app.task(name=PREFIX + name, bind=True)(_body(name, units, services))


def _body(name: str, units: Callable[[], UnitFactory], services: Services) -> Callable[[Task, str], None]:
    def run(task: Task, subject: str) -> None:
        """The action, with the subject in every log line."""
        started = time.monotonic()
        with bound_contextvars(task=name, subject=subject, task_id=task.request.id):
            try:
                carry_out(units(), name, UUID(subject), lambda: datetime.now(UTC), services)
            except UnavailableError as error:
                log.warning("task_postponed", code=error.code)
            except NotFoundError as error:
                log.info("task_subject_gone", code=error.code)
            except Exception:
                log.exception("task_failed")
                raise
            else:
                log.info("task_done", seconds=round(time.monotonic() - started, 3))

    return run


def carry_out(units: UnitFactory, name: str, subject: UUID, clock: Clock, services: Services) -> None:
    """Do one job. A run's tries are counted before it begins, so that one that kills its process is counted too.

    UnavailableError when the database could not do it now: no try is counted for that.
    """
    if name in CALLS:
        CALLS[name](units, subject, clock, services)
        return
    if name in RUN_JOBS:
        with units() as unit:
            progress.begin_job(unit, subject, name, clock())
    try:
        _act(units, ACTIONS[name], subject, clock)
    except UnavailableError:
        if name in RUN_JOBS:
            with units() as unit:
                progress.postpone_job(unit, subject, name)
        raise


def _act(units: UnitFactory, action: Action, subject: UUID, clock: Clock) -> None:
    """One transaction around the action; once more where the database ended it. After a deadlock there is nothing to wait for."""
    for tries_left in reversed(range(TRIES)):
        try:
            with units() as unit:
                action(unit, subject, clock())
        except UnavailableError as error:
            if not tries_left:
                raise
            time.sleep(0 if error.code == "database_deadlock" else RETRY_S)
        else:
            return
