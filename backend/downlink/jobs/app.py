"""The Celery application: its settings, and how jobs are sent. What only sends them loads none of what they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celery import Celery

from downlink.process.settings import Settings
from downlink.storage.unit import Job

PREFIX = "downlink."
SOFT_LIMIT_S, HARD_LIMIT_S = 300, 330
JOB_EXPIRES_S = 120  # the tick sends again what is older


def make_celery(settings: Settings) -> Celery:
    """The application, without its tasks. Tasks are found due in PostgreSQL; the queue only says: now.

    So a message is a hint, acknowledged when a process takes it up: what is lost with the process or with the queue is
    found and sent again by the tick.
    """
    app = Celery("downlink", broker=settings.queue)
    app.conf.update(
        task_default_queue="jobs",
        task_acks_late=False,
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,  # a job waits in the queue, where every worker sees it, not behind a long one
        worker_enable_prefetch_count_reduction=False,
        task_ignore_result=True,
        task_soft_time_limit=SOFT_LIMIT_S,
        task_time_limit=HARD_LIMIT_S,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_hijack_root_logger=False,
        worker_enable_remote_control=False,
        broker_transport="downlink.jobs.queue:Transport",
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,  # however long the queue is away
        # Without socket_timeout a publish on a dead connection waits for ever.
        broker_transport_options={"socket_timeout": 10, "socket_connect_timeout": 5},
        timezone="UTC",
    )
    return app


def sender(app: Celery) -> Callable[[Sequence[Job]], None]:
    """Sends jobs by name, for a unit's edge. Nothing is waited for: a job that cannot be sent now is found by the tick."""

    def send(jobs: Sequence[Job]) -> None:
        for name, subject in jobs:
            app.send_task(PREFIX + name, [str(subject)], expires=JOB_EXPIRES_S, retry=False)

    return send
