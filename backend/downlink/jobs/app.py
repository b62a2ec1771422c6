"""The Celery application: its settings, how jobs are sent, and how a worker is started."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celery import Celery
from celery.signals import setup_logging, worker_process_shutdown

from downlink.jobs.tasks import PREFIX, register_tasks
from downlink.logs import configure_logs
from downlink.settings import Settings
from downlink.storage.unit import Job, UnitFactory, open_units
from downlink.tracestore import TraceStore

SOFT_LIMIT_S, HARD_LIMIT_S = 300, 330
JOB_EXPIRES_S = 120  # the tick sends again what is older


def make_celery(settings: Settings) -> Celery:
    """The application with its tasks. Tasks are found due in PostgreSQL; the queue only says: now.

    So a message is a hint, acknowledged when a process takes it up: what is lost with the process or with the queue is
    found and sent again by the tick.
    """
    app = Celery("downlink", broker=settings.redis_url.get_secret_value())
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
    register_tasks(app, _unit_opener(app, settings))
    return app


def sender(app: Celery) -> Callable[[Sequence[Job]], None]:
    """Sends jobs by name, for a unit's edge. Nothing is waited for: a job that cannot be sent now is found by the tick."""

    def send(jobs: Sequence[Job]) -> None:
        for name, subject in jobs:
            app.send_task(PREFIX + name, [str(subject)], expires=JOB_EXPIRES_S, retry=False)

    return send


def _unit_opener(app: Celery, settings: Settings) -> Callable[[], UnitFactory]:
    """Units of this process: connections must not be shared across a fork, so that they are made at the first task."""
    opened: list[UnitFactory] = []

    def units() -> UnitFactory:
        if not opened:
            opened.append(open_units(settings.database, 2, sender(app), TraceStore.of(settings)))
        return opened[0]

    @worker_process_shutdown.connect(weak=False)
    def close(**_: object) -> None:
        while opened:
            opened.pop().close()

    return units


def run_worker(settings: Settings, concurrency: int = 2) -> None:
    """Carry out jobs until SIGTERM; those under way are finished first. SystemExit where the worker could not do its work."""
    _own_logs(settings)
    options = ["--concurrency", str(concurrency), "--pool", "prefork"]
    quiet = ["--loglevel", settings.log_level, "--without-gossip", "--without-mingle", "--without-heartbeat"]
    try:
        make_celery(settings).worker_main(["worker", *options, *quiet])
    except SystemExit as end:
        if end.code:
            raise


def _own_logs(settings: Settings) -> None:
    """Keep Celery from setting up logging of its own."""

    @setup_logging.connect(weak=False)
    def configure(**_: object) -> None:
        configure_logs(settings)

    configure_logs(settings)
