"""Agents as people see them; their own channel is agent_channel.py."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter

from downlink.actions.fleet import agents
from downlink.api.http import present
from downlink.api.http.deps import Config, Limit, Now, Offset, Reader, ReadUnit, UnitOfWork, may, problems
from downlink.api.schemas.agents import AgentList, Enrolment, EnrolmentBody, PauseBody
from downlink.domain.fleet.enrolment import install_commands, join_command, service_commands
from downlink.domain.people.access import Caller
from downlink.domain.people.permission import Verb
from downlink.storage.fleet import agent_store
from downlink.storage.runs import leases

router = APIRouter(tags=["agents"])


@router.get("/agents", responses=problems(401))
def list_agents(caller: Reader, unit: ReadUnit, now: Now, limit: Limit = 100, offset: Offset = 0) -> AgentList:
    """List enrolled agents: capabilities of the host, whether it is online, links it serves."""
    rows, total = agent_store.list_agents(unit, limit, offset)
    links_of = agent_store.links_by_agent(unit)
    measuring = leases.holding_runs(unit)
    items = [present.agent(row, links_of.get(row.name, []), measuring, now) for row in rows]
    return AgentList(items=items, total=total)


@router.post("/agents/enrolments", status_code=201, responses=problems(401, 403, 409))
def create_enrolment(
    body: EnrolmentBody,
    caller: Annotated[Caller, may(Verb.MANAGE_AGENTS)],
    unit: UnitOfWork,
    settings: Config,
    now: Now,
) -> Enrolment:
    """Create a single-use token, with the commands to run on the host that joins with it."""
    row, token = agents.create_enrolment(unit, body.name, body.expires_in_minutes, now, actor=caller.actor)
    return Enrolment(
        token=token,
        name=body.name,
        install_commands=install_commands(settings.download_url),
        command=join_command(settings.agents_url, token, body.name),
        service_commands=service_commands(settings.download_url),
        expires_at=row.expires_at,
    )


@router.delete("/agents/{agent_id}", status_code=204, responses=problems(401, 403, 404, 409))
def revoke_agent(
    agent_id: UUID, caller: Annotated[Caller, may(Verb.MANAGE_AGENTS)], unit: UnitOfWork, now: Now
) -> None:
    """Revoke an agent's secret: its next call is refused; it restores its host's settings and stops."""
    agents.revoke_agent(unit, agent_id, now, actor=caller.actor)


@router.put("/agents/{agent_id}/pause", status_code=204, responses=problems(401, 403, 404, 422))
def pause_agent(
    agent_id: UUID, body: PauseBody, caller: Annotated[Caller, may(Verb.PAUSE_AGENTS)], unit: UnitOfWork, now: Now
) -> None:
    """Stop new runs on this agent, until a time or until it is resumed. A run under way ends as planned."""
    agents.pause_agent(unit, agent_id, body.until, body.why, now, actor=caller.actor)


@router.delete("/agents/{agent_id}/pause", status_code=204, responses=problems(401, 403, 404, 409))
def resume_agent(agent_id: UUID, caller: Annotated[Caller, may(Verb.PAUSE_AGENTS)], unit: UnitOfWork, now: Now) -> None:
    """End a pause set on this server. A pause set by the host's owner ends on the host alone."""
    agents.resume_agent(unit, agent_id, now, actor=caller.actor)
