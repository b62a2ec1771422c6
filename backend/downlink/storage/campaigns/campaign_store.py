"""Campaigns with what their list and page show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, func, or_, select, update

from downlink.domain.campaigns.campaign import Campaign as DomainCampaign
from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.errors import NotFoundError
from downlink.domain.runs.run import Reason, RunState
from downlink.storage.runs.run_store import FINAL_NAMES
from downlink.storage.tables import Campaign, Report, Retention, Run
from downlink.storage.unit import Unit

IS_NEEDED = Run.reason.is_distinct_from(Reason.PRECISE_ENOUGH)
"""Condition of a run that `until` of the campaign's file did not make needless."""


@dataclass(frozen=True)
class Overview:
    """A campaign with counts over its runs, but for needless ones. slots: planned ones, whatever the number of attempts.

    being_removed: the part of its data that workers are removing.
    """

    campaign: Campaign
    counts: dict[str, int]
    slots: int
    slots_ended: int
    next_due_at: datetime | None
    report_at: datetime | None
    being_removed: str | None = None


def campaign_of(row: Campaign) -> DomainCampaign:
    """The stored campaign. Nothing else reads its spec by key."""
    return DomainCampaign.from_dict(row.spec)


def find_campaign(unit: Unit, campaign_id: UUID, *, is_locked: bool = False) -> Campaign:
    """NotFoundError when there is none. Locked campaigns are read again."""
    query = select(Campaign).where(Campaign.id == campaign_id)
    if is_locked:
        # A transaction that adds a row of the campaign holds its key: a stronger lock would wait for that, and two would
        # wait for each other.
        query = query.with_for_update(key_share=True).execution_options(populate_existing=True)
    campaign = unit.session.scalar(query)
    if campaign is None:
        raise NotFoundError("campaign_not_found", f"There is no campaign {campaign_id}.")
    return campaign


def find_quick_tests(unit: Unit, link: str) -> Campaign | None:
    """The campaign that keeps a link's quick tests; one that was cancelled takes no more."""
    query = select(Campaign).where(Campaign.quick_link == link, Campaign.origin == "measured")
    query = query.where(Campaign.state != CampaignState.CANCELLED).order_by(Campaign.created_at.desc())
    return unit.session.scalar(query.limit(1))


def reproducing(unit: Unit) -> list[UUID]:
    """Campaigns whose file names a published figure, the oldest first."""
    rows = unit.session.scalars(select(Campaign).order_by(Campaign.created_at, Campaign.id))
    return [row.id for row in rows if campaign_of(row).reproduces]


def get_overview(unit: Unit, campaign_id: UUID) -> Overview:
    return overviews(unit, [find_campaign(unit, campaign_id)])[0]


def overviews(unit: Unit, campaigns: Sequence[Campaign]) -> list[Overview]:
    """Return these campaigns with their counts, in their order."""
    unit.session.flush()
    ids = [campaign.id for campaign in campaigns]
    counts: dict[UUID, dict[str, int]] = defaultdict(dict)
    grouped = select(Run.campaign_id, Run.state, func.count()).where(Run.campaign_id.in_(ids), IS_NEEDED)
    for campaign_id, state, count in unit.session.execute(grouped.group_by(Run.campaign_id, Run.state)):
        counts[campaign_id][state] = count
    slots = _slots(unit, ids)
    due = select(Run.campaign_id, func.min(Run.due_at)).where(Run.campaign_id.in_(ids), Run.state == RunState.PLANNED)
    next_due = {row[0]: row[1] for row in unit.session.execute(due.group_by(Run.campaign_id))}
    computed = select(Report.campaign_id, Report.computed_at).where(Report.campaign_id.in_(ids))
    report_at = {row[0]: row[1] for row in unit.session.execute(computed)}
    going = select(Retention.campaign_id, Retention.going).where(Retention.campaign_id.in_(ids))
    removed = {row[0]: row[1] for row in unit.session.execute(going)}
    return [
        Overview(
            campaign,
            counts[campaign.id],
            *slots.get(campaign.id, (0, 0)),
            next_due.get(campaign.id),
            report_at.get(campaign.id),
            removed.get(campaign.id),
        )
        for campaign in campaigns
    ]


def _slots(unit: Unit, ids: list[UUID]) -> dict[UUID, tuple[int, int]]:
    """Return per campaign: how many slots its plan has, and at how many the last attempt has ended."""
    slot = (Run.campaign_id, Run.link, Run.cycle, Run.position)
    has_ended = func.bool_and(Run.state.in_(FINAL_NAMES)).label("has_ended")
    grouped = select(Run.campaign_id, has_ended).where(Run.campaign_id.in_(ids), IS_NEEDED).group_by(*slot).subquery()
    query = select(grouped.c.campaign_id, func.count(), func.count().filter(grouped.c.has_ended))
    return {row[0]: (row[1], row[2]) for row in unit.session.execute(query.group_by(grouped.c.campaign_id))}


def add_campaign(unit: Unit, campaign: Campaign) -> None:
    unit.session.add(campaign)
    unit.session.flush()


def delete_campaign(unit: Unit, campaign_id: UUID) -> None:
    unit.session.execute(delete(Campaign).where(Campaign.id == campaign_id))


def want_report(unit: Unit, campaign_id: UUID, sent_at: datetime | None = None) -> None:
    """Ask for a fresh report; several asks before it is made are one. sent_at: its job is sent already, so that the tick does not."""
    wanted = (
        update(Campaign)
        .where(Campaign.id == campaign_id)
        .values(report_wanted=Campaign.report_wanted + 1, report_sent_at=sent_at)
    )
    unit.session.execute(wanted)


def stale_reports(unit: Unit, now: datetime, resend: timedelta) -> Sequence[Campaign]:
    """Campaigns whose report is behind and not being made."""
    query = select(Campaign).outerjoin(Report, Report.campaign_id == Campaign.id)
    query = query.where(Campaign.report_wanted > func.coalesce(Report.version, 0))
    unsent = or_(Campaign.report_sent_at.is_(None), Campaign.report_sent_at < now - resend)
    return unit.session.scalars(
        query.where(unsent).with_for_update(of=Campaign, skip_locked=True, key_share=True)
    ).all()
