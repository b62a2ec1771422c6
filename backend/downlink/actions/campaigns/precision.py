"""A campaign ends when its numbers are exact enough: the cycles that have not begun are cancelled."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import structlog

from downlink.actions.runs import progress
from downlink.domain.campaigns.campaign_state import UNDER_WAY
from downlink.domain.campaigns.precision import is_precise, unneeded
from downlink.domain.runs.run import Ending, Reason, RunState
from downlink.storage.campaigns import campaign_store, precision_store
from downlink.storage.runs.planned import lock_planned_runs
from downlink.storage.unit import Unit

NOT_NEEDED = Ending(
    RunState.CANCELLED,
    Reason.PRECISE_ENOUGH,
    "Not needed: every condition's interval is as narrow as the campaign asks for.",
)
log = structlog.get_logger()


def look(unit: Unit, campaign_id: UUID, now: datetime) -> None:
    """Cancel what has not begun of a campaign under way whose means are known as exactly as it asks. Safe to run again.

    Its last run's end wants the report that completes it, as ever.
    """
    row = campaign_store.find_campaign(unit, campaign_id)
    if row.origin != "measured" or row.state not in UNDER_WAY:
        return
    campaign = campaign_store.campaign_of(row)
    until = campaign.until
    if until is None or not is_precise(until, campaign.sides, precision_store.values(unit, campaign_id, until)):
        return
    planned = lock_planned_runs(unit, campaign_id)  # runs before their campaign: everyone locks in this order
    if campaign_store.find_campaign(unit, campaign_id, is_locked=True).state not in UNDER_WAY:
        return
    # Read after the locks: of a cycle whose first run was leased just now the others are not cancelled.
    places = precision_store.places(unit, campaign_id)
    ids = list(places)
    dropped = planned & {ids[index] for index in unneeded(list(places.values()))}
    progress.end_planned(unit, campaign_id, dict.fromkeys(dropped, NOT_NEEDED), now)
    if dropped:
        log.info("campaign_precise_enough", campaign_id=str(campaign_id), cancelled=len(dropped))
