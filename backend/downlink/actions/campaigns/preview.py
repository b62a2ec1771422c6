"""The plan of a campaign as it would be now: from what links, agents and other campaigns are at this moment."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from uuid import UUID

from downlink.actions.fleet.instances import rival_of
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.conflict import Booking, Conflict
from downlink.domain.campaigns.plan import Plan, plan_campaign, usable_links
from downlink.domain.errors import ConflictError
from downlink.domain.fleet.agent import PROTOCOL, AgentStatus, is_present
from downlink.domain.fleet.control import read_host_controls
from downlink.domain.fleet.hosts import Host, find_refused
from downlink.domain.fleet.owner_limits import find_disallowed
from downlink.domain.links.link import Link
from downlink.domain.moment import moment_text
from downlink.storage import tables
from downlink.storage.fleet.agent_store import agents_by_name, pause_of
from downlink.storage.links import link_store
from downlink.storage.runs import leases, plan_store
from downlink.storage.unit import Unit


def refuse_blocked(plan: Plan, *, even_if_offline: bool = False) -> None:
    """ConflictError `plan_blocked` when the plan cannot be launched."""
    blocking = plan.blocking(even_if_offline=even_if_offline)
    if blocking or not plan.runs:
        message = " ".join(conflict.message for conflict in blocking) or "This campaign plans no run."
        raise ConflictError("plan_blocked", message, {"conflicts": [asdict(conflict) for conflict in blocking]})


def plan_now(
    unit: Unit, campaign: Campaign, now: datetime, known: Mapping[str, Link]
) -> tuple[Plan, Mapping[str, Host]]:
    """The plan beside what other campaigns have planned, and what is known of the hosts."""
    bookings = [
        Booking(
            label=f"campaign {run.campaign}",
            link=run.link,
            agents=frozenset(run.agents),
            is_host_wide=run.is_host_wide,
            start_s=max(0.0, (run.due_at - now).total_seconds()),
            end_s=max(0.0, (run.due_at - now).total_seconds()) + run.expected_s,
        )
        for run in plan_store.booked_runs(unit)
    ]
    wanted = {agent for link in known.values() for agent in link.agents}
    wanted.update(agent for booking in bookings for agent in booking.agents)
    agents = agents_by_name(unit, wanted)
    boots = {name: agent.boot_id for name, agent in agents.items()}
    controls = {name: read for name, agent in agents.items() if (read := read_host_controls(agent.host))}
    measuring = leases.holding_runs(unit)
    absent = {name: why for name in wanted if (why := _absence(name, agents.get(name), measuring, now))}
    rivals = {name: rival_of(agent, now) for name, agent in agents.items()}
    hosts = {
        name: Host(agents[name].host if name in agents else {}, absent.get(name), rival=rivals.get(name))
        for name in wanted
    }
    plan = plan_campaign(
        campaign, known, bookings, boots, controls, absent, now, link_store.allowances(unit, set(known), now)
    )
    usable = usable_links(campaign, known)
    refused = find_refused(campaign, usable, hosts)
    disallowed = find_disallowed(campaign, usable, hosts, plan.runs, now)
    return replace(plan, conflicts=(*plan.conflicts, *refused, *disallowed)), hosts


def _absence(name: str, agent: tables.Agent | None, measuring: Container[UUID], now: datetime) -> Conflict | None:
    """Return why the agent can take no run now. measuring: the runs that hold leases."""
    if agent is None:
        return Conflict(
            "agent_missing",
            f"{name} has not joined, or was revoked; it must join before a launch.",
            True,
            place="links",
        )
    if agent.protocol < PROTOCOL:
        message = f"{name} is too old for this server; install the server's downlink-agent on its host and restart it."
        return Conflict("agent_too_old", message, True, is_waivable=True, place="links")
    if agent.status == AgentStatus.BLOCKED:
        return Conflict("agent_blocked", f"{name} takes no run: {agent.detail}", True, is_waivable=True, place="links")
    if pause := pause_of(agent, now):
        message = f"{name} takes no run: {pause}. Resume it there, or launch all the same: its runs wait."
        return Conflict("agent_paused", message, True, is_waivable=True, place="links")
    if not is_present(AgentStatus(agent.status), agent.last_seen_at, agent.run_id in measuring, now):
        heard = f"last heard {moment_text(agent.last_seen_at)}" if agent.last_seen_at else "never heard"
        message = f"{name} is offline ({heard}); start `downlink-agent run` on its host."
        return Conflict("agent_offline", message, True, is_waivable=True, place="links")
    return None
