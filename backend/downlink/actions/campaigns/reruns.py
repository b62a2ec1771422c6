"""Run again by hand what did not end well. The runs that failed stay as they are; the new attempts take their places."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from downlink.actions.campaigns.retention import refuse_being_deleted
from downlink.actions.campaigns.states import set_state
from downlink.actions.runs.progress import repeat
from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.campaigns.rerun import OPEN_TO_RERUNS, REPEATABLE, UNWANTED, due_moments
from downlink.domain.errors import ConflictError
from downlink.domain.runs.run import RunState
from downlink.storage.advisory_lock import order_work
from downlink.storage.campaigns import campaign_store
from downlink.storage.fleet.agent_store import agents_by_name
from downlink.storage.links import link_store
from downlink.storage.runs import plan_places, run_store
from downlink.storage.tables import Campaign, Run
from downlink.storage.unit import Unit

BY_HAND = "Run again by hand (attempt {})."


def rerun_campaign(unit: Unit, campaign_id: UUID, now: datetime) -> int:
    """A new attempt for each place whose last one failed, was missed or stayed incomplete; how many.

    ConflictError where there is none, and where nothing can run.
    """
    ended = plan_places.lock_ended(
        unit, campaign_id, UNWANTED
    )  # runs before their campaign: everyone locks in this order
    campaign = campaign_store.find_campaign(unit, campaign_id, is_locked=True)
    _check_open(campaign)
    refuse_being_deleted(unit, campaign.id)
    wanted = plan_places.last_of_place(unit, ended)
    if not wanted:
        message = "No run is to be repeated: none has failed, was missed or is incomplete without a later attempt."
        raise ConflictError("nothing_to_rerun", message)
    return len(_repeat(unit, campaign, wanted, now))


def rerun_run(unit: Unit, run_id: UUID, now: datetime) -> Run:
    """A new attempt for one run that has ended without being complete. ConflictError where that cannot be."""
    run = run_store.get_run(unit, run_id)
    state = plan_places.lock_attempts(unit, run)  # runs before their campaign, as above
    campaign = campaign_store.find_campaign(unit, run.campaign_id, is_locked=True)
    _check_open(campaign)
    refuse_being_deleted(unit, campaign.id)
    if state not in REPEATABLE:
        raise ConflictError("run_not_repeatable", _why_not(state))
    wanted = plan_places.last_of_place(unit, [run_id])
    if not wanted:
        raise ConflictError("run_repeated", "Another attempt has taken this run's place; look at that one.")
    (again,) = _repeat(unit, campaign, wanted, now)
    return run_store.get_run(unit, again)


def _why_not(state: RunState) -> str:
    if state is RunState.COMPLETE:
        return "This run is complete: a second measurement in its place would count twice."
    return f"This run is {state}; it can be run again when it has ended, or be cancelled first."


def _check_open(campaign: Campaign) -> None:
    if campaign.origin != "measured":
        raise ConflictError(
            "campaign_not_measured", "This campaign was not measured here; its runs cannot be repeated."
        )
    if campaign.state not in OPEN_TO_RERUNS:
        raise ConflictError(
            "campaign_state", f"This campaign is {campaign.state}; duplicate it to measure under a new name."
        )


def _repeat(unit: Unit, campaign: Campaign, wanted: Sequence[Run], now: datetime) -> list[UUID]:
    """wanted: sorted by link."""
    _check_ends(unit, wanted)
    # What a paused campaign has planned moves by the length of the pause: counted from its beginning, that is from now on.
    since = campaign.paused_at if campaign.state == CampaignState.PAUSED and campaign.paused_at else now
    timetable, last_dues = campaign_store.campaign_of(campaign).timetable, plan_places.last_dues(unit, campaign.id)
    zones, again = link_store.zones(unit, {run.link for run in wanted}), dict[Run, datetime]()
    for link, on_link in groupby(wanted, attrgetter("link")):
        runs = list(on_link)
        lengths_s, openings = [run.expected_s for run in runs], timetable.openings(zones.get(link))
        moments = due_moments(lengths_s, timetable, last_dues.get(link), since, openings)
        again.update(zip(runs, moments, strict=True))
    made = repeat(unit, campaign.id, again, now, BY_HAND)
    if campaign.state == CampaignState.COMPLETE:
        campaign.ended_at = None
        set_state(unit, campaign, CampaignState.RUNNING, now)
    order_work(unit)
    return made


def _check_ends(unit: Unit, wanted: Sequence[Run]) -> None:
    """ConflictError when a link or an agent that they need is no more."""
    names = {run.link for run in wanted}
    if gone := sorted(names - set(link_store.domain_links(unit, names))):
        raise ConflictError("link_missing", f"{', '.join(gone)} is not among the links any more; make it again first.")
    agents = plan_places.agents_of(unit, [run.id for run in wanted])
    if gone := sorted(agents - set(agents_by_name(unit, agents))):
        message = f"{', '.join(gone)} has not joined, or was revoked; let it join under this name first."
        raise ConflictError("agent_missing", message)
