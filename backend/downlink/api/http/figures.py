"""Prometheus figures from the database and the queue, read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import structlog
from prometheus_client import CollectorRegistry, Gauge, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from redis import Redis, RedisError
from starlette.datastructures import State

from downlink.api.http.disk_room import RoomFound
from downlink.api.http.slots import Slots
from downlink.api.http.waiters import Waiting
from downlink.domain.errors import UnavailableError
from downlink.domain.runs.run import FINAL, RunState
from downlink.views.server_state import AgentFigures, ServerFigures, server_figures

JOBS_QUEUE = "jobs"
QUEUE_S = 2.0
NAMED_AGENTS = 1_000
"""Agents up to which each is named. With more only their totals are given: each name is several series for as long
as the monitoring keeps them."""
log = structlog.get_logger()


class ServerCollector(Collector):
    """Every figure that is the same in each api process; with several, take the greatest."""

    def __init__(self, state: State, redis_url: str) -> None:
        """state: the application's, with its units and its clock."""
        self._state = state
        self._redis_url = redis_url

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Nothing: a registry that knows no names before asks for none when the figures are registered."""
        return ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        figures = self._read()
        yield _plain("downlink_database_up", "Whether the database answers", figures is not None)
        if figures:
            yield from _families(figures)
            yield _weather(figures, is_on=self._state.settings.weather_url is not None)
        yield from _room(self._state.room.look())
        depth = self._queue_depth()
        yield _plain("downlink_queue_up", "Whether the queue answers", depth is not None)
        if depth is not None:
            yield _plain("downlink_queue_jobs", "Hints of jobs that wait for a worker", depth)

    def _read(self) -> ServerFigures | None:
        try:
            with self._state.units(is_read_only=True) as unit:
                return server_figures(unit, self._state.clock())
        except UnavailableError as error:
            log.warning("figures_unread", code=error.code)
            return None

    def _queue_depth(self) -> int | None:
        times = {"socket_timeout": QUEUE_S, "socket_connect_timeout": QUEUE_S}
        try:
            with Redis.from_url(self._redis_url, **times) as redis:
                return int(redis.llen(JOBS_QUEUE))
        except RedisError:
            return None


def watch_process(registry: CollectorRegistry, streams: Slots, waiting: Waiting) -> None:
    """Register this process's own figures: memory, processor time, descriptors, event streams and polls."""
    ProcessCollector(registry=registry)
    held = Gauge("downlink_event_streams", "Open event streams", registry=registry)
    held.set_function(lambda: streams.total)
    polls = Gauge("downlink_held_polls", "Agents whose poll is held until there is an order", registry=registry)
    polls.set_function(lambda: waiting.agents)


def _families(figures: ServerFigures) -> Iterator[GaugeMetricFamily]:
    yield _plain("downlink_tick_age_seconds", "Since the conductor's last pass", figures.tick_age_s)
    unfinished = {str(state): figures.unfinished_runs.get(state, 0) for state in RunState if state not in FINAL}
    yield _by("downlink_runs_unfinished", "Runs planned and under way", "state", unfinished)
    yield _ended(figures)
    yield from _jobs(figures)
    yield _by("downlink_campaigns", "Campaigns by state", "state", figures.campaigns)
    yield from _agents(figures.agents)
    yield _plain("downlink_database_bytes", "Size of the database", figures.database_bytes)


def _weather(figures: ServerFigures, *, is_on: bool) -> GaugeMetricFamily:
    """Return figures of weather places. What was asked before the service was switched off does not count."""
    text = "Places for which a weather service is asked; failing: something is wrong since the last time"
    places = {state: count if is_on else 0 for state, count in figures.weather_places.items()}
    return _by("downlink_weather_places", text, "state", places)


def _room(room: RoomFound) -> Iterator[GaugeMetricFamily]:
    yield _plain("downlink_accepting", "Whether there is room for samples and imports", room.reason is None)
    free = {disk.folder: disk.free_bytes for disk in room.disks if disk.free_bytes is not None}
    yield _by("downlink_disk_free_bytes", "Room on a watched disk", "folder", free)
    least = {disk.folder: disk.least_bytes for disk in room.disks}
    yield _by("downlink_disk_least_bytes", "With less room nothing more is accepted", "folder", least)


def _ended(figures: ServerFigures) -> GaugeMetricFamily:
    name, text = (
        "downlink_runs_ended_last_hour",
        "Runs that ended within the last hour; reason: why one is not complete",
    )
    family = GaugeMetricFamily(name, text, labels=["state", "reason"])
    for state in FINAL:
        if all(count.state != state for count in figures.ended_runs):
            family.add_metric([state, ""], 0)
    for count in figures.ended_runs:
        family.add_metric([count.state, count.reason], count.runs)
    return family


def _jobs(figures: ServerFigures) -> Iterator[GaugeMetricFamily]:
    due = {job.job: job.runs for job in figures.due_jobs}
    tries = {job.job: job.tries for job in figures.due_jobs}
    yield _by("downlink_jobs_due", "Runs whose samples wait to be sealed or analysed", "kind", due)
    yield _by("downlink_job_tries", "Most tries that one of these jobs has taken", "kind", tries)


def _agents(agents: Iterable[AgentFigures]) -> Iterator[GaugeMetricFamily]:
    every = list(agents)
    totals = {
        "online": sum(agent.is_online for agent in every),
        "offline": sum(not agent.is_online for agent in every),
        "blocked": sum(agent.is_blocked for agent in every),
        "too_old": sum(agent.is_too_old for agent in every),
    }
    yield _by("downlink_agents", "Agents that are online or not, that take no run, that are too old", "state", totals)
    if len(every) > NAMED_AGENTS:
        return
    online = {agent.name: agent.is_online for agent in every}
    yield _by("downlink_agent_online", "Whether the agent is heard, or silent by design", "agent", online)
    waiting = {agent.name: agent.waiting_chunks for agent in every}
    yield _by("downlink_agent_waiting_chunks", "Chunks on the agent's disk that are not uploaded", "agent", waiting)
    free = {agent.name: agent.spool_free_bytes for agent in every if agent.spool_free_bytes is not None}
    yield _by("downlink_agent_spool_free_bytes", "Room left on the agent's disk", "agent", free)


def _plain(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=value)


def _by(name: str, text: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family
