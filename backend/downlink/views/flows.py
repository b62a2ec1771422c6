"""The one grouping of flows that all statistics are taken over."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from downlink.storage import campaigns, reports
from downlink.storage.tables import Run, RunFlow
from downlink.storage.unit import Unit


class Group(NamedTuple):
    """One flow of one condition on one link, under one congestion control."""

    campaign_id: UUID
    link: str
    condition: str
    flow: int
    cc: str


Flows = dict[Group, list[tuple[Run, RunFlow]]]


def complete_flows(unit: Unit, campaign_ids: Iterable[UUID], *, with_object_times: bool = False) -> Flows:
    """The flows of the complete runs of these campaigns, by link, then condition in the campaign's order, then flow; in the
    order of the plan within each. NotFoundError for a campaign that is not there."""
    found: Flows = {}
    for campaign_id in campaign_ids:
        spec = campaigns.campaign_of(campaigns.find_campaign(unit, campaign_id))
        order = {condition.name: rank for rank, condition in enumerate(spec.conditions)}
        flows = reports.complete_flows(unit, campaign_id, with_object_times=with_object_times)
        for run, flow in sorted(flows, key=lambda each: (each[0].link, order[each[0].condition], each[1].flow)):
            found.setdefault(Group(campaign_id, run.link, run.condition, flow.flow, flow.cc), []).append((run, flow))
    return found


def run_ids(flows: Flows) -> set[UUID]:
    return {run.id for members in flows.values() for run, _ in members}
