"""Circumstances of a campaign that its readers must know: its links, the hosts' kernels, and the settings that could not be made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from downlink.domain.doc import Doc
from downlink.storage.campaigns import campaign_store
from downlink.storage.results import circumstance_store
from downlink.storage.results.circumstance_store import CarriedFlows, HostKernel, LinkFacts, UnsetSetting, WentWay
from downlink.storage.unit import Unit


@dataclass(frozen=True)
class Circumstances:
    """Counts are over all runs of which something is known, failed ones too. No agent is named: roles are."""

    campaign_id: UUID
    kernels: list[HostKernel]
    unset: list[UnsetSetting]
    flows: list[CarriedFlows]
    not_restored: Annotated[int, Doc("Runs after which a host differed from what it was before")]
    ways: Annotated[list[WentWay], Doc("Of the runs whose agents said it")]
    implausible: Annotated[int, Doc("Runs that say what their link cannot give")]
    left_out: Annotated[int, Doc("Runs that people left out of all numbers")]


@dataclass(frozen=True)
class CampaignLinks:
    """A link whose facts changed while the campaign went on is here with each of its states."""

    items: list[LinkFacts]
    total: int


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


def links_of(unit: Unit, campaign_id: UUID) -> CampaignLinks:
    """The campaign's links as its runs were planned with; as registered where nothing is planned yet. NotFoundError for no campaign."""
    spec = campaign_store.campaign_of(campaign_store.find_campaign(unit, campaign_id))
    measured = circumstance_store.link_facts(unit, campaign_id)
    missing = [name for name in spec.links if name not in {each.name for each in measured}]
    facts = [*measured, *circumstance_store.registered_links(unit, missing)]
    return CampaignLinks(facts, len(facts))
