"""A campaign's states: what may follow what, and that every list of them is the same."""

from __future__ import annotations

from typing import get_args

import pytest

from downlink.api.schemas.campaigns import CampaignStateName
from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.campaign_state import ENDED, UNDER_WAY, CampaignState, may_follow
from tests.fixtures.lab import CAMPAIGN


def after(before: CampaignState) -> set[CampaignState]:
    return {state for state in CampaignState if may_follow(before, state)}


def test_a_campaign_starts_once_and_is_opened_again_for_reruns_alone() -> None:
    assert after(CampaignState.DRAFT) == after(CampaignState.COMPLETE) == {CampaignState.RUNNING}
    assert after(CampaignState.CANCELLED) == set()


@pytest.mark.parametrize("before", sorted(UNDER_WAY))
def test_a_campaign_under_way_may_pause_go_on_and_end(before: CampaignState) -> None:
    others = UNDER_WAY - {before} | ENDED
    assert after(before) == others


def test_the_api_names_every_state() -> None:
    assert set(get_args(CampaignStateName)) == set(CampaignState)


def test_a_stored_campaign_is_read_as_it_was_written() -> None:
    campaign = campaign_from_dict(CAMPAIGN)
    assert Campaign.from_dict(campaign.to_dict()) == campaign
    spaced = {**CAMPAIGN, "timetable": {"duration_h": 1, "every_s": 60, "order": "shuffled"}}
    assert Campaign.from_dict(campaign_from_dict(spaced).to_dict()) == campaign_from_dict(spaced)


def test_what_an_older_version_did_not_store_has_its_default() -> None:
    campaign = campaign_from_dict(CAMPAIGN)
    stored = {key: value for key, value in campaign.to_dict().items() if key not in ("sampling", "primary_metrics")}
    assert Campaign.from_dict(stored) == campaign
