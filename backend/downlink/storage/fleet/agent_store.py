"""Agents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select, text

from downlink.domain.fleet.agent import Pause
from downlink.storage.tables import Agent, Link
from downlink.storage.unit import Unit


def list_agents(unit: Unit, limit: int, offset: int) -> tuple[Sequence[Agent], int]:
    total = unit.session.scalar(select(func.count()).select_from(Agent)) or 0
    return unit.session.scalars(select(Agent).order_by(Agent.name).limit(limit).offset(offset)).all(), total


def find_agent(unit: Unit, agent_id: UUID, *, is_locked: bool = False) -> Agent | None:
    query = select(Agent).where(Agent.id == agent_id)
    return unit.session.scalar(query.with_for_update() if is_locked else query)


def find_by_name(unit: Unit, name: str) -> Agent | None:
    return unit.session.scalar(select(Agent).where(Agent.name == name).with_for_update())


def find_by_secret(unit: Unit, secret_hash: bytes, *, is_locked: bool = False) -> Agent | None:
    query = select(Agent).where(Agent.secret_hash == secret_hash, Agent.revoked_at.is_(None))
    return unit.session.scalar(query.with_for_update() if is_locked else query)


_SEEN = """
    WITH seen AS (
        SELECT agents.id, said.at FROM unnest(CAST(:names AS text[]), CAST(:moments AS timestamptz[])) AS said (name, at)
        JOIN agents USING (name) ORDER BY agents.id FOR UPDATE OF agents SKIP LOCKED
    )
    UPDATE agents SET last_seen_at = greatest(last_seen_at, seen.at) FROM seen WHERE agents.id = seen.id
"""  # those whose row is held are just being heard


def note_seen(unit: Unit, seen: Mapping[str, datetime]) -> None:
    """Store when each of these agents was seen last."""
    unit.session.execute(text(_SEEN), {"names": list(seen), "moments": list(seen.values())})


def agents_by_name(unit: Unit, names: Iterable[str]) -> dict[str, Agent]:
    """Return those of the named agents that exist and are not revoked."""
    query = select(Agent).where(Agent.name.in_(set(names)), Agent.revoked_at.is_(None))
    return {agent.name: agent for agent in unit.session.scalars(query)}


def pause_of(agent: Agent, now: datetime) -> Pause | None:
    """The pause from this server that holds now."""
    pause = Pause.of(agent.paused_by, agent.paused_until, agent.pause_why)
    return pause if pause and pause.holds(now) else None


def add_agent(unit: Unit, agent: Agent) -> None:
    unit.session.add(agent)
    unit.session.flush()


def links_by_agent(unit: Unit) -> dict[str, list[str]]:
    """Agent name to the names of the links it is an end or a relay of."""
    links_of: dict[str, list[str]] = defaultdict(list)
    for name, receiver, further, senders, relays in unit.session.execute(
        select(Link.name, Link.receiver, Link.further_receivers, Link.senders, Link.relays).order_by(Link.name)
    ):
        for agent in (receiver, *further, *senders, *relays):
            links_of[agent].append(name)
    return links_of
