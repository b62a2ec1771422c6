"""Retention and removal of campaigns' data: rows name what is to be removed, and a job takes some runs at a time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from downlink.actions.campaigns.states import check_deletable
from downlink.domain.campaigns.campaign_state import ENDED
from downlink.domain.campaigns.retention import PARTS, Keep, Part
from downlink.domain.errors import ConflictError
from downlink.domain.people.access import Actor
from downlink.storage.campaigns import campaign_store, retention_store
from downlink.storage.campaigns.single_row import find_own, take_own
from downlink.storage.notices.events import add_event
from downlink.storage.people import access_store
from downlink.storage.tables import Campaign, Retention
from downlink.storage.unit import Unit

JOB = "remove_data"
RESEND = timedelta(minutes=7)
"""A pause longer than a worker lets a job run."""
AT_ONCE = 1
"""Campaigns of which something is removed at a time: jobs of runs must not wait behind it."""
RUNS_A_JOB = 20
ROWS_A_JOB = 500
DELETED_AT_ONCE = 100
"""Runs of a campaign that a request deletes by itself: more would keep its caller waiting."""
BY_RULE = "the campaign's rule"
RULE = Actor("server", BY_RULE)


def set_keep(unit: Unit, campaign_id: UUID, keep: Keep, now: datetime, *, actor: Actor, is_pinned: bool) -> None:
    """Set the rule. What has gone is gone; pinned, nothing more goes, and what is under way stops. InvalidError."""
    keep.check()
    campaign = campaign_store.find_campaign(unit, campaign_id)
    row = take_own(unit, Retention, campaign_id)
    row.traces_days, row.series_days, row.all_days = keep.traces_days, keep.series_days, keep.all_days
    row.is_pinned = is_pinned
    if is_pinned:
        row.going = row.ordered_by = row.sent_at = None
    access_store.audit(
        unit, now, actor, "set_retention", f"{_said(keep, is_pinned=is_pinned)}: {campaign.name}", campaign_id
    )


def _said(keep: Keep, *, is_pinned: bool) -> str:
    if is_pinned:
        return "pinned"
    known = [f"{part} {days} days" for part in PARTS if (days := keep.days(part)) is not None]
    return ", ".join(known) or "everything for good"


def order_removal(unit: Unit, campaign_id: UUID, part: Part, now: datetime, *, actor: Actor) -> None:
    """Have this part removed now; the tick begins it. ConflictError where it is pinned, has not ended, or has nothing of it."""
    campaign = campaign_store.find_campaign(unit, campaign_id)
    row = take_own(unit, Retention, campaign_id)
    if row.is_pinned:
        raise ConflictError("campaign_pinned", "This campaign is pinned: nothing of it is removed. Unpin it first.")
    if campaign.state not in ENDED or retention_store.is_busy(unit, campaign_id):
        message = "This campaign has not ended, or is being analysed; try again when all of its runs have ended."
        raise ConflictError("campaign_under_way", message)
    if part is not Part.ALL and not retention_store.has_left(unit, campaign_id, part):
        raise ConflictError("nothing_to_remove", f"This campaign has no {_NAMES[part]} any more.")
    _begin(row, part, f"{actor.kind} {actor.name}")
    access_store.audit(unit, now, actor, "remove_data", f"{part} of {campaign.name}", campaign_id)


_NAMES = {Part.TRACES: "raw traces", Part.SERIES: "series", Part.ALL: "data"}


def _begin(row: Retention, part: Part, ordered_by: str) -> None:
    """Order a removal. One under way continues if it removes more."""
    if row.going is None or PARTS.index(part) > PARTS.index(Part(row.going)):
        row.going, row.ordered_by, row.sent_at = part, ordered_by, None


def delete(unit: Unit, campaign_id: UUID, now: datetime, *, actor: Actor) -> int:
    """Delete a draft or an ended campaign; how many runs of it are left for the workers, 0 where it is gone. ConflictError."""
    check_deletable(unit, campaign_id)
    runs = retention_store.count_runs(unit, campaign_id)
    if runs <= DELETED_AT_ONCE:
        campaign_store.delete_campaign(unit, campaign_id)
        return 0
    row = take_own(unit, Retention, campaign_id)
    _begin(row, Part.ALL, f"{actor.kind} {actor.name}")
    name = campaign_store.find_campaign(unit, campaign_id).name
    access_store.audit(unit, now, actor, "remove_data", f"{Part.ALL} of {name}", campaign_id)
    return runs


def apply_rules(unit: Unit, now: datetime) -> None:
    """Mark the data of campaigns whose rules let it go now."""
    for campaign, row in retention_store.ruled(unit):
        if (part := _due_part(unit, campaign, row, now)) is not None:
            _begin(row, part, BY_RULE)
            access_store.audit(unit, now, RULE, "remove_data", f"{part} of {campaign.name}", campaign.id)


def next_due(unit: Unit, now: datetime) -> Sequence[UUID]:
    """Return the campaigns whose marked data workers remove next, and those whose job was lost."""
    free = AT_ONCE - retention_store.count_going(unit, now - RESEND)
    due = retention_store.going(unit, now - RESEND, free) if free > 0 else []
    for row in due:
        row.sent_at = now
    return [row.campaign_id for row in due]


def _due_part(unit: Unit, campaign: Campaign, row: Retention, now: datetime) -> Part | None:
    """Return the part that its rule lets go now, unless it has gone since the campaign ended."""
    part = retention_store.keep_of(row).due(campaign.ended_at, now)
    if part is None or _has_gone(campaign, row, part) or retention_store.is_busy(unit, campaign.id):
        return None
    return part


def _has_gone(campaign: Campaign, row: Retention, part: Part) -> bool:
    if row.gone is None or row.gone_at is None or campaign.ended_at is None or row.gone_at < campaign.ended_at:
        return False
    return PARTS.index(Part(row.gone)) >= PARTS.index(part)


def remove_some(unit: Unit, campaign_id: UUID, now: datetime) -> None:
    """Remove what is to go of some runs, and send the next job; after the last one note that it is done. Safe to run twice.

    A campaign that was pinned meanwhile, or is under way again, keeps what it still has.
    """
    row = find_own(unit, Retention, campaign_id, is_locked=True)
    if row is None or row.going is None:
        return
    part = Part(row.going)
    if campaign_store.find_campaign(unit, campaign_id).state not in ENDED:
        row.going = row.ordered_by = row.sent_at = None
    elif taken := _take_runs(unit, campaign_id, part):
        retention_store.remove(unit, taken, part, now)
        _tell(unit, campaign_id, part, taken, now)
        row.sent_at = now
        unit.enqueue(JOB, campaign_id)
    elif not retention_store.has_left(unit, campaign_id, part):
        _finish(unit, row, part, now)


def _take_runs(unit: Unit, campaign_id: UUID, part: Part) -> Sequence[UUID]:
    """The next runs; of those that are to go altogether, the many that have no data follow in greater parts."""
    with_data = Part.SERIES if part is Part.ALL else part
    taken = retention_store.take_runs(unit, campaign_id, with_data, RUNS_A_JOB)
    return taken or (retention_store.take_runs(unit, campaign_id, part, ROWS_A_JOB) if part is Part.ALL else ())


def _tell(unit: Unit, campaign_id: UUID, part: Part, taken: Sequence[UUID], now: datetime) -> None:
    if part is Part.ALL:
        add_event(
            unit,
            now,
            "campaign",
            {"campaign_state": campaign_store.find_campaign(unit, campaign_id).state},
            campaign_id,
        )
        return
    for run_id in taken:
        add_event(unit, now, "reanalysis", {}, campaign_id, run_id)


def _finish(unit: Unit, row: Retention, part: Part, now: datetime) -> None:
    if part is Part.ALL:
        campaign_store.delete_campaign(unit, row.campaign_id)
        return
    row.gone, row.gone_at = part, now
    row.going = row.ordered_by = row.sent_at = None


def refuse_being_deleted(unit: Unit, campaign_id: UUID) -> None:
    """ConflictError where workers are deleting the campaign."""
    row = find_own(unit, Retention, campaign_id)
    if row and row.going == Part.ALL:
        message = "This campaign is being deleted. Pin it (its page, Data) to keep what is still there."
        raise ConflictError("campaign_being_deleted", message)


def refuse_without_traces(unit: Unit, campaign_id: UUID, what: str) -> None:
    """ConflictError `traces_removed` where raw traces of a campaign are gone, or going. what: that is to be done with them."""
    gone, row = retention_store.removed(unit, campaign_id), find_own(unit, Retention, campaign_id)
    if gone.traces_runs and gone.traces_at:
        since = gone.traces_at.date().isoformat()
        told = f"The raw traces of {gone.traces_runs} of this campaign's runs were removed from {since} on"
    elif row and row.going:
        told = "The raw traces of this campaign are just being removed"
    else:
        return
    message = f"{told}: {what}. What was computed of them before stays."
    raise ConflictError("traces_removed", message, {"runs": gone.traces_runs})
