"""Circumstances of a campaign that its readers must know: its links, the hosts' kernels, and the settings that could not be made."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from downlink.storage.campaigns import campaign_store
from downlink.storage.results import circumstance_store
from downlink.storage.results.circumstance_store import Carried, Kernel, LinkFacts, Unset, Went
from downlink.storage.unit import Unit


@dataclass(frozen=True)
class Circumstances:
    """Counts are over all runs of which something is known, failed ones too. No agent is named: roles are."""

    campaign_id: UUID
    kernels: list[Kernel]
    unset: list[Unset]
    flows: list[Carried]
    not_restored: int
    ways: list[Went]
    implausible: int
    left_out: int


def circumstances(unit: Unit, campaign_id: UUID) -> Circumstances:
    """NotFoundError when there is no such campaign."""
    campaign_store.find_campaign(unit, campaign_id)
    return Circumstances(
        campaign_id,
        kernels=circumstance_store.kernels(unit, campaign_id),
        unset=circumstance_store.unset(unit, campaign_id),
        flows=circumstance_store.carried(unit, campaign_id),
        not_restored=circumstance_store.not_restored(unit, campaign_id),
        ways=circumstance_store.ways(unit, campaign_id),
        implausible=circumstance_store.implausible(unit, campaign_id),
        left_out=circumstance_store.left_out(unit, campaign_id),
    )


def links_of(unit: Unit, campaign_id: UUID) -> list[LinkFacts]:
    """The campaign's links as its runs were planned with; as registered where nothing is planned yet. NotFoundError for no campaign."""
    spec = campaign_store.campaign_of(campaign_store.find_campaign(unit, campaign_id))
    measured = circumstance_store.link_facts(unit, campaign_id)
    missing = [name for name in spec.links if name not in {each.name for each in measured}]
    return [*measured, *circumstance_store.registered_links(unit, missing)]
