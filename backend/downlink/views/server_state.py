"""The state of the server in numbers, for a monitoring system."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf
from uuid import UUID

from downlink.domain.fleet.agent import PROTOCOL, AgentStatus, is_present
from downlink.domain.watch import CONDUCTOR
from downlink.storage import heartbeats, server_counts
from downlink.storage.runs import leases
from downlink.storage.unit import Unit

RECENT = timedelta(hours=1)
"""Ended runs are counted over this time: long enough for a campaign of a run each hour to show."""


@dataclass(frozen=True, slots=True)
class AgentFigures:
    """waiting_chunks: on its disk, not uploaded, when it was heard last."""

    name: str
    is_online: bool
    is_blocked: bool
    is_too_old: bool
    waiting_chunks: int
    spool_free_bytes: int | None


@dataclass(frozen=True, slots=True)
class ServerFigures:
    """tick_age_s: since the conductor's last pass, infinite before the first. ended_runs: of the last hour.

    weather_places: those for which a weather service is asked, by whether something is wrong.
    """

    tick_age_s: float
    unfinished_runs: Mapping[str, int]
    ended_runs: Sequence[server_counts.EndedRuns]
    due_jobs: Sequence[server_counts.DueJobs]
    campaigns: Mapping[str, int]
    agents: Sequence[AgentFigures]
    database_bytes: int
    weather_places: Mapping[str, int]


def server_figures(unit: Unit, now: datetime) -> ServerFigures:
    pulse = heartbeats.find_pulse(unit, CONDUCTOR)
    measuring = leases.holding_runs(unit)
    return ServerFigures(
        tick_age_s=(now - pulse.at).total_seconds() if pulse else inf,
        unfinished_runs=server_counts.unfinished_runs(unit),
        ended_runs=server_counts.ended_runs(unit, now - RECENT),
        due_jobs=server_counts.due_jobs(unit),
        campaigns=server_counts.campaigns_by_state(unit),
        agents=[_agent(row, measuring, now) for row in server_counts.watched_agents(unit, now)],
        database_bytes=server_counts.database_bytes(unit),
        weather_places=server_counts.weather_places(unit),
    )


def _agent(row: server_counts.WatchedAgent, measuring: Container[UUID | None], now: datetime) -> AgentFigures:
    is_online = is_present(AgentStatus(row.status), row.last_seen_at, row.run_id in measuring, now)
    return AgentFigures(
        name=row.name,
        is_online=is_online,
        is_blocked=is_online and (row.status == AgentStatus.BLOCKED or row.is_paused),
        is_too_old=row.protocol < PROTOCOL,
        waiting_chunks=sum(entry["chunks"] for entry in row.spool),
        spool_free_bytes=row.spool_free_bytes,
    )
