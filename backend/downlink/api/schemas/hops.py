"""The hops of flows that pass relays."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Shape

Column = list[float | None] | None


class HopTotals(Shape):
    """Over the whole flow; null for what nobody counted."""

    sent_bytes: int | None = Field(description="Sent over the hop, repeats among it")
    arrived_bytes: int | None = Field(description="Payload that came for the first time")
    lost_packets: int | None
    repaired_bytes: int | None = Field(description="Sent again on this hop")
    hit_bytes: int | None = Field(description="Answered by its downstream end from its cache")


class HopCourse(Shape):
    """Each list has a value for each step, null where there is none; the list is null for what is not recorded."""

    place: int | None = Field(
        description="Its number from the sender; null over satellites for the hop to the receiver, whose number changes"
    )
    begins_at: str | None = Field(description="The agent at its upstream end; null: a site of an emulated link")
    ends_at: str | None
    nodes: list[int | None] | None = Field(
        description="Which satellite ends it, by its number in the path; below 0: a station or a router"
    )
    asked_bps: Column = Field(description="Rate asked of its upstream end")
    arrived_bps: Column = Field(description="Payload that came over it")
    backlog_bytes: Column = Field(description="The most that waited at its upstream end")
    queue_ms: Column = Field(description="One-way delay above its least")
    rtt_ms: Column
    lost_packets: Column
    repaired_bytes: Column
    totals: HopTotals


class FlowHops(Shape):
    flow: int
    kind: Literal["split", "intcp"]
    is_summed: bool = Field(description="True: over the sites of an emulated link, the agent gave sums of all of them")
    is_of_content: bool = Field(
        description="True: other flows ask for the same bytes, and what the sender and relays counted is of all these flows together"
    )
    time_s: list[float] = Field(description="Where each step begins, from the run's zero")
    end_s: float
    hops: list[HopCourse] = Field(description="From the sender to the receiver")


class RunHops(Shape):
    run_id: UUID
    flows: list[FlowHops] = Field(description="Those that pass relays")
