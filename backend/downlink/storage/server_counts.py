"""Counts for those who watch the server. Each reads an index or a small table, however many runs there are."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import BigInteger, and_, case, cast, func, select

from downlink.storage.tables import Agent, Campaign, Run, WeatherPlace
from downlink.storage.unit import Unit


class EndedRuns(NamedTuple):
    """reason: empty for complete runs."""

    state: str
    reason: str
    runs: int


class DueJobs(NamedTuple):
    """tries: the most that one of them has taken."""

    job: str
    runs: int
    tries: int


class WatchedAgent(NamedTuple):
    """spool: what is on its disk and not uploaded. spool_free_bytes: None where it did not say. is_paused: on this server."""

    name: str
    status: str
    protocol: int
    run_id: UUID | None
    last_seen_at: datetime | None
    spool: list[dict[str, Any]]
    spool_free_bytes: int | None
    is_paused: bool


def unfinished_runs(unit: Unit) -> dict[str, int]:
    """Count the planned and active runs, by state."""
    query = select(Run.state, func.count()).where(Run.ended_at.is_(None)).group_by(Run.state)
    return {row[0]: row[1] for row in unit.session.execute(query)}


def ended_runs(unit: Unit, since: datetime) -> list[EndedRuns]:
    reason = func.coalesce(Run.reason, "")
    query = select(Run.state, reason, func.count()).where(Run.ended_at >= since).group_by(Run.state, reason)
    return [EndedRuns(*row) for row in unit.session.execute(query)]


def due_jobs(unit: Unit) -> list[DueJobs]:
    query = (
        select(func.coalesce(Run.needs, ""), func.count(), func.max(Run.tries))
        .where(Run.needs.is_not(None))
        .group_by(Run.needs)
    )
    return [DueJobs(*row) for row in unit.session.execute(query)]


def campaigns_by_state(unit: Unit) -> dict[str, int]:
    query = select(Campaign.state, func.count()).group_by(Campaign.state)
    return {row[0]: row[1] for row in unit.session.execute(query)}


def watched_agents(unit: Unit, now: datetime) -> list[WatchedAgent]:
    """Every agent that is not revoked, by name."""
    free = cast(Agent.host["spool_free_bytes"].astext, BigInteger)
    is_paused = and_(Agent.paused_by.is_not(None), func.coalesce(Agent.paused_until > now, True))
    reported = (
        Agent.name,
        Agent.status,
        Agent.protocol,
        Agent.run_id,
        Agent.last_seen_at,
        Agent.spool,
        free,
        is_paused,
    )
    query = select(*reported).where(Agent.revoked_at.is_(None)).order_by(Agent.name)
    return [WatchedAgent(*row) for row in unit.session.execute(query)]


def database_bytes(unit: Unit) -> int:
    return unit.session.scalar(select(func.pg_database_size(func.current_database()))) or 0


def weather_places(unit: Unit) -> dict[str, int]:
    """Count the positions for which a weather service is asked, by state: `ok`, `failing`."""
    state = case((WeatherPlace.problem.is_(None), "ok"), else_="failing")
    counts = {str(name): places for name, places in unit.session.execute(select(state, func.count()).group_by(state))}
    return {"ok": 0, "failing": 0} | counts
