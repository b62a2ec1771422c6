"""The poll: an agent states what it does, and receives its order."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from downlink.domain.fleet.agent import PROTOCOL
from downlink.protocol.base import OLDEST, Attempt, Count, Measure, Message, Moment, Protocol, Sentence, Word
from downlink.protocol.facts import Host
from downlink.protocol.orders import AnyOrder

Status = Literal["idle", "preparing", "ready", "running", "restoring", "restored", "uploading", "blocked"]


class SpoolEntry(Message):
    run_id: UUID
    attempt: Attempt
    chunks: Count


class FlowProgress(Message):
    flow: Annotated[int, Field(ge=1, le=1000)]
    acked_bytes: Count
    rtt_us: Count
    cwnd_bytes: Count


class RunProgress(Message):
    elapsed_s: Measure
    bytes: Count
    flows: Annotated[list[FlowProgress], Field(max_length=64)] = Field(
        default=[], exclude_if=lambda flows: not flows, description="The agent's sending connections as they are now"
    )


class UploadProgress(Message):
    chunks_done: Count
    chunks_total: Count


class PollRequest(Message):
    protocol: Protocol = OLDEST
    status: Status
    run_id: UUID | None
    attempt: Attempt | None = None
    detail: Sentence | None
    reason: Annotated[Word | None, Field(exclude_if=lambda reason: reason is None)] = None
    progress: RunProgress | UploadProgress | None
    spool: Annotated[list[SpoolEntry], Field(max_length=10_000)]
    host: Host | None
    wait_s: Annotated[float, Field(ge=0, le=25)]


class PollResponse(Message):
    protocol: Protocol = PROTOCOL
    server_now: Moment
    order: AnyOrder | None
    hold_upload: Annotated[bool, Field(exclude_if=lambda hold: not hold)] = Field(
        default=False,
        description="A run holds a link that the upload crosses, or the host: it ends, and is asked for again",
    )
