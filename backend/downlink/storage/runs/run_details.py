"""Runs as pages and tables show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, and_, func, select, true
from sqlalchemy.dialects.postgresql import aggregate_order_by

from downlink.domain.campaigns.rerun import OPEN_TO_RERUNS, REPEATABLE
from downlink.domain.errors import NotFoundError
from downlink.domain.runs.run import RunState
from downlink.storage.notices import events
from downlink.storage.results import judgement_store
from downlink.storage.runs.run_store import PLAN_ORDER, flows_of, get_run, hosts_of
from downlink.storage.tables import Campaign, Event, FlowProxy, Metric, Run, RunFlow, RunHost, Trace
from downlink.storage.unit import Unit


@dataclass(frozen=True)
class RunSurroundings:
    """The position of a run in its campaign: the runs before and after it are those of the plan's order.

    later_attempt_id: of the latest one at its place, None where it is that itself. owner_id: whose the campaign is.
    """

    campaign_name: str
    owner_id: UUID | None
    runs_in_cycle: int
    previous_run_id: UUID | None
    next_run_id: UUID | None
    later_attempt_id: UUID | None
    is_repeatable: bool


@dataclass(frozen=True)
class RunDetails:
    """A run with everything its page shows."""

    run: Run
    surroundings: RunSurroundings
    flows: Sequence[RunFlow]
    hosts: Sequence[RunHost]
    metrics: Sequence[Metric]
    traces: Sequence[Trace]
    events: Sequence[Event]
    proxies: Mapping[int, FlowProxy]


@dataclass(frozen=True)
class RunRow:
    """A run as a row of a table; rates are sums over its flows."""

    run: Run
    throughput_bps: float | None
    goodput_bps: float | None


def get_run_details(unit: Unit, run_id: UUID) -> RunDetails:
    run = get_run(unit, run_id)
    return RunDetails(
        run,
        _surroundings(unit, run),
        flows_of(unit, run_id),
        hosts_of(unit, run_id),
        unit.session.scalars(select(Metric).where(Metric.run_id == run_id)).all(),
        unit.session.scalars(select(Trace).where(Trace.run_id == run_id)).all(),
        events.run_events(unit, run_id),
        {row.flow: row for row in judgement_store.rows(unit, FlowProxy, [run_id])},
    )


def _surroundings(unit: Unit, run: Run) -> RunSurroundings:
    plan = select(Run.id, func.lag(Run.id).over(order_by=PLAN_ORDER), func.lead(Run.id).over(order_by=PLAN_ORDER))
    own = plan.where(Run.campaign_id == run.campaign_id).subquery()
    _, before, after = unit.session.execute(select(own).where(own.c.id == run.id)).one()
    cycle = (Run.campaign_id == run.campaign_id, Run.link == run.link, Run.cycle == run.cycle)
    columns = select(Campaign.name, Campaign.owner_id, Campaign.origin, Campaign.state).where(
        Campaign.id == run.campaign_id
    )
    name, owner_id, origin, state = unit.session.execute(columns).one()
    positions = unit.session.scalar(select(func.count(func.distinct(Run.position))).where(*cycle)) or 0
    later = select(Run.id).where(*cycle, Run.position == run.position, Run.attempt > run.attempt)
    latest = unit.session.scalar(later.order_by(Run.attempt.desc()).limit(1))
    complete = select(Run.id).where(*cycle, Run.position == run.position, Run.state == RunState.COMPLETE).limit(1)
    is_open = origin == "measured" and state in OPEN_TO_RERUNS and unit.session.scalar(complete) is None
    return RunSurroundings(
        name, owner_id, positions, before, after, latest, is_open and latest is None and run.state in REPEATABLE
    )


def list_runs(unit: Unit, campaign_id: UUID, state: str | None, limit: int, offset: int) -> tuple[list[RunRow], int]:
    """Return runs in the order of the plan. Raise NotFoundError if there is no such campaign."""
    if unit.session.scalar(select(Campaign.id).where(Campaign.id == campaign_id)) is None:
        raise NotFoundError("campaign_not_found", f"There is no campaign {campaign_id}.")
    where = and_(Run.campaign_id == campaign_id, Run.state == state if state else true())
    total = unit.session.scalar(select(func.count()).select_from(Run).where(where)) or 0
    return list(_rows(unit, select(Run.id).where(where).order_by(*PLAN_ORDER).limit(limit).offset(offset))), total


def all_runs(unit: Unit, campaign_id: UUID) -> list[RunRow]:
    return list(_rows(unit, select(Run.id).where(Run.campaign_id == campaign_id)))


def run_rows(unit: Unit, ids: Sequence[UUID]) -> list[RunRow]:
    return list(_rows(unit, select(Run.id).where(Run.id.in_(ids))))


def _rows(unit: Unit, wanted: Select[UUID]) -> Iterable[RunRow]:
    # A sum of doubles depends on its order: by flow, whatever order rows lie in.
    summed = (func.sum(aggregate_order_by(each, Metric.flow)) for each in (Metric.throughput_bps, Metric.goodput_bps))
    rate = select(Metric.run_id, *(each.label(name) for each, name in zip(summed, "tg", strict=True)))
    rates = rate.where(Metric.phase == "overall").group_by(Metric.run_id).subquery()
    query = select(Run, rates.c.t, rates.c.g).outerjoin(rates, rates.c.run_id == Run.id)
    for run, throughput, goodput in unit.session.execute(query.where(Run.id.in_(wanted)).order_by(*PLAN_ORDER)):
        yield RunRow(run, throughput, goodput)
