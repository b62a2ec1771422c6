"""The periodic jobs, in one list: the tick takes each step, and workers carry out the jobs that it sends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from downlink.actions.campaigns import retention
from downlink.actions.links import paths, weather_due
from downlink.actions.notices import notices
from downlink.actions.results import sweep_parts
from downlink.actions.traces import folders
from downlink.domain.links.weather_source import WeatherSource
from downlink.domain.watch import Pulse
from downlink.storage import expiry
from downlink.storage.heartbeats import has_elapsed, is_due
from downlink.storage.unit import Unit


@dataclass(frozen=True, slots=True)
class Periodic:
    """A step of the tick, taken at most once in `every_s` seconds.

    next_due: changes rows, and returns the ids for which the job called `name` is sent; None where the step does all itself.
    The job's action is in `jobs/tasks.py`, because the conductor must not import what workers compute with.
    """

    name: str
    every_s: float
    next_due: Callable[[Unit, datetime], Iterable[UUID] | None]

    def may_be_due(self, due: Mapping[str, bool], pulses: Mapping[str, Pulse], now: datetime) -> bool:
        """Return whether the step may have something to do. due: the answer of `storage.due`; pulses: of `heartbeats`."""
        if self.every_s:
            return has_elapsed(pulses.get(self.name), now, timedelta(seconds=self.every_s))
        return due.get(self.name, True)

    def take(self, unit: Unit, now: datetime) -> None:
        """Take the step if it is due, and send its jobs."""
        if self.every_s and not is_due(unit, self.name, now, timedelta(seconds=self.every_s)):
            return
        for subject in self.next_due(unit, now) or ():
            unit.enqueue(self.name, subject)


def periodic_steps(source: WeatherSource | None) -> tuple[Periodic, ...]:
    """Return the steps in their order. source: the weather service that an admin has named."""
    weather = (Periodic("weather", 0, partial(weather_due.next_due, source=source)),) if source else ()
    return (
        Periodic(sweep_parts.JOB, 0, sweep_parts.next_due),
        Periodic("path", 0, paths.next_due),
        Periodic(folders.JOB, 60, folders.next_due),
        Periodic("apply_retention", 60, retention.apply_rules),
        Periodic(retention.JOB, 0, retention.next_due),
        Periodic("collect", 0, notices.collect),
        Periodic("watch_agents", 10, notices.watch_agents),
        Periodic("notify", 0, notices.next_due),
        *weather,
        Periodic("prune", 60, expiry.prune),
    )
