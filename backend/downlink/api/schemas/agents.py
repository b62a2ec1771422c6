"""Agents and enrolments."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Body, SaidMoment, Shape
from downlink.domain.fleet.enrolment import AGENT_NAME
from downlink.domain.moment import Moment

AgentStatus = Literal[
    "idle", "preparing", "ready", "running", "restoring", "restored", "uploading", "blocked", "unknown"
]


AgentName = Annotated[
    str,
    Field(
        pattern=f"^{AGENT_NAME}$",
        description="Name that people will see: letters, digits, `.`, `_` and `-`, at most 63",
        examples=["viasat-client"],
    ),
]


class SpoolEntry(Shape):
    run_id: UUID
    attempt: int
    chunks: int


class AgentPause(Shape):
    by: str = Field(description="Who paused the agent")
    until: Moment | None = Field(description="Null: until somebody resumes it")
    why: str | None


class PauseBody(Body):
    until: SaidMoment | None = Field(default=None, description="Null: until somebody resumes it")
    why: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class Agent(Shape):
    id: UUID
    name: str
    version: str
    protocol: int = Field(description="The version of the agent protocol that it spoke last")
    is_too_old: bool = Field(description="It must be upgraded: its version of the protocol is no longer served")
    status: AgentStatus = Field(description="What the agent said last; `unknown` before its first poll")
    is_online: bool = Field(description="Heard within the last minute, or measuring and silent by design")
    detail: str | None
    pause: AgentPause | None = Field(
        description="Set on this server, while it holds; what the owner paused on the host is in `detail` of a `blocked` agent"
    )
    rival: str | None = Field(
        default=None,
        description="Set for an hour after a second host used this agent's identity: both are named, and what to do",
    )
    run_id: UUID | None
    progress: dict[str, float] | None = Field(description="`{elapsed_s, bytes}` or `{chunks_done, chunks_total}`")
    spool: list[SpoolEntry] = Field(description="Runs with chunks not yet uploaded")
    host: dict[str, Any] | None = Field(description="Facts and capabilities, as in the agent protocol's join request")
    links: list[str] = Field(description="Names of the links that this agent is an end of")
    last_seen_at: Moment | None
    created_at: Moment
    revoked_at: Moment | None


class AgentList(Shape):
    items: list[Agent]
    total: int


class AgentProgram(Shape):
    arch: Literal["amd64", "arm64"]
    is_here: bool = Field(description="Whether this server has the program for it")


class AgentPrograms(Shape):
    items: list[AgentProgram]
    how: str | None = Field(description="How to get those that are missing; null when none is")


class EnrolmentBody(Body):
    name: AgentName
    expires_in_minutes: Annotated[int, Field(ge=1, le=1440)] = 60


class Enrolment(Shape):
    """A single-use right to join; the token is shown only once."""

    token: str
    name: str
    install_commands: str = Field(description="Fetch the agent's program and check it")
    command: str = Field(description="The line that lets the host join, complete as it is")
    service_commands: str = Field(description="Start the agent now and at every boot, under systemd")
    expires_at: Moment
