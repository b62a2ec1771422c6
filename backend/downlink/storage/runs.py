"""Runs with their flows and hosts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import BigInteger, Select, and_, cast, func, or_, select, true

from downlink.domain.agent import AgentStatus
from downlink.domain.campaign_state import UNDER_WAY, CampaignState
from downlink.domain.errors import NotFoundError
from downlink.domain.run import ACTIVE, FINAL, LATEST_START_S, HostPhase, HostView, Reason, RunState, RunView, Verdict
from downlink.domain.sample import End
from downlink.storage import events
from downlink.storage.heartbeats import find_watched_since
from downlink.storage.tables import Agent, Campaign, Event, Json, Metric, Run, RunFlow, RunHost, Trace
from downlink.storage.unit import Unit

ACTIVE_NAMES = sorted(ACTIVE)
FINAL_NAMES = sorted(FINAL)


@dataclass(frozen=True)
class RunSurroundings:
    """Where a run lies in its campaign: the runs before and after it are those of the plan's order."""

    campaign_name: str
    runs_in_cycle: int
    previous_run_id: UUID | None
    next_run_id: UUID | None


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


@dataclass(frozen=True)
class RunRow:
    """A run as a row of a table; rates are sums over its flows."""

    run: Run
    throughput_bps: float | None
    goodput_bps: float | None


def get_run(unit: Unit, run_id: UUID, *, is_locked: bool = False) -> Run:
    """NotFoundError when there is none. Locked runs are read anew."""
    query = select(Run).where(Run.id == run_id)
    run = unit.session.scalar(query.with_for_update().execution_options(populate_existing=True) if is_locked else query)
    if run is None:
        raise NotFoundError("run_not_found", f"There is no run {run_id}.")
    return run


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
    )


def _surroundings(unit: Unit, run: Run) -> RunSurroundings:
    plan = select(Run.id, func.lag(Run.id).over(order_by=PLAN_ORDER), func.lead(Run.id).over(order_by=PLAN_ORDER))
    own = plan.where(Run.campaign_id == run.campaign_id).subquery()
    _, before, after = unit.session.execute(select(own).where(own.c.id == run.id)).one()
    cycle = (Run.campaign_id == run.campaign_id, Run.link == run.link, Run.cycle == run.cycle)
    name = unit.session.scalars(select(Campaign.name).where(Campaign.id == run.campaign_id)).one()
    positions = unit.session.scalar(select(func.count(func.distinct(Run.position))).where(*cycle)) or 0
    return RunSurroundings(name, positions, before, after)


def flows_of(unit: Unit, run_id: UUID) -> Sequence[RunFlow]:
    return unit.session.scalars(select(RunFlow).where(RunFlow.run_id == run_id).order_by(RunFlow.flow)).all()


def hosts_of(unit: Unit, run_id: UUID) -> Sequence[RunHost]:
    return unit.session.scalars(select(RunHost).where(RunHost.run_id == run_id).order_by(RunHost.agent)).all()


def find_host(unit: Unit, run_id: UUID, agent: str) -> RunHost | None:
    return unit.session.get(RunHost, (run_id, agent), populate_existing=True)


def list_runs(unit: Unit, campaign_id: UUID, state: str | None, limit: int, offset: int) -> tuple[list[RunRow], int]:
    """In the order of the plan. NotFoundError when there is no such campaign."""
    if unit.session.scalar(select(Campaign.id).where(Campaign.id == campaign_id)) is None:
        raise NotFoundError("campaign_not_found", f"There is no campaign {campaign_id}.")
    where = and_(Run.campaign_id == campaign_id, Run.state == state if state else true())
    total = unit.session.scalar(select(func.count()).select_from(Run).where(where)) or 0
    return list(_rows(unit, select(Run.id).where(where).order_by(*PLAN_ORDER).limit(limit).offset(offset))), total


PLAN_ORDER = (Run.due_at, Run.cycle, Run.position, Run.link, Run.attempt)


def run_ids(unit: Unit, campaign_id: UUID) -> Sequence[UUID]:
    """Of all runs of a campaign, in the order of the plan."""
    return unit.session.scalars(select(Run.id).where(Run.campaign_id == campaign_id).order_by(*PLAN_ORDER)).all()


def all_runs(unit: Unit, campaign_id: UUID) -> list[RunRow]:
    return list(_rows(unit, select(Run.id).where(Run.campaign_id == campaign_id)))


def run_rows(unit: Unit, ids: Sequence[UUID]) -> list[RunRow]:
    return list(_rows(unit, select(Run.id).where(Run.id.in_(ids))))


def _rows(unit: Unit, wanted: Select[UUID]) -> Iterable[RunRow]:
    rate = select(Metric.run_id, func.sum(Metric.throughput_bps).label("t"), func.sum(Metric.goodput_bps).label("g"))
    rates = rate.where(Metric.phase == "overall").group_by(Metric.run_id).subquery()
    query = select(Run, rates.c.t, rates.c.g).outerjoin(rates, rates.c.run_id == Run.id)
    for run, throughput, goodput in unit.session.execute(query.where(Run.id.in_(wanted)).order_by(*PLAN_ORDER)):
        yield RunRow(run, throughput, goodput)


def run_of_agent(unit: Unit, agent: str) -> tuple[Run, RunHost] | None:
    """The active run that is leased to this agent: at most one is, and if ever there are two, the later one counts."""
    query = select(Run, RunHost).join(RunHost, RunHost.run_id == Run.id)
    query = query.where(RunHost.agent == agent, Run.state.in_(ACTIVE_NAMES), Run.released_at.is_(None))
    query = query.order_by(Run.state_at.desc()).execution_options(populate_existing=True)
    row = unit.session.execute(query).first()
    return (row[0], row[1]) if row else None


def active_run_ids(unit: Unit) -> Sequence[UUID]:
    """Runs that wait for agents or for time; released ones wait only for jobs."""
    held = select(Run.id).where(Run.state.in_(ACTIVE_NAMES), Run.released_at.is_(None))
    return unit.session.scalars(held.order_by(Run.due_at)).all()


def runs_at_agent(unit: Unit, agent: str, run_ids: Iterable[UUID]) -> dict[UUID, tuple[Run, RunHost]]:
    """Those of these runs that this agent takes, or took, part in."""
    query = select(Run, RunHost).join(RunHost, RunHost.run_id == Run.id)
    query = query.where(RunHost.agent == agent, Run.id.in_(list(run_ids)))
    return {run.id: (run, host) for run, host in unit.session.execute(query)}


def later_attempts(unit: Unit, run: Run) -> Sequence[Run]:
    """Of the same place, locked and read anew."""
    query = select(Run).where(
        Run.campaign_id == run.campaign_id, Run.link == run.link, Run.cycle == run.cycle,
        Run.position == run.position, Run.attempt > run.attempt,
    )  # fmt: skip
    locked = query.order_by(Run.attempt).with_for_update().execution_options(populate_existing=True)
    return unit.session.scalars(locked).all()


def due_runs(unit: Unit, now: datetime) -> Sequence[Run]:
    """Planned runs of running campaigns whose time has come, in order; what was recorded elsewhere is never measured here."""
    query = select(Run).join(Campaign, Campaign.id == Run.campaign_id)
    query = query.where(Run.state == RunState.PLANNED, Run.due_at <= now, Campaign.state == CampaignState.RUNNING)
    query = query.where(Campaign.origin == "measured")
    return unit.session.scalars(query.order_by(*PLAN_ORDER).with_for_update(of=Run, skip_locked=True)).all()


def lost_jobs(unit: Unit, now: datetime, resend: timedelta) -> Sequence[Run]:
    """Runs that need a job which was not sent, or so long ago that it must be lost."""
    query = select(Run).where(
        Run.needs.is_not(None), or_(Run.needs_sent_at.is_(None), Run.needs_sent_at < now - resend)
    )
    return unit.session.scalars(query.with_for_update(skip_locked=True)).all()


def booked_runs(unit: Unit) -> list[tuple[str, Run, list[str]]]:
    """(campaign's name, run, its agents) of everything that is planned or under way."""
    agents = func.array_agg(RunHost.agent)
    query = (
        select(Campaign.name, Run, agents)
        .join(Run, Run.campaign_id == Campaign.id)
        .join(RunHost, RunHost.run_id == Run.id)
    )
    held = and_(Run.state.not_in(FINAL_NAMES), Run.released_at.is_(None), Campaign.state.in_(sorted(UNDER_WAY)))
    return [
        (row[0], row[1], list(row[2]))
        for row in unit.session.execute(query.where(held).group_by(Campaign.name, Run.id))
    ]


def planned_runs(unit: Unit, campaign_id: UUID) -> Sequence[Run]:
    return unit.session.scalars(
        select(Run).where(Run.campaign_id == campaign_id, Run.state == RunState.PLANNED).with_for_update()
    ).all()


def unfinished_runs(unit: Unit, campaign_id: UUID) -> Sequence[Run]:
    """Locked, in a fixed order."""
    query = select(Run).where(Run.campaign_id == campaign_id, Run.state.not_in(FINAL_NAMES))
    return unit.session.scalars(
        query.order_by(Run.id).with_for_update().execution_options(populate_existing=True)
    ).all()


def unfinished_in_cycle(unit: Unit, run: Run) -> int:
    query = select(func.count()).where(Run.campaign_id == run.campaign_id, Run.link == run.link, Run.cycle == run.cycle)
    return unit.session.scalar(query.where(Run.state.not_in(FINAL_NAMES))) or 0


def unfinished_in_campaign(unit: Unit, campaign_id: UUID) -> int:
    query = select(func.count()).where(Run.campaign_id == campaign_id, Run.state.not_in(FINAL_NAMES))
    return unit.session.scalar(query) or 0


def last_end_on_link(unit: Unit, link: str) -> datetime | None:
    """When a run last gave this link back."""
    return unit.session.scalar(select(func.max(func.coalesce(Run.released_at, Run.ended_at))).where(Run.link == link))


def last_end_in_campaign(unit: Unit, campaign_id: UUID) -> datetime | None:
    """When a run here last came to its end; an imported run's ended_at is that of its measurement."""
    ended = (Run.campaign_id == campaign_id, Run.state.in_(FINAL_NAMES))
    return unit.session.scalar(select(func.max(Run.state_at)).where(*ended))


def imported_runs(unit: Unit, campaign_id: UUID) -> Sequence[tuple[str, Json]]:
    """(condition, import source) of every imported run of a campaign."""
    query = select(Run.condition, Run.import_source).where(Run.campaign_id == campaign_id)
    return [(name, source) for name, source in unit.session.execute(query) if source is not None]


def end_of_earlier_cycles(unit: Unit, run: Run) -> datetime | None:
    """When the last run of this campaign's earlier cycles gave the link back."""
    query = select(func.max(func.coalesce(Run.released_at, Run.ended_at))).where(Run.campaign_id == run.campaign_id)
    return unit.session.scalar(query.where(Run.link == run.link, Run.cycle < run.cycle))


def is_link_busy(unit: Unit, run: Run) -> bool:
    """Whether a run is on this run's link."""
    query = select(Run.id).where(Run.link == run.link, Run.state.in_(ACTIVE_NAMES), Run.released_at.is_(None))
    return unit.session.scalar(query.limit(1)) is not None


def bytes_used(unit: Unit, campaign_id: UUID) -> int:
    """What a campaign's flows have carried, failed runs included."""
    sent, received = (
        cast(outcome["app_bytes"].astext, BigInteger) for outcome in (RunFlow.sender_outcome, RunFlow.receiver_outcome)
    )
    total = select(func.coalesce(func.sum(func.coalesce(func.greatest(sent, received), 0)), 0))
    query = total.join(Run, Run.id == RunFlow.run_id).where(Run.campaign_id == campaign_id)
    return int(unit.session.scalar(query) or 0)


def view(unit: Unit, run: Run, now: datetime) -> RunView:
    """The run as the deciders see it."""
    verdict = (
        Verdict(RunState(run.verdict), Reason(run.reason or "internal"), run.detail or "") if run.verdict else None
    )
    flows = flows_of(unit, run.id)
    return RunView(
        state=RunState(run.state),
        state_at=run.state_at,
        hosts=tuple(_host_view(host, flows) for host in hosts_of(unit, run.id)),
        base_rtt_ms=run.base_rtt_ms,
        deadline_s=run.deadline_s,
        watched_since=find_watched_since(unit, now),
        start_at=run.start_at,
        verdict=verdict,
        is_released=run.released_at is not None,
        unstarted=_unstarted(unit, run),
    )


def _unstarted(unit: Unit, run: Run) -> frozenset[str]:
    """Agents that say, too long after the start to begin, that they wait for it."""
    if run.state != RunState.RUNNING or run.start_at is None:
        return frozenset()
    query = select(Agent.name).where(Agent.run_id == run.id, Agent.status == AgentStatus.READY)
    late = Agent.last_seen_at > run.start_at + timedelta(seconds=LATEST_START_S)
    return frozenset(unit.session.scalars(query.where(late)))


def _host_view(host: RunHost, flows: Sequence[RunFlow]) -> HostView:
    samples = sum(outcome["samples"] for outcome in outcomes_of(flows, host.agent))
    return HostView(host.agent, HostPhase(host.phase), host.heard_at, host.stored_at, samples, host.upload_orders)


def outcomes_of(flows: Sequence[RunFlow], agent: str) -> list[Json]:
    """What an agent has said of its ends of these flows."""
    ends = [(flow, end) for flow in flows for end in End if getattr(flow, end) == agent]
    return [outcome for flow, end in ends if (outcome := getattr(flow, f"{end}_outcome"))]
