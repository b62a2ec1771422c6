"""Agents as people see them; their own channel is agent_channel.py."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter

from downlink.actions import agents
from downlink.api import present
from downlink.api.deps import Config, Limit, Now, Offset, Reader, ReadUnit, UnitOfWork, Writer, problems
from downlink.api.schemas.agents import AgentList, Enrolment, EnrolmentBody
from downlink.storage import agents as rows

router = APIRouter(tags=["agents"])


@router.get("/agents", responses=problems(401))
def list_agents(caller: Reader, unit: ReadUnit, now: Now, limit: Limit = 100, offset: Offset = 0) -> AgentList:
    found, total = rows.list_agents(unit, limit, offset)
    stands_at = rows.links_by_agent(unit)
    return AgentList(items=[present.agent(row, stands_at.get(row.name, []), now) for row in found], total=total)


@router.post("/agents/enrolments", status_code=201, responses=problems(401, 403))
def create_enrolment(body: EnrolmentBody, caller: Writer, unit: UnitOfWork, settings: Config, now: Now) -> Enrolment:
    """A single-use token and the command that joins a host with it."""
    row, token = agents.create_enrolment(unit, body.expires_in_minutes, now, actor=caller.username)
    url = settings.agent_url or settings.public_url
    return Enrolment(token=token, command=f"downlink-agent join {url} {token}", expires_at=row.expires_at)


@router.delete("/agents/{agent_id}", status_code=204, responses=problems(401, 403, 404, 409))
def revoke_agent(agent_id: UUID, caller: Writer, unit: UnitOfWork, now: Now) -> None:
    """Revoke an agent's secret: its next call is refused, and it restores its host and stops."""
    agents.revoke_agent(unit, agent_id, now, actor=caller.username)
