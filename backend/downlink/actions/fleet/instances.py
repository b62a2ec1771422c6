"""An identity is of one host at a time (docs/agent-protocol.md section 2): the second one is refused, and both are named."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from downlink.domain.errors import UnavailableError
from downlink.domain.fleet.agent import AgentStatus, is_present
from downlink.domain.fleet.instance import Instance, both_named, takes_over
from downlink.domain.moment import moment_text
from downlink.storage.notices.events import add_event
from downlink.storage.runs import active_runs
from downlink.storage.tables import Agent
from downlink.storage.unit import Unit

TOLD_FOR = timedelta(hours=1)
"""Time for which pages and previews name a second host after it was heard."""


def admit(
    unit: Unit, agent: Agent, shown: Instance | None, address: str, hostname: str | None, now: datetime
) -> UnavailableError | None:
    """Note which start of the agent polls; why it is refused, or None. The caller commits, then raises."""
    if shown is None:
        return None
    takes = takes_over(agent.instance, shown, _is_there(unit, agent, now))
    if takes:
        agent.instance = _written(shown, address, hostname, now)
        if agent.rival and agent.rival["id"] == shown.id:
            agent.rival = None
        return None
    if takes is None:
        if hostname and agent.instance and agent.instance["hostname"] != hostname:
            agent.instance = {**agent.instance, "hostname": hostname}
        return None
    return _refuse(unit, agent, shown, address, hostname, now)


def _refuse(
    unit: Unit, agent: Agent, shown: Instance, address: str, hostname: str | None, now: datetime
) -> UnavailableError:
    assert agent.instance is not None  # noqa: S101 — only one who is there is in the way
    known = agent.rival if agent.rival and agent.rival["id"] == shown.id else None
    rival = known or _written(shown, address, hostname, now)
    sentence = both_named(agent.name, agent.instance, rival)
    if known is None:
        add_event(unit, now, "agent", {"agent": agent.name, "agent_status": agent.status, "detail": sentence})
    agent.rival = {**rival, "seen_at": moment_text(now)}
    return in_use(sentence)


def in_use(sentence: str) -> UnavailableError:
    return UnavailableError("identity_in_use", sentence, {"retry_after_s": 10})


def check(agent: Agent, shown: Instance | None) -> None:
    """UnavailableError for what another start of the agent sends beside its polls: it keeps it, and tries again."""
    current = agent.instance
    if shown is None or current is None or shown.id == current["id"] or shown.seat == current["seat"]:
        return
    raise in_use(
        f"Another host uses the identity of agent {agent.name}: {current['hostname']} at {current['address']}."
    )


def rival_of(agent: Agent, now: datetime) -> str | None:
    """Describe a second host with this identity that was heard recently; None if there is none."""
    if agent.instance is None or agent.rival is None:
        return None
    seen_at = datetime.fromisoformat(agent.rival["seen_at"])
    return both_named(agent.name, agent.instance, agent.rival) if now - seen_at < TOLD_FOR else None


def _is_there(unit: Unit, agent: Agent, now: datetime) -> bool:
    run = active_runs.run_of_agent(unit, agent.name)
    is_in_run = run is not None and run[0].id == agent.run_id
    return is_present(AgentStatus(agent.status), agent.last_seen_at, is_in_run, now)


def _written(shown: Instance, address: str, hostname: str | None, now: datetime) -> dict[str, Any]:
    return {"id": shown.id, "seat": shown.seat, "hostname": hostname, "address": address, "since": moment_text(now)}
