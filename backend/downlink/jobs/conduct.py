"""The conductor: one tick a second, and one as soon as somebody orders work, by one process at a time."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from select import select

import structlog

from downlink.actions import conductor
from downlink.domain.errors import UnavailableError
from downlink.domain.links.weather_source import WeatherSource
from downlink.jobs.mailbox import Mailbox
from downlink.process.logs import configure_logs
from downlink.process.settings import Settings
from downlink.process.spans import span
from downlink.storage.advisory_lock import StoppedError, open_units_in_turn, take_turn, wait_for_order
from downlink.storage.unit import Job, SendJobs, UnitFactory

TICK_S = 1.0
LEAST_PAUSE_S = 0.1
"""Pause between ticks at least: no more than ten a second, however many orders come."""
LOCK = "conductor"
log = structlog.get_logger()


class Stop:
    """A request to end. A pipe carries it, so that it ends every wait at once."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()

    def fileno(self) -> int:
        """Return the descriptor that can be read once the request is made."""
        return self._reader

    def request(self) -> None:
        os.write(self._writer, b".")

    def wait(self, seconds: float) -> bool:
        """Wait so long at most; return whether the request is made."""
        readable, _, _ = select([self], [], [], seconds)
        return bool(readable)


def run_conductor(settings: Settings) -> None:
    """Tick until SIGTERM or SIGINT. Any number may be started: one ticks, the others stand by."""
    configure_logs(settings)
    stop = Stop()
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, lambda *_: stop.request())
    send = Mailbox(_sender(settings))
    units = open_units_in_turn(settings.database, LOCK, send, stop.wait)
    source = settings.weather_source
    gc.freeze()  # what is loaded stays: a pass over many runs would look through it again and again
    try:
        while not stop.wait(0):
            with span("tick", settings):
                pause_s = _tick(units, source)
            _rest(units, pause_s, stop)
    except StoppedError:
        pass
    finally:
        units.close()


def _sender(settings: Settings) -> SendJobs:
    """Return what sends jobs. Celery is loaded with the first of them."""
    made: list[SendJobs] = []

    def send(jobs: Sequence[Job]) -> None:
        if not made:
            from downlink.jobs.app import make_celery, sender  # noqa: PLC0415

            made.append(sender(make_celery(settings)))
        made[0](jobs)

    return send


def _tick(units: UnitFactory, source: WeatherSource | None) -> float:
    """One pass; the seconds until the next one."""
    started = time.monotonic()
    try:
        take_turn(units)
        conductor.tick(units, datetime.now(UTC), source)
    except UnavailableError as error:
        log.warning("tick_skipped", code=error.code, detail=error.message)
    return max(0.0, started + TICK_S - time.monotonic())


def _rest(units: UnitFactory, seconds: float, stop: Stop) -> None:
    """Wait until the next pass is due or ordered."""
    least_s = min(seconds, LEAST_PAUSE_S)
    if stop.wait(least_s):
        return
    try:
        wait_for_order(units, seconds - least_s, stop.fileno())
    except UnavailableError:
        stop.wait(seconds - least_s)
