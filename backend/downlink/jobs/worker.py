"""The worker process: the Celery application with its tasks."""

from __future__ import annotations

import gc
from collections.abc import Callable

from celery import Celery
from celery.signals import setup_logging, worker_init, worker_process_shutdown

from downlink.courier.sender import Courier
from downlink.courier.weather import WeatherService
from downlink.jobs.app import make_celery, sender
from downlink.jobs.memory import keep_freed_memory
from downlink.jobs.tasks import Services, register_tasks
from downlink.process.logs import configure_logs
from downlink.process.settings import Settings
from downlink.storage.traces.objects import TraceStore
from downlink.storage.unit import UnitFactory, open_units

QUIET = {"without_gossip": True, "without_mingle": True, "without_heartbeat": True}
"""Workers have nothing to say to one another."""


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
    _share_loaded()
    keep_freed_memory()  # before the fork: all processes have it
    app = make_celery(settings)
    register_tasks(app, _unit_opener(app, settings), Services(Courier.of(settings), WeatherService.of(settings)))
    # Not by `worker_main`: it loads Celery's command line, 11 MB.
    worker = app.Worker(concurrency=concurrency, pool="prefork", loglevel=settings.log_level, **QUIET)
    worker.start()
    if worker.exitcode:
        raise SystemExit(worker.exitcode)


def _share_loaded() -> None:
    """Leave what is loaded before the fork to the end of all processes: to look through it would give each a copy of its own."""

    @worker_init.connect(weak=False)
    def freeze(**_: object) -> None:
        gc.collect()
        gc.freeze()


def _own_logs(settings: Settings) -> None:
    """Keep Celery from setting up logging of its own."""

    @setup_logging.connect(weak=False)
    def configure(**_: object) -> None:
        configure_logs(settings)

    configure_logs(settings)
