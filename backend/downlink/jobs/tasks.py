"""The tasks: ids in, a unit of work, one action."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

import structlog
from celery import Celery, Task
from structlog.contextvars import bound_contextvars

from downlink.actions import analyse, chunks, conductor, reports, sweeps
from downlink.domain.errors import NotFoundError, UnavailableError
from downlink.storage.unit import Unit, UnitFactory

PREFIX = "downlink."
TICK = "tick"
MAX_RETRIES = 3
Action = Callable[[Unit, UUID, datetime], None]
ACTIONS: dict[str, Action] = {
    "seal": chunks.seal,
    "analyse": analyse.analyse_run,
    "report": reports.refresh_report,
    sweeps.JOB: sweeps.sweep_part,
}
log = structlog.get_logger()


def register_tasks(app: Celery, units: Callable[[], UnitFactory]) -> None:
    """Give every task its body."""

    @app.task(name=PREFIX + TICK)
    def tick() -> None:
        try:
            conductor.tick(units(), datetime.now(UTC))
        except UnavailableError as error:
            log.warning("tick_skipped", code=error.code)

    for name, action in ACTIONS.items():
        app.task(name=PREFIX + name, bind=True, max_retries=MAX_RETRIES)(_body(name, action, units))


def _body(name: str, action: Action, units: Callable[[], UnitFactory]) -> Callable[[Task, str], None]:
    def run(task: Task, subject: str) -> None:
        """One transaction around the action, with the subject in every log line."""
        started = time.monotonic()
        with bound_contextvars(task=name, subject=subject, task_id=task.request.id):
            try:
                with units()() as unit:
                    action(unit, UUID(subject), datetime.now(UTC))
            except UnavailableError as error:
                # Away for a while: seconds are worth waiting here, anything longer is the tick's to find.
                raise task.retry(exc=error, countdown=2) from error
            except NotFoundError as error:
                log.info("task_subject_gone", code=error.code)
            except Exception:
                log.exception("task_failed")
                raise
            else:
                log.info("task_done", seconds=round(time.monotonic() - started, 3))

    return run
