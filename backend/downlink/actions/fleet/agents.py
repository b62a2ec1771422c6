"""Agents join and are revoked."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from downlink.actions.fleet import instances
from downlink.actions.people.secrets import AGENT, ENROLMENT, hash_secret, make_secret
from downlink.domain.errors import ConflictError, DeniedError, InvalidError, NotFoundError
from downlink.domain.fleet.agent import AgentStatus, why_not_served
from downlink.domain.fleet.instance import Instance
from downlink.domain.people.access import Actor
from downlink.storage.fleet import agent_store
from downlink.storage.notices.events import add_event
from downlink.storage.people import access_store
from downlink.storage.runs import active_runs
from downlink.storage.runs.planned import wake_links_of
from downlink.storage.tables import Agent, Enrolment
from downlink.storage.unit import Unit


def create_enrolment(unit: Unit, name: str, minutes: int, now: datetime, *, actor: Actor) -> tuple[Enrolment, str]:
    """A single-use token to join with. ConflictError when an agent has the name, long before the host would hear it."""
    _refuse_taken(agent_store.find_by_name(unit, name))
    token = make_secret(ENROLMENT)
    row = access_store.add_enrolment(unit, hash_secret(token), now, now + timedelta(minutes=minutes), actor.account_id)
    access_store.audit(unit, now, actor, "create_enrolment", name, row.id)
    return row, token


def join(
    unit: Unit, token: str, name: str, version: str, protocol: int, host: dict[str, Any], now: datetime
) -> tuple[Agent, str]:
    """Enrol an agent; a revoked agent's name may be taken again, and its links find it under it.

    ConflictError, before the token is used, for an agent of another version of the protocol.
    """
    if refusal := why_not_served(protocol):
        raise refusal
    if not access_store.use_enrolment(unit, hash_secret(token), now):
        raise DeniedError(
            "enrolment_wrong",
            "This enrolment token was used, has expired or is unknown; create another one on the agents page.",
        )
    agent = agent_store.find_by_name(unit, name)
    _refuse_taken(agent)
    secret = make_secret(AGENT)
    facts = {"secret_hash": hash_secret(secret), "version": version, "protocol": protocol, "host": host}
    facts["boot_id"] = host["boot_id"]
    if agent is None:
        agent = Agent(name=name, created_at=now, status="unknown", spool=[], **facts)
        agent_store.add_agent(unit, agent)
    for key, value in {
        **facts,
        "revoked_at": None,
        "status": "unknown",
        "run_id": None,
        "spool": [],
        "instance": None,
        "rival": None,
    }.items():
        setattr(agent, key, value)
    access_store.audit(unit, now, Actor("agent", name, agent.id), "join", name, agent.id)
    add_event(unit, now, "agent", {"agent": name, "agent_status": "unknown"})
    return agent, secret


def _refuse_taken(agent: Agent | None) -> None:
    if agent is not None and agent.revoked_at is None:
        raise ConflictError(
            "agent_name_taken", f"An agent {agent.name} already exists; choose another name, or revoke it first."
        )


def revoke_agent(unit: Unit, agent_id: UUID, now: datetime, *, actor: Actor) -> None:
    """Its next call is refused. A run in its hands must be cancelled first."""
    agent = _get(unit, agent_id)
    if active_runs.run_of_agent(unit, agent.name):
        raise ConflictError("agent_busy", f"{agent.name} is in a run; cancel the run or wait for its end.")
    agent.revoked_at = now
    access_store.audit(unit, now, actor, "revoke_agent", agent.name, agent.id)
    add_event(unit, now, "agent", {"agent": agent.name, "agent_status": "unknown", "detail": "revoked"})


def pause_agent(
    unit: Unit, agent_id: UUID, until: datetime | None, why: str | None, now: datetime, *, actor: Actor
) -> None:
    """Pause an agent until then, or until somebody resumes it: it begins no run, and a run under way ends as planned.

    InvalidError for a moment that has passed.
    """
    if until is not None and until <= now:
        raise InvalidError("pause_over", "A pause ends later than now; leave `until` out for one without an end.")
    agent = _get(unit, agent_id)
    agent.paused_by, agent.paused_until, agent.pause_why = actor.name, until, why
    _note_pause(unit, agent, "pause_agent", now, actor)


def resume_agent(unit: Unit, agent_id: UUID, now: datetime, *, actor: Actor) -> None:
    """End this server's pause. What the owner paused on the host goes on: only the owner ends it."""
    agent = _get(unit, agent_id)
    if agent_store.pause_of(agent, now) is None:
        raise ConflictError("agent_not_paused", _why_not_paused(agent))
    agent.paused_by = agent.paused_until = agent.pause_why = None
    _note_pause(unit, agent, "resume_agent", now, actor)
    wake_links_of(unit, [agent.name])


def _note_pause(unit: Unit, agent: Agent, verb: str, now: datetime, actor: Actor) -> None:
    pause = agent_store.pause_of(agent, now)
    detail = str(pause) if pause else agent.detail
    access_store.audit(unit, now, actor, verb, agent.name, agent.id)
    add_event(unit, now, "agent", {"agent": agent.name, "agent_status": agent.status, "detail": detail})


def _why_not_paused(agent: Agent) -> str:
    if agent.status == AgentStatus.BLOCKED:
        return f"Nobody paused {agent.name} here: {agent.detail}. Only its owner can end that, on the host."
    return f"{agent.name} is not paused."


def _get(unit: Unit, agent_id: UUID) -> Agent:
    """NotFoundError for one that was revoked, too."""
    agent = agent_store.find_agent(unit, agent_id, is_locked=True)
    if agent is None or agent.revoked_at is not None:
        raise NotFoundError("agent_not_found", f"There is no agent {agent_id}.")
    return agent


def note_protocol(unit: Unit, secret: str, protocol: int) -> ConflictError | None:
    """Keep which version of the protocol an agent speaks; why it is not served, or None. It does not count as heard."""
    authenticate(unit, secret, is_locked=True).protocol = protocol
    return why_not_served(protocol)


def authenticate(unit: Unit, secret: str, shown: Instance | None = None, *, is_locked: bool = False) -> Agent:
    """The agent of this secret. DeniedError tells a revoked one to stop, UnavailableError another start of it to wait.

    shown: which start speaks; a poll is asked by `instances.admit`. is_locked: for those who will change the agent and its run: the
    agent's row comes first, so that no two wait for each other.
    """
    agent = agent_store.find_by_secret(unit, hash_secret(secret), is_locked=is_locked)
    if agent is None:
        raise DeniedError("agent_unknown", "This agent's secret is no longer valid; it must join again.")
    instances.check(agent, shown)
    return agent
