"""Current activity of a campaign, its next run, its end, and the bytes that it has carried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.campaigns.opening import Openings
from downlink.domain.campaigns.remaining import LeftOnLink, expected_end
from downlink.domain.campaigns.timetable import Timetable
from downlink.storage.campaigns import campaign_now as now
from downlink.storage.campaigns import campaign_store
from downlink.storage.campaigns.campaign_now import LinkPlan
from downlink.storage.links import link_store
from downlink.storage.runs.run_details import RunRow
from downlink.storage.runs.volumes import used_bytes
from downlink.storage.unit import Unit
from downlink.views.runs.waiting import find_waits


@dataclass(frozen=True)
class CampaignNow:
    """next: the first planned run on each link; waits: what those wait for whose time has come. ends_at: None unless it is running.

    used_bytes: carried so far, failed runs and those under way included. limit_bytes: the campaign's own, where it has one.
    """

    active: Sequence[RunRow]
    next: Sequence[RunRow]
    waits: Mapping[UUID, str]
    ends_at: datetime | None
    used_bytes: int
    limit_bytes: int | None


def campaign_now(unit: Unit, campaign_id: UUID, at: datetime) -> CampaignNow:
    """NotFoundError when there is no such campaign."""
    row = campaign_store.find_campaign(unit, campaign_id)
    spec = campaign_store.campaign_of(row)
    active, coming = now.active_runs(unit, campaign_id), now.next_runs(unit, campaign_id)
    return CampaignNow(
        active=active,
        next=coming,
        waits=find_waits(unit, row, [each.run for each in coming], at),
        ends_at=_ends_at(unit, campaign_id, spec.timetable, active, at) if row.state == CampaignState.RUNNING else None,
        used_bytes=_used(unit, campaign_id, active),
        limit_bytes=spec.limits.bytes,
    )


def _ends_at(
    unit: Unit, campaign_id: UUID, timetable: Timetable, active: Sequence[RunRow], at: datetime
) -> datetime | None:
    plans = now.plans_left(unit, campaign_id)
    busy = {row.run.link: _lets_go_at(row) for row in active if row.run.released_at is None}
    names = sorted({*plans, *busy})
    zones = link_store.zones(unit, names) if timetable.hours else {}
    return expected_end(
        at, [_left(plans.get(name), busy.get(name), timetable.openings(zones.get(name))) for name in names]
    )


def _left(plan: LinkPlan | None, busy_until_at: datetime | None, openings: Openings | None) -> LeftOnLink:
    if plan is None:
        return LeftOnLink(busy_until_at=busy_until_at)
    return LeftOnLink(plan.last_end_at, plan.left_s, plan.runs, busy_until_at, openings)


def _lets_go_at(row: RunRow) -> datetime:
    """A run is expected to hold its link for as long as the plan says, from its lease on."""
    began_at = row.run.start_at or row.run.state_at
    return began_at + timedelta(seconds=row.run.expected_s)


def _used(unit: Unit, campaign_id: UUID, active: Sequence[RunRow]) -> int:
    """Return the used bytes: those that the ends of flows have reported or, for runs under way, those that their senders report, if
    more."""
    carried = now.carried_by_run(unit, [row.run.id for row in active])
    ahead = [int((row.run.live or {}).get("bytes", 0)) - carried.get(row.run.id, 0) for row in active]
    return used_bytes(unit, [campaign_id]).get(campaign_id, 0) + sum(max(0, each) for each in ahead)
