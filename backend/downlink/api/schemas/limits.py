"""What held flows back (docs/api.md, section Limits). For documentation and types: answers are encoded once and sent as they are."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Interval, Shape, with_listed
from downlink.domain.results.metric import LIMITS

Column = list[float | None]


@with_listed(LIMITS, Column)
class LimitSeconds(Shape):
    """Ratios 0 to 1 of each second; null where the kernel does not count these times or samples are missing."""

    bin_s: list[int]


@with_listed(LIMITS, float)
class LimitShares(Shape):
    """Ratios of the flow's time, 1 together."""


class BufferAdvice(Shape):
    """What the path asks for."""

    bdp_bytes: int = Field(description="The measured bandwidth-delay product")
    is_lower_bound: bool = Field(description="A buffer held the flow for most seconds: the path has room for more")
    max_bytes: int = Field(description="What the maxima of tcp_rmem and tcp_wmem should at least be")


class FlowLimits(Shape):
    flow: int
    cc: str
    seconds: LimitSeconds
    shares: LimitShares | None
    advice: BufferAdvice | None


class RunLimits(Shape):
    run_id: UUID
    flows: list[FlowLimits] = Field(description="Those that have been analysed")


@with_listed(LIMITS, Interval)
class LimitEstimates(Shape):
    """Mean ratios over runs."""


class LimitGroup(Shape):
    """One flow of one condition on one link, over its complete runs."""

    link: str
    condition: str
    flow: int
    cc: str
    runs: int
    shares: LimitEstimates
    advice: BufferAdvice | None = Field(description="The largest of its runs")


class LinkAdvice(BufferAdvice):
    """The largest advice over the groups of a link, ready to type."""

    link: str
    rmem: str = Field(description="For net.ipv4.tcp_rmem at the receiver", examples=["4096 131072 26869760"])
    wmem: str = Field(description="For net.ipv4.tcp_wmem at the sender", examples=["4096 16384 26869760"])
    sentence: str


class CampaignLimits(Shape):
    campaign_id: UUID
    groups: list[LimitGroup]
    advice: list[LinkAdvice]
