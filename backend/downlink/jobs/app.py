"""The Celery application: settings, the tick's schedule, and how worker and beat are started."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celery import Celery
from celery.beat import Scheduler
from celery.signals import setup_logging, worker_process_shutdown

from downlink.jobs.tasks import PREFIX, TICK, register_tasks
from downlink.logs import configure_logs
from downlink.settings import Settings
from downlink.storage.unit import Job, UnitFactory, open_units

SOFT_LIMIT_S, HARD_LIMIT_S = 300, 330
VISIBILITY_S = 600  # longer than the hard limit, or a long task would run twice
JOB_EXPIRES_S = 120  # the tick sends again what is older
TICK_S = 1.0
QUEUES = ("ticks", "jobs")  # apart, so that a worker of its own keeps the tick from waiting behind long analyses


def make_celery(settings: Settings) -> Celery:
    """The application with its tasks. Tasks are found due in PostgreSQL; the queue only says: now."""
    app = Celery("downlink", broker=settings.redis_url.get_secret_value())
    app.conf.update(
        task_default_queue="jobs",
        task_routes={PREFIX + TICK: {"queue": "ticks"}},
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        task_ignore_result=True,
        task_soft_time_limit=SOFT_LIMIT_S,
        task_time_limit=HARD_LIMIT_S,
        worker_cancel_long_running_tasks_on_connection_loss=True,
        worker_hijack_root_logger=False,
        worker_enable_remote_control=False,
        broker_connection_retry_on_startup=True,
        # Without socket_timeout a publish on a dead connection waits for ever.
        broker_transport_options={
            "visibility_timeout": VISIBILITY_S,
            "socket_timeout": 10,
            "socket_connect_timeout": 5,
        },
        beat_schedule={TICK: {"task": PREFIX + TICK, "schedule": TICK_S, "options": {"expires": 2 * TICK_S}}},
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
            opened.append(open_units(settings.database_url.get_secret_value(), 2, sender(app)))
        return opened[0]

    @worker_process_shutdown.connect(weak=False)
    def close(**_: object) -> None:
        while opened:
            opened.pop().close()

    return units


def run_worker(settings: Settings, concurrency: int = 2, queues: Sequence[str] = QUEUES) -> None:
    """Work these queues off until SIGTERM; tasks under way are finished first."""
    _own_logs(settings)
    options = ["--queues", ",".join(queues), "--concurrency", str(concurrency), "--pool", "prefork"]
    quiet = ["--loglevel", settings.log_level, "--without-gossip", "--without-mingle", "--without-heartbeat"]
    make_celery(settings).worker_main(["worker", *options, *quiet])


def run_beat(settings: Settings) -> None:
    """Send the tick once a second until SIGTERM. The schedule is in memory: there is nothing to remember."""
    _own_logs(settings)
    make_celery(settings).Beat(scheduler_cls=Scheduler, loglevel=settings.log_level, quiet=True).run()


def _own_logs(settings: Settings) -> None:
    """Keep Celery from setting up logging of its own."""

    @setup_logging.connect(weak=False)
    def configure(**_: object) -> None:
        configure_logs(settings)

    configure_logs(settings)
