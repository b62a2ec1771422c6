"""Campaigns: preview, create, and the verbs that change their state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID

import orjson

from downlink.actions.campaigns import cancellation
from downlink.actions.campaigns.cancellation import CANCELLED_AT_ONCE
from downlink.actions.campaigns.preview import plan_now, refuse_blocked
from downlink.actions.campaigns.states import set_state
from downlink.actions.runs.new_runs import add_planned_runs
from downlink.codec.campaign_file import parse_campaign, renamed
from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.campaign_state import UNDER_WAY, CampaignState
from downlink.domain.campaigns.conflict import Conflict
from downlink.domain.campaigns.line import Sharing
from downlink.domain.campaigns.plan import Plan, usable_links
from downlink.domain.campaigns.preflight import HostAnswers, judge_hosts
from downlink.domain.campaigns.rerun import dues_after_pause
from downlink.domain.campaigns.tag import clean_tags
from downlink.domain.campaigns.trigger import QuantityHolds, too_rare
from downlink.domain.errors import ConflictError
from downlink.domain.text import without_controls
from downlink.storage import tables
from downlink.storage.advisory_lock import order_work
from downlink.storage.campaigns import campaign_store, line_store, trigger_store
from downlink.storage.campaigns.single_row import take_own
from downlink.storage.links import link_store, observation_store
from downlink.storage.notices.events import add_event
from downlink.storage.runs import plan_store
from downlink.storage.runs.last_runs import last_runs
from downlink.storage.runs.planned import lock_planned_runs, planned_dues, set_dues, wake_links
from downlink.storage.unit import Unit
from downlink.views.campaigns.precision import Forecast, forecast


@dataclass(frozen=True)
class Preview:
    """A campaign and what would come of it, launched at this moment.

    time_zones: of links that say theirs. sharing: of links that other campaigns have planned runs on. forecast: of `until`.
    """

    campaign: Campaign
    plan: Plan
    hosts: tuple[HostAnswers, ...]
    at: datetime
    time_zones: Mapping[str, str]
    sharing: tuple[Sharing, ...]
    forecast: Forecast | None


def preview(unit: Unit, source: str | None, campaign: Mapping[str, Any] | None, now: datetime) -> Preview:
    """Parse and plan as if launched now; nothing is saved. InvalidError says what is wrong with the file."""
    parsed = parse_campaign(source) if source is not None else campaign_from_dict(campaign or {})
    known = link_store.domain_links(unit, parsed.links)
    plan, hosts = plan_now(unit, parsed, now, known)
    plan = replace(plan, conflicts=(*plan.conflicts, *_unheard(unit, parsed)))
    usable, last = usable_links(parsed, known), last_runs(unit, known)
    judged = {name: replace(host, found=last.found.get(name, ())) for name, host in hosts.items()}
    zones = {name: link.time_zone for name, link in known.items() if link.time_zone}
    others = line_store.find_others(unit, known)
    sharing = tuple(Sharing.of(name, parsed.weight, others[name]) for name in parsed.links if others.get(name))
    judged_hosts = judge_hosts(parsed, usable, judged, last.reached)
    return Preview(parsed, plan, judged_hosts, now, zones, sharing, forecast(unit, parsed))


def _unheard(unit: Unit, campaign: Campaign) -> list[Conflict]:
    """A trigger's quantity that nobody has ever said of its link."""
    when = campaign.trigger.when if campaign.trigger else None
    if not isinstance(when, QuantityHolds) or not when.link:
        return []
    quantities = {each.quantity for each in observation_store.list_quantities(unit, [when.link])}
    if when.quantity in quantities:
        return _rarely_said(unit, when, when.link)
    known = (
        f"; known there: {', '.join(sorted(quantities))}"
        if quantities
        else ": no dish, modem or weather station has said anything"
    )
    message = f"Nobody has said {when.quantity} of link {when.link} yet{known}. The campaign waits until somebody does."
    return [Conflict("quantity_unknown", message, place="trigger.when.quantity")]


def _rarely_said(unit: Unit, when: QuantityHolds, link: str) -> list[Conflict]:
    """A trigger's quantity that nobody says often enough for a value to count until the next one."""
    sentence = too_rare(when, trigger_store.spaces_s(unit, link, when.quantity))
    if sentence is None:
        return []
    position = "trigger.when.for_s" if when.for_s else "trigger.when.quantity"
    return [Conflict("quantity_rare", sentence, place=position)]


def create_campaign(
    unit: Unit, source: str | None, campaign: Mapping[str, Any] | None, now: datetime, *, owner_id: UUID | None = None
) -> tables.Campaign:
    """Save a draft with its text as it was given. owner_id: the account that makes it."""
    columns = _columns_of(unit, source, campaign, now)
    row = tables.Campaign(**columns, state=CampaignState.DRAFT, created_at=now, report_wanted=0, owner_id=owner_id)
    campaign_store.add_campaign(unit, row)
    add_event(unit, now, "campaign", {"campaign_state": CampaignState.DRAFT}, row.id)
    return row


def _columns_of(unit: Unit, source: str | None, campaign: Mapping[str, Any] | None, now: datetime) -> dict[str, Any]:
    """Return the columns of a draft's row that follow from its file."""
    made = preview(unit, source, campaign, now)
    return {
        "name": made.campaign.name,
        "notes": made.campaign.notes,
        "source": source if source is not None else orjson.dumps(campaign, option=orjson.OPT_INDENT_2).decode(),
        "spec": made.campaign.to_dict(),
        "estimate": asdict(made.plan.estimate),
    }


def change_draft(
    unit: Unit, campaign_id: UUID, source: str | None, campaign: Mapping[str, Any] | None, now: datetime
) -> None:
    """Another file for a draft; what was launched stays as it is. ConflictError, InvalidError."""
    row = _in_state(unit, campaign_id, CampaignState.DRAFT)
    columns = _columns_of(unit, source, campaign, now)
    if columns["notes"] == campaign_store.campaign_of(row).notes:
        del columns["notes"]  # the file says what it said: what was noted beside it stays
    for key, value in columns.items():
        setattr(row, key, value)
    add_event(unit, now, "campaign", {"campaign_state": CampaignState.DRAFT}, row.id)


def describe_campaign(
    unit: Unit,
    campaign_id: UUID,
    now: datetime,
    notes: str | None = None,
    tags: Sequence[str] | None = None,
    splits_by_address: bool | None = None,
) -> None:
    """Other notes or tags, in whatever state it is: nothing that was planned or measured depends on them. InvalidError.

    splits_by_address: whether runs are grouped by the address that their senders saw; the report is then computed again.
    """
    row = campaign_store.find_campaign(unit, campaign_id, is_locked=True)
    if notes is not None:
        row.notes = notes
    if tags is not None:
        row.tags = clean_tags(tags)
    if splits_by_address is not None and splits_by_address != row.splits_by_address:
        row.splits_by_address = splits_by_address
        if row.state != CampaignState.DRAFT:
            campaign_store.want_report(unit, campaign_id)
    add_event(unit, now, "campaign", {"campaign_state": row.state}, row.id)


MAX_COPIED_NAME = 190
"""Characters of a name that a copy keeps: a campaign's name has 200."""


def duplicate_campaign(
    unit: Unit, campaign_id: UUID, name: str | None, now: datetime, *, owner_id: UUID | None = None
) -> tables.Campaign:
    """A new draft with the file of any campaign but an imported one, which has none. ConflictError, InvalidError."""
    row = campaign_store.find_campaign(unit, campaign_id)
    if row.origin == "imported":
        raise ConflictError(
            "campaign_imported", "This campaign was made of files of other tools: it has no campaign file to copy."
        )
    source = renamed(row.source, name or f"{without_controls(row.name[:MAX_COPIED_NAME])} (copy)")
    copy = create_campaign(unit, source, None, now, owner_id=owner_id)
    copy.tags = list(row.tags)
    return copy


def launch_campaign(unit: Unit, campaign_id: UUID, now: datetime, *, even_if_offline: bool = False) -> None:
    """Plan again, from what links and agents are now, and start. ConflictError says what prevents it.

    A campaign with a trigger has no runs yet: it waits for that.

    even_if_offline: the launcher knows that agents which are away now will be back in time.
    """
    row = _in_state(unit, campaign_id, CampaignState.DRAFT)
    campaign = campaign_store.campaign_of(row)
    known = link_store.domain_links(unit, campaign.links)
    plan, _ = plan_now(unit, campaign, now, known)
    refuse_blocked(plan, even_if_offline=even_if_offline)
    if campaign.trigger:
        take_own(unit, tables.Trigger, row.id)
    else:
        cycles = max(planned.cycle for planned in plan.runs)
        add_planned_runs(unit, row.id, campaign, plan.runs, known, now, cycles)
    row.estimate, row.launched_at, row.resumed_at = asdict(plan.estimate), now, now
    wake_links(unit, campaign.links)
    order_work(unit)
    set_state(unit, row, CampaignState.RUNNING, now)


def pause_campaign(unit: Unit, campaign_id: UUID, now: datetime) -> None:
    row = _in_state(unit, campaign_id, CampaignState.RUNNING)
    row.paused_at = now
    set_state(unit, row, CampaignState.PAUSED, now)


def resume_campaign(unit: Unit, campaign_id: UUID, now: datetime) -> None:
    """Resume; what is still planned moves by the length of the pause, or as far as it must where it follows a clock."""
    # Runs before their campaign, and runs by their ids: everyone locks in this order.
    lock_planned_runs(unit, campaign_id)
    row = _in_state(unit, campaign_id, CampaignState.PAUSED)
    if campaign_store.campaign_of(row).timetable.is_clocked:
        _move_planned(unit, row, now)
    else:
        plan_store.postpone_planned(unit, campaign_id, now - (row.paused_at or now))
    row.paused_at, row.resumed_at = None, now
    wake_links(unit, campaign_store.campaign_of(row).links)
    order_work(unit)
    set_state(unit, row, CampaignState.RUNNING, now)


def _move_planned(unit: Unit, campaign: tables.Campaign, now: datetime) -> None:
    timetable, planned = campaign_store.campaign_of(campaign).timetable, planned_dues(unit, campaign.id)
    since = max(campaign.paused_at or now, min((run.due_at for run in planned), default=now))
    zones = link_store.zones(unit, {run.link for run in planned})
    for link, on_link in groupby(planned, attrgetter("link")):
        runs = list(on_link)
        wanted = [(run.due_at, run.expected_s) for run in runs]
        dues = dues_after_pause(wanted, timetable, timetable.openings(zones.get(link)), since, now)
        set_dues(unit, dict(zip((run.id for run in runs), dues, strict=True)))


def cancel_campaign(unit: Unit, campaign_id: UUID, now: datetime) -> None:
    """Every run that has not ended is stopped; runs whose samples are in are still analysed. Of very many planned ones the tick ends
    the rest."""
    row = campaign_store.find_campaign(unit, campaign_id)
    if row.state not in UNDER_WAY:
        raise ConflictError(
            "campaign_state", f"This campaign is {row.state}; only one that is running or paused can be cancelled."
        )
    # Runs first, campaign after: the order in which every run that ends takes its locks.
    plan_store.lock_unfinished(unit, campaign_id, CANCELLED_AT_ONCE)
    row = _in_state(unit, campaign_id, CampaignState.RUNNING, CampaignState.PAUSED)
    row.ended_at = now
    set_state(unit, row, CampaignState.CANCELLED, now)
    # Once more: attempts that were planned while this waited. With the campaign's lock nobody plans others.
    cancellation.stop_unfinished(unit, campaign_id, now)


def _in_state(unit: Unit, campaign_id: UUID, *states: CampaignState) -> tables.Campaign:
    row = campaign_store.find_campaign(unit, campaign_id, is_locked=True)
    if row.state not in states:
        raise ConflictError(
            "campaign_state", f"This campaign is {row.state}; it must be {' or '.join(states)} for that."
        )
    return row
