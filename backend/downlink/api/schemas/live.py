"""The data of a server-sent event."""

from __future__ import annotations

from uuid import UUID

from downlink.api.schemas.agents import AgentStatus
from downlink.api.schemas.base import Shape
from downlink.api.schemas.campaigns import CampaignStateName
from downlink.api.schemas.runs import LiveFlow, RunStateName
from downlink.domain.notices.event import LiveKind
from downlink.views.results.sweeps import SweepStateName


class LiveEvent(Shape):
    """`event: run` sets run_id, run_state, reason, detail; `progress` elapsed_s, bytes and flows, where agents
    say it, or chunks_done and chunks_total;
    `campaign` campaign_state; `report` campaign_id alone; `reanalysis` run_id;
    `unexpected` run_id, expectation (its place in the campaign's list, from 1) and detail; `sweep` sweep_id, state, done and total;
    `agent` agent, agent_status and detail; `service` is_conducting. Absent keys do not apply."""

    campaign_id: UUID | None = None
    run_id: UUID | None = None
    run_state: RunStateName | None = None
    campaign_state: CampaignStateName | None = None
    reason: str | None = None
    detail: str | None = None
    elapsed_s: float | None = None
    bytes: int | None = None
    flows: list[LiveFlow] | None = None
    chunks_done: int | None = None
    chunks_total: int | None = None
    sweep_id: UUID | None = None
    state: SweepStateName | None = None
    done: int | None = None
    total: int | None = None
    expectation: int | None = None
    agent: str | None = None
    agent_status: AgentStatus | None = None
    is_conducting: bool | None = None


class LiveMessage(Shape):
    """One server-sent event; `data` is JSON, `id` is where a stream can resume."""

    event: LiveKind
    id: str
    data: LiveEvent
