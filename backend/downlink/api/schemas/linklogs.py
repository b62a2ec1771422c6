"""What an emulated link did during a run, by its own log."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Shape, with_listed
from downlink.domain.results.metric import LINKED, LOST


class LinkCauses(Shape):
    """Bytes lost in each step, by cause."""

    queue_full: list[int]
    early_drop: list[int]
    random_loss: list[int]
    outage: list[int]
    handover: list[int]
    thinned: list[int]
    path_change: list[int]


class LinkWay(Shape):
    """One way of an emulated link, in steps."""

    waiting_bytes: list[int] = Field(description="The most that waited for the hop in the step")
    rate_bps: list[float] = Field(description="The hop's rate, mean over the step")
    delivered_bps: list[float]
    delay_ms: list[float] = Field(description="Behind the hop, mean over the step")
    gap_s: list[float] = Field(description="Time in handover gaps")
    outage_s: list[float] = Field(description="Time in outages, whether or not a packet met them")
    lost_bytes: LinkCauses


class LinkWays(Shape):
    down: LinkWay = Field(description="To the receiver")
    up: LinkWay


@with_listed(LINKED, float | None)
class LinkPhase(Shape):
    """What the link did in a phase, on the way to the receiver. Null where its log does not cover the phase."""


@with_listed(LOST, float | None)
class FlowLoss(Shape):
    """What the link lost of a flow on the way to its receiver. Null for a flow that the link did not count."""

    flow: int


class LinkCourse(Shape):
    """An emulated link's log, thinned for a plot: no peak of the queue and no loss is left out."""

    run_id: UUID
    time_s: list[float] = Field(description="Where each step begins, from the run's zero")
    end_s: float
    path_changes_s: list[float] = Field(
        description="When another path through satellites began, from the run's zero; none for a link without one"
    )
    ways: LinkWays
    phases: dict[str, LinkPhase] = Field(
        description="By phase or window; empty until the run is analysed by this version"
    )
    flows: list[FlowLoss] = Field(description="Empty where the log broke off: not everything was counted")
