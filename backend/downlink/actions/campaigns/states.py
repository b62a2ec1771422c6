"""Changes of a campaign's state. The conductor needs no more of campaigns than this, and loads no more."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import structlog

from downlink.domain.campaigns.campaign_state import ENDED, UNDER_WAY, CampaignState, may_follow
from downlink.domain.campaigns.trigger import is_over
from downlink.domain.errors import ConflictError
from downlink.storage import tables
from downlink.storage.campaigns import campaign_store, trigger_store
from downlink.storage.notices.events import add_event
from downlink.storage.runs import plan_store
from downlink.storage.unit import Unit

log = structlog.get_logger()


def set_state(unit: Unit, row: tables.Campaign, state: CampaignState, now: datetime) -> None:
    if not may_follow(CampaignState(row.state), state):
        raise ConflictError("campaign_state", f"A {row.state} campaign cannot become {state}.")
    row.state = state
    add_event(unit, now, "campaign", {"campaign_state": state}, row.id)


def complete_campaign(unit: Unit, campaign_id: UUID, now: datetime) -> None:
    """End a campaign all of whose runs have ended; it must be called with their report, so that who sees the end sees all."""
    row = campaign_store.find_campaign(unit, campaign_id, is_locked=True)
    if row.state in UNDER_WAY and plan_store.unfinished_in_campaign(unit, row.id) == 0 and not _waits(unit, row, now):
        row.ended_at = now
        set_state(unit, row, CampaignState.COMPLETE, now)
        log.info("campaign_complete", campaign_id=str(row.id))


def _waits(unit: Unit, row: tables.Campaign, now: datetime) -> bool:
    """Return whether its trigger may fire again."""
    trigger = campaign_store.campaign_of(row).trigger if row.origin == "measured" else None
    return trigger is not None and not is_over(trigger, trigger_store.fired_before(unit, row.id, now), now)


def check_deletable(unit: Unit, campaign_id: UUID) -> None:
    """ConflictError for one that is under way."""
    row = campaign_store.find_campaign(unit, campaign_id, is_locked=True)
    if row.state not in (CampaignState.DRAFT, *ENDED) or plan_store.unfinished_in_campaign(unit, row.id):
        raise ConflictError("campaign_under_way", _under_way(row))


def _under_way(row: tables.Campaign) -> str:
    if row.origin == "imported":
        return "The imported files are still being analysed; try again in a minute."
    return "This campaign is under way; cancel it, and wait until its hosts are restored."
