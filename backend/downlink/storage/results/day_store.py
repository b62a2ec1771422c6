"""A campaign's runs over clock time: few columns of many rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, NamedTuple
from uuid import UUID

from sqlalchemy import NotNullable, Select, func, select

from downlink.domain.doc import Doc
from downlink.domain.traces.point import NO_FLOW
from downlink.storage.runs.run_store import PLAN_ORDER
from downlink.storage.tables import LinkPhase, Metric, Run, RunFlow
from downlink.storage.unit import Unit

CLOCK = func.coalesce(Run.start_at, Run.due_at)
"""Time of a run: where it began, else where it is planned."""


class PlacedRun(NamedTuple):
    """at: when it began, else when it was or is due."""

    id: UUID
    link: str
    condition: str
    cycle: int
    attempt: int
    state: str
    reason: str | None
    detail: str | None
    at: datetime
    ended_at: datetime | None
    expected_s: float


@dataclass(frozen=True)
class DayValue:
    flow: Annotated[int, Doc("0: the emulated link itself")]
    cc: Annotated[str, Doc("The control that ran; until that is known, the one that was asked for")]
    value: float


DayValues = list[tuple[UUID, DayValue]]
"""One quantity by run."""


def count_runs(unit: Unit, campaign_id: UUID) -> int:
    return unit.session.scalar(select(func.count()).select_from(Run).where(Run.campaign_id == campaign_id)) or 0


def _first_runs(campaign_id: UUID, limit: int) -> Select[UUID]:
    return select(Run.id).where(Run.campaign_id == campaign_id).order_by(*PLAN_ORDER).limit(limit)


def placed_runs(unit: Unit, campaign_id: UUID, limit: int) -> list[PlacedRun]:
    """Return runs in the order of the plan, the first ones if there are more than the limit."""
    columns = [CLOCK if name == "at" else getattr(Run, name) for name in PlacedRun._fields]
    query = select(*columns).where(Run.campaign_id == campaign_id).order_by(*PLAN_ORDER).limit(limit)
    return [PlacedRun(*row) for row in unit.session.execute(query)]


def flow_values(unit: Unit, campaign_id: UUID, limit: int, phase: str, metric: str) -> DayValues:
    """One of the metrics of a phase (domain/metric.py METRICS), of every flow of the first runs that has it."""
    value = getattr(Metric, metric)
    query = select(Metric.run_id, Metric.flow, RunFlow.cc, value)
    query = query.join(RunFlow, (RunFlow.run_id == Metric.run_id) & (RunFlow.flow == Metric.flow))
    query = query.where(Metric.run_id.in_(_first_runs(campaign_id, limit)), Metric.phase == phase, value.is_not(None))
    rows = unit.session.execute(query.order_by(Metric.run_id, Metric.flow))
    return [(run_id, DayValue(flow, cc, number)) for run_id, flow, cc, number in rows]


def steady_times(unit: Unit, campaign_id: UUID, limit: int) -> DayValues:
    """Return when each flow of the first runs became steady, for those that did."""
    query = select(RunFlow.run_id, RunFlow.flow, RunFlow.cc, NotNullable(RunFlow.time_to_steady_s))
    query = query.where(RunFlow.run_id.in_(_first_runs(campaign_id, limit)), RunFlow.time_to_steady_s.is_not(None))
    rows = unit.session.execute(query.order_by(RunFlow.run_id, RunFlow.flow))
    return [(run_id, DayValue(flow, cc, number)) for run_id, flow, cc, number in rows]


def link_values(unit: Unit, campaign_id: UUID, limit: int, phase: str, metric: str) -> DayValues:
    """Return the emulated link's values in a phase (domain/results/metric.py LINKED) for the first runs."""
    value = getattr(LinkPhase, metric)
    query = select(LinkPhase.run_id, value)
    query = query.where(
        LinkPhase.run_id.in_(_first_runs(campaign_id, limit)), LinkPhase.phase == phase, value.is_not(None)
    )
    return [(run_id, DayValue(NO_FLOW, "", number)) for run_id, number in unit.session.execute(query)]
