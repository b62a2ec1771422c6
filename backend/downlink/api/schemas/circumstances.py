"""Under which circumstances a campaign was measured."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Shape
from downlink.api.schemas.links import OrbitName


class LinkFacts(Shape):
    """A link as its runs were planned with."""

    name: str
    nominal_rate_bps: int | None = Field(description="Null of imported files, which do not say it")
    base_rtt_ms: float
    is_emulated: bool | None
    orbit: OrbitName | None = Field(
        description="This and the next three: as registered now; null where the link is not"
    )
    operator: str | None
    profile: str | None
    time_zone: str | None


class CampaignLinks(Shape):
    """A link whose facts changed while the campaign went on is here with each of its states."""

    items: list[LinkFacts]
    total: int


class HostKernel(Shape):
    roles: list[str]
    kernel: str
    runs: int


class UnsetSetting(Shape):
    """Asked for, and not in force while runs went on."""

    roles: list[str]
    name: str
    asked: str
    found: str
    runs: int


class CarriedFlows(Shape):
    asked_cc: str
    actual_cc: str
    sampling: str | None = Field(description="`per_ack` or `polled`, as it was done")
    flows: int


class WentWay(Shape):
    """A way that runs of a link took. Another interface or first hop makes a group of its own in every number."""

    link: str
    receiver: str = Field(description="Interface and first hop of the receivers' packets; empty: not known")
    sender: str
    addresses: list[str] = Field(description="Under which senders saw the receivers")
    runs: int


class Circumstances(Shape):
    """Counts are over all runs of which something is known, failed ones too. No agent is named: roles are."""

    campaign_id: UUID
    kernels: list[HostKernel]
    unset: list[UnsetSetting]
    flows: list[CarriedFlows]
    not_restored: int = Field(description="Runs after which a host differed from what it was before")
    ways: list[WentWay] = Field(description="Of the runs whose agents said it")
    implausible: int = Field(description="Runs that say what their link cannot give")
    left_out: int = Field(description="Runs that people left out of all numbers")
