"""The one grouping of flows that all statistics are taken over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

from downlink.domain.runs.way import Differing, Way, link_and_way
from downlink.storage.campaigns import campaign_store
from downlink.storage.results import report_store
from downlink.storage.tables import Run, RunFlow
from downlink.storage.unit import Unit


class Group(NamedTuple):
    """One flow of one condition on one link, under one congestion control. link: with the way, where the campaign's runs went several."""

    campaign_id: UUID
    link: str
    condition: str
    flow: int
    cc: str


Flows = dict[Group, list[tuple[Run, RunFlow]]]


def complete_flows(unit: Unit, campaign_ids: Iterable[UUID], *, with_object_times: bool = False) -> Flows:
    """The flows of the complete runs of these campaigns, by link, then condition in the campaign's order, then flow; in the
    order of the plan within each. NotFoundError for a campaign that is not there."""
    flows_of: Flows = {}
    for campaign_id in campaign_ids:
        row = campaign_store.find_campaign(unit, campaign_id)
        spec = campaign_store.campaign_of(row)
        order = {condition.name: rank for rank, condition in enumerate(spec.conditions)}
        flows = report_store.complete_flows(unit, campaign_id, with_object_times=with_object_times)
        group_of = _places([run for run, _ in flows], by_address=row.splits_by_address)
        for run, flow in sorted(flows, key=lambda each: (group_of[each[0].id], order[each[0].condition], each[1].flow)):
            group = Group(campaign_id, group_of[run.id], run.condition, flow.flow, flow.cc)
            flows_of.setdefault(group, []).append((run, flow))
    return flows_of


def _places(runs: Sequence[Run], *, by_address: bool) -> dict[UUID, str]:
    """Return the name under which each run is counted: its link, and the network path if the runs of that link took several."""
    ways = {run.id: Way.of(run.way) for run in runs}
    by_link: dict[str, set[Way]] = {}
    for run in runs:
        by_link.setdefault(run.link, set()).add(ways[run.id])
    differs = {link: Differing.among(ways_of, by_address=by_address) for link, ways_of in by_link.items()}
    return {run.id: link_and_way(run.link, ways[run.id], differs[run.link]) for run in runs}


def places_of(flows: Flows) -> dict[UUID, str]:
    """The name of each run's place in these groups."""
    return {run.id: group.link for group, members in flows.items() for run, _ in members}


def run_ids(flows: Flows) -> set[UUID]:
    return {run.id for members in flows.values() for run, _ in members}
