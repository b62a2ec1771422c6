"""Reasons for which planned runs wait after their time has come."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.runs.run import RunState
from downlink.domain.runs.turn import PlannedTurn
from downlink.domain.runs.waiting import resources_of, waits_for
from downlink.storage.campaigns import campaign_store
from downlink.storage.links import link_store
from downlink.storage.runs import leases, planned, run_store
from downlink.storage.tables import Campaign, Run
from downlink.storage.unit import Unit

PAUSED = "Its campaign is paused."


def find_waits(unit: Unit, campaign: Campaign, runs: Sequence[Run], now: datetime) -> dict[UUID, str]:
    """Explain in sentences, by run of this campaign, why it waits; those that may start at any moment, and those whose time has not
    come, have none."""
    due = [run for run in runs if run.state == RunState.PLANNED and run.due_at <= now]
    if campaign.state == CampaignState.PAUSED:
        return {run.id: PAUSED for run in due}
    if campaign.state != CampaignState.RUNNING or not due:
        return {}
    names: dict[UUID, list[str]] = defaultdict(list)
    for host in run_store.hosts_of_runs(unit, [run.id for run in due]):
        names[host.run_id].append(host.agent)
    agents = planned.agent_views(unit, {name for each in names.values() for name in each})
    turns = {run.id: _turn(run, names[run.id]) for run in due}
    held = leases.find_holders(unit, {each for turn in turns.values() for each in resources_of(turn, agents)})
    starts = _starts(unit, campaign, due, now)
    reasons = {run_id: waits_for(turn, agents, held, starts.get(run_id), now) for run_id, turn in turns.items()}
    return {run_id: reason for run_id, reason in reasons.items() if reason}


def find_wait(unit: Unit, run: Run, now: datetime) -> str | None:
    return find_waits(unit, campaign_store.find_campaign(unit, run.campaign_id), [run], now).get(run.id)


def _turn(run: Run, agents: Sequence[str]) -> PlannedTurn:
    return PlannedTurn(run.link, run.due_at, tuple(sorted(agents)), run.is_host_wide, run.expected_s)


def _starts(unit: Unit, campaign: Campaign, due: Sequence[Run], now: datetime) -> dict[UUID, datetime]:
    """Return when each run may begin: after the pause behind the last cycle, and within the link's opening hours."""
    timetable = campaign_store.campaign_of(campaign).timetable
    ends = planned.earlier_cycle_ends(unit, [run.id for run in due]) if timetable.pause_s > 0 else {}
    zones = link_store.zones(unit, {run.link for run in due}) if timetable.hours else {}
    starts = {run_id: end + timedelta(seconds=timetable.pause_s) for run_id, end in ends.items()}
    for run in due:
        openings = timetable.openings(zones.get(run.link))
        if openings and (at := openings.next_fit(max(now, starts.get(run.id, now)), run.expected_s)):
            starts[run.id] = at
    return starts
