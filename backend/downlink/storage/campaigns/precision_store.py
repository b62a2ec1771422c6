"""Values of the metric that decides a campaign's end, and the runs that remain."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from sqlalchemy import Select, distinct, func, or_, select

from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.campaigns.precision import CycleRun, Side, Until, Values
from downlink.domain.runs.run import Reason, RunState
from downlink.storage.campaigns.campaign_store import campaign_of
from downlink.storage.tables import LEFT_OUT, Campaign, Metric, Run
from downlink.storage.unit import Unit

MOST_PILOTS = 50
"""Campaigns that are looked at, the latest first, for one that may say what to expect."""
LEAST_PILOT_RUNS = 3
_HAS_BEGUN = or_(Run.state.not_in((RunState.PLANNED, RunState.CANCELLED)), Run.start_at.is_not(None))


def values(unit: Unit, campaign_id: UUID, until: Until) -> dict[Side, Values]:
    """Return statistics of the complete runs that have the metric, by link and condition."""
    value = getattr(Metric, until.metric)
    query = select(Run.link, Run.condition, func.count(), func.avg(value), func.stddev_samp(value))
    query = query.join(Metric, Metric.run_id == Run.id)
    query = query.where(Run.campaign_id == campaign_id, Run.state == RunState.COMPLETE, LEFT_OUT.is_not(True))
    query = query.where(Run.id.in_(_of_one_way(campaign_id)))
    query = query.where(Metric.flow == until.flow, Metric.phase == until.phase, value.is_not(None))
    rows = unit.session.execute(query.group_by(Run.link, Run.condition))
    return {(link, condition): Values(runs, mean, sd) for link, condition, runs, mean, sd in rows}


def _of_one_way(campaign_id: UUID) -> Select[Any]:
    """The complete runs of the way that most runs of their link took: those of another one are means of another path."""
    way = func.coalesce(Run.way["receiver"].astext + " " + Run.way["sender"].astext, "")
    each = select(Run.id, way.label("way"), Run.link).where(
        Run.campaign_id == campaign_id, Run.state == RunState.COMPLETE
    )
    ranked = each.subquery()
    usual = (
        select(ranked.c.link, func.mode().within_group(ranked.c.way).label("way")).group_by(ranked.c.link).subquery()
    )
    return select(ranked.c.id).join(usual, (usual.c.link == ranked.c.link) & (usual.c.way == ranked.c.way))


def places(unit: Unit, campaign_id: UUID) -> dict[UUID, CycleRun]:
    """Every run of the campaign as the decision sees it."""
    query = select(Run.id, Run.link, Run.cycle, Run.attempt, Run.state == RunState.PLANNED, _HAS_BEGUN)
    rows = unit.session.execute(query.where(Run.campaign_id == campaign_id))
    return {
        id_: CycleRun(link, cycle, attempt, is_planned, has_begun)
        for id_, link, cycle, attempt, is_planned, has_begun in rows
    }


def cycles_begun(unit: Unit, campaign_id: UUID) -> int:
    """Count the cycles of which a run has begun, on any link."""
    query = select(func.count(distinct(Run.cycle))).where(Run.campaign_id == campaign_id, _HAS_BEGUN)
    return unit.session.scalar(query) or 0


def has_been_cut(unit: Unit, campaign_id: UUID) -> bool:
    """Return whether cycles were cancelled because the numbers were exact enough."""
    query = select(Run.id).where(Run.campaign_id == campaign_id, Run.reason == Reason.PRECISE_ENOUGH)
    return unit.session.scalar(query.limit(1)) is not None


def find_pilot(unit: Unit, until: Until, sides: Collection[Side]) -> tuple[Campaign, list[Values]] | None:
    """The campaign measured here that was complete last and has the metric of three runs and more of each of these sides."""
    query = select(Campaign).where(Campaign.state == CampaignState.COMPLETE, Campaign.origin == "measured")
    for row in unit.session.scalars(query.order_by(Campaign.ended_at.desc()).limit(MOST_PILOTS)):
        if not set(sides) <= set(campaign_of(row).sides):
            continue
        statistics = values(unit, row.id, until)
        if all(side in statistics and statistics[side].runs >= LEAST_PILOT_RUNS for side in sides):
            return row, [statistics[side] for side in sides]
    return None
