"""Runs with their flows and hosts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import (
    ColumnElement,
    Select,
    TextClause,
    and_,
    false,
    func,
    or_,
    select,
    text,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by

from downlink.domain.campaigns.campaign_state import UNDER_WAY
from downlink.domain.campaigns.rerun import OPEN_TO_RERUNS, REPEATABLE
from downlink.domain.errors import NotFoundError
from downlink.domain.fleet.agent import AgentStatus
from downlink.domain.runs.outcome import FlowOutcome
from downlink.domain.runs.run import (
    ACTIVE,
    FINAL,
    LATEST_START_S,
    Ending,
    HostPhase,
    HostView,
    Reason,
    RunState,
    RunView,
    Trait,
    reasons_with,
)
from downlink.storage.heartbeats import find_watched_since
from downlink.storage.notices import events
from downlink.storage.results import judgement_store
from downlink.storage.tables import (
    Agent,
    Campaign,
    Event,
    FlowProxy,
    Json,
    Metric,
    Run,
    RunFlow,
    RunHost,
    Trace,
    outcomes,
)
from downlink.storage.unit import Unit

ACTIVE_NAMES = sorted(ACTIVE)
FINAL_NAMES = sorted(FINAL)


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


class BookedRun(NamedTuple):
    """The part of a run that matters to the plans of other campaigns."""

    campaign: str
    link: str
    agents: Sequence[str]
    is_host_wide: bool
    due_at: datetime
    expected_s: float


def get_run(unit: Unit, run_id: UUID, *, is_locked: bool = False) -> Run:
    """NotFoundError when there is none. Locked runs are read again."""
    query = select(Run).where(Run.id == run_id)
    run = unit.session.scalar(query.with_for_update().execution_options(populate_existing=True) if is_locked else query)
    if run is None:
        raise NotFoundError("run_not_found", f"There is no run {run_id}.")
    return run


def get_runs(unit: Unit, run_ids: Iterable[UUID]) -> Sequence[Run]:
    """Return the existing ones of these runs, in the order of the plan."""
    return unit.session.scalars(select(Run).where(Run.id.in_(list(run_ids))).order_by(*PLAN_ORDER)).all()


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


def flows_of(unit: Unit, run_id: UUID) -> Sequence[RunFlow]:
    return unit.session.scalars(select(RunFlow).where(RunFlow.run_id == run_id).order_by(RunFlow.flow)).all()


def fingerprints(unit: Unit, run_id: UUID) -> dict[str, Mapping[str, Any]]:
    """Return by agent the fingerprint of its host when it was ready; without agents that sent none."""
    query = select(RunHost.agent, RunHost.fingerprint).where(RunHost.run_id == run_id)
    return {agent: facts for agent, facts in unit.session.execute(query).all() if facts}


def flows_of_runs(unit: Unit, run_ids: Collection[UUID]) -> Sequence[RunFlow]:
    query = select(RunFlow).where(RunFlow.run_id.in_(run_ids)).order_by(RunFlow.run_id, RunFlow.flow)
    return unit.session.scalars(query).all()


def hosts_of(unit: Unit, run_id: UUID) -> Sequence[RunHost]:
    return unit.session.scalars(select(RunHost).where(RunHost.run_id == run_id).order_by(RunHost.agent)).all()


def hosts_of_runs(unit: Unit, run_ids: Collection[UUID]) -> Sequence[RunHost]:
    query = select(RunHost).where(RunHost.run_id.in_(run_ids)).order_by(RunHost.run_id, RunHost.agent)
    return unit.session.scalars(query).all()


def find_host(unit: Unit, run_id: UUID, agent: str) -> RunHost | None:
    return unit.session.get(RunHost, (run_id, agent), populate_existing=True)


def list_runs(unit: Unit, campaign_id: UUID, state: str | None, limit: int, offset: int) -> tuple[list[RunRow], int]:
    """Return runs in the order of the plan. Raise NotFoundError if there is no such campaign."""
    if unit.session.scalar(select(Campaign.id).where(Campaign.id == campaign_id)) is None:
        raise NotFoundError("campaign_not_found", f"There is no campaign {campaign_id}.")
    where = and_(Run.campaign_id == campaign_id, Run.state == state if state else true())
    total = unit.session.scalar(select(func.count()).select_from(Run).where(where)) or 0
    return list(_rows(unit, select(Run.id).where(where).order_by(*PLAN_ORDER).limit(limit).offset(offset))), total


PLAN_ORDER = (Run.due_at, Run.cycle, Run.position, Run.link, Run.attempt)


def run_states(unit: Unit, campaign_id: UUID) -> list[tuple[UUID, RunState]]:
    """All runs of a campaign with their states, in the order of the plan."""
    query = select(Run.id, Run.state).where(Run.campaign_id == campaign_id).order_by(*PLAN_ORDER)
    return [(id_, RunState(state)) for id_, state in unit.session.execute(query)]


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


def add_rows(unit: Unit, runs: Sequence[Json], flows: Sequence[Json], hosts: Sequence[Json]) -> None:
    """New runs with their flows and hosts: of each table rows with the same columns, in one statement."""
    unit.session.flush()
    for table, own in ((Run, runs), (RunFlow, flows), (RunHost, hosts)):
        if own:
            unit.session.execute(_insert(table.__tablename__, tuple(own[0])), {"rows": orjson.dumps(own).decode()})


@cache
def _insert(table: str, columns: tuple[str, ...]) -> TextClause:
    # As one document: the driver would take longer to write tens of thousands of rows one by one than PostgreSQL to store them.
    names = ", ".join(columns)
    rows = f"json_populate_recordset(NULL::{table}, CAST(:rows AS json))"
    return text(f"INSERT INTO {table} ({names}) SELECT {names} FROM {rows}")  # noqa: S608 - names of tables and columns


def run_of_agent(unit: Unit, agent: str) -> tuple[Run, RunHost] | None:
    """The active run that is leased to this agent: at most one is, and if ever there are two, the later one counts."""
    query = select(Run, RunHost).join(RunHost, RunHost.run_id == Run.id)
    query = query.where(RunHost.agent == agent, Run.state.in_(ACTIVE_NAMES), Run.released_at.is_(None))
    query = query.order_by(Run.state_at.desc()).execution_options(populate_existing=True)
    row = unit.session.execute(query).first()
    return (row[0], row[1]) if row else None


def due_active_runs(unit: Unit, now: datetime) -> Sequence[UUID]:
    """Runs under way that want to be looked at, locked; those that another transaction holds are being looked at there."""
    query = select(Run.id).where(Run.wake_at <= now, Run.state.in_(ACTIVE_NAMES)).order_by(Run.wake_at)
    return unit.session.scalars(query.with_for_update(skip_locked=True)).all()


def wake_active_runs(unit: Unit, now: datetime) -> None:
    """Have every run looked at that waits for agents or for time; released ones wait only for jobs."""
    held = select(Run.id).where(Run.state.in_(ACTIVE_NAMES), Run.released_at.is_(None))
    set_wakes(unit, dict.fromkeys(unit.session.scalars(held), now))


_SET_WAKES = text("""
    UPDATE runs SET wake_at = wanted.at
    FROM unnest(CAST(:ids AS uuid[]), CAST(:moments AS timestamptz[])) AS wanted(id, at)
    WHERE runs.id = wanted.id AND runs.id IN (
        SELECT id FROM runs WHERE id = ANY(CAST(:ids AS uuid[])) FOR UPDATE SKIP LOCKED
    )
""")


def set_wakes(unit: Unit, wakes: Mapping[UUID, datetime | None]) -> None:
    """Set when these runs are to be looked at. A transaction that holds one of them sets it itself."""
    if wakes:
        unit.session.execute(_SET_WAKES, {"ids": list(wakes), "moments": list(wakes.values())})


def runs_at_agent(unit: Unit, agent: str, run_ids: Iterable[UUID]) -> dict[UUID, tuple[Run, RunHost]]:
    """Return those of these runs in which this agent takes, or took, part."""
    query = select(Run, RunHost).join(RunHost, RunHost.run_id == Run.id)
    query = query.where(RunHost.agent == agent, Run.id.in_(list(run_ids)))
    return {run.id: (run, host) for run, host in unit.session.execute(query)}


def later_attempts(unit: Unit, run: Run) -> Sequence[Run]:
    """Lock and read the later attempts at the same place."""
    query = select(Run).where(
        Run.campaign_id == run.campaign_id, Run.link == run.link, Run.cycle == run.cycle,
        Run.position == run.position, Run.attempt > run.attempt,
    )  # fmt: skip
    locked = query.order_by(Run.attempt).with_for_update().execution_options(populate_existing=True)
    return unit.session.scalars(locked).all()


def count_passing(unit: Unit, run: Run) -> int:
    """Count the attempts at this place, up to this one, that ended for a PASSING reason."""
    query = select(func.count()).where(
        Run.campaign_id == run.campaign_id, Run.link == run.link, Run.cycle == run.cycle,
        Run.position == run.position, Run.attempt <= run.attempt, Run.reason.in_(reasons_with(Trait.PASSING)),
    )  # fmt: skip
    return unit.session.scalar(query) or 0


def lost_jobs(unit: Unit, now: datetime, resend: timedelta) -> Sequence[Run]:
    """Runs that need a job which was not sent, or so long ago that it must be lost."""
    query = select(Run).where(
        Run.needs.is_not(None), or_(Run.needs_sent_at.is_(None), Run.needs_sent_at < now - resend)
    )
    return unit.session.scalars(query.with_for_update(skip_locked=True)).all()


def booked_runs(unit: Unit) -> list[BookedRun]:
    """Everything that is planned or under way, of all campaigns."""
    columns = (Campaign.name, Run.link, func.array_agg(RunHost.agent), Run.is_host_wide, Run.due_at, Run.expected_s)
    query = select(*columns).join(Run, Run.campaign_id == Campaign.id).join(RunHost, RunHost.run_id == Run.id)
    held = and_(Run.state.not_in(FINAL_NAMES), Run.released_at.is_(None), Campaign.state.in_(sorted(UNDER_WAY)))
    rows = unit.session.execute(query.where(held).group_by(Campaign.name, Run.id))
    return [BookedRun(*row) for row in rows]


def postpone_planned(unit: Unit, campaign_id: UUID, pause: timedelta) -> None:
    planned = update(Run).where(Run.campaign_id == campaign_id, Run.state == RunState.PLANNED)
    unit.session.execute(planned.values(due_at=Run.due_at + pause))


def lock_unfinished(unit: Unit, campaign_id: UUID, most_planned: int | None = None) -> dict[UUID, RunState]:
    """The campaign's runs that have not ended, with their states; locked, in a fixed order. most_planned: of those, the next ones."""
    of_campaign = select(Run.id).where(Run.campaign_id == campaign_id)
    planned = of_campaign.where(Run.state == RunState.PLANNED).order_by(Run.due_at, Run.cycle, Run.position)
    under_way = of_campaign.where(Run.state.not_in((RunState.PLANNED, *FINAL_NAMES)))
    wanted = or_(Run.id.in_(planned.limit(most_planned)), Run.id.in_(under_way))
    query = select(Run.id, Run.state).where(wanted, Run.state.not_in(FINAL_NAMES))
    rows = unit.session.execute(query.order_by(Run.id).with_for_update())
    return {id_: RunState(state) for id_, state in rows}


_LEFT_OF_CANCELLED = text("""
    SELECT id FROM campaigns WHERE state = 'cancelled'
    AND EXISTS (SELECT FROM runs WHERE runs.campaign_id = campaigns.id AND runs.state = 'planned')
    UNION
    SELECT campaigns.id FROM runs JOIN campaigns ON campaigns.id = runs.campaign_id
    WHERE runs.state = ANY(:active) AND runs.released_at IS NULL AND runs.verdict IS NULL AND campaigns.state = 'cancelled'
""")


def left_of_cancelled(unit: Unit) -> Sequence[UUID]:
    """Cancelled campaigns of which runs are still planned, or under way with nothing said of their end."""
    return unit.session.scalars(_LEFT_OF_CANCELLED, {"active": list(ACTIVE_NAMES)}).all()


_END_PLANNED = text("""
    UPDATE runs SET state = wanted.state, state_at = :now, reason = wanted.reason, detail = wanted.detail,
        ended_at = coalesce(ended_at, :now), released_at = coalesce(released_at, :now),
        needs = NULL, live = NULL, wake_at = NULL, hop_secret = NULL
    FROM unnest(CAST(:ids AS uuid[]), CAST(:states AS text[]), CAST(:reasons AS text[]), CAST(:details AS text[]))
        AS wanted(id, state, reason, detail)
    WHERE runs.id = wanted.id AND runs.state = 'planned' RETURNING runs.link, runs.cycle
""")
_TAKE_TICKETS = text("UPDATE run_flows SET ticket = NULL WHERE run_id = ANY(CAST(:ids AS uuid[]))")


def end_planned(unit: Unit, endings: Mapping[UUID, Ending], now: datetime) -> set[tuple[str, int]]:
    """End these planned runs, which must be locked: nothing of them is left to give back. The links and cycles they were in.

    Runs that the session has read already are not read again.
    """
    ids, ends = list(endings), endings.values()
    values = {"states": [each.state for each in ends], "reasons": [each.reason for each in ends], "now": now}
    details = [each.detail for each in ends]
    ended = unit.session.execute(_END_PLANNED, {**values, "ids": ids, "details": details})
    unit.session.execute(_TAKE_TICKETS, {"ids": ids})
    return {(link, cycle) for link, cycle in ended}


def open_cycles(unit: Unit, campaign_id: UUID) -> set[tuple[str, int]]:
    """The links and cycles of the campaign in which a run has not ended."""
    query = select(Run.link, Run.cycle).where(Run.campaign_id == campaign_id, Run.state.not_in(FINAL_NAMES)).distinct()
    return {(link, cycle) for link, cycle in unit.session.execute(query)}


def unfinished_in_cycle(unit: Unit, run: Run) -> int:
    query = select(func.count()).where(Run.campaign_id == run.campaign_id, Run.link == run.link, Run.cycle == run.cycle)
    return unit.session.scalar(query.where(Run.state.not_in(FINAL_NAMES))) or 0


def is_first_complete(unit: Unit, run: Run) -> bool:
    """Return whether no other run of its condition on its link is complete."""
    same = (Run.campaign_id == run.campaign_id, Run.link == run.link, Run.condition == run.condition)
    others = select(func.count()).where(*same, Run.state == RunState.COMPLETE, Run.id != run.id)
    return unit.session.scalar(others) == 0


def unfinished_in_campaign(unit: Unit, campaign_id: UUID) -> int:
    query = select(func.count()).where(Run.campaign_id == campaign_id, Run.state.not_in(FINAL_NAMES))
    return unit.session.scalar(query) or 0


def last_cycle(unit: Unit, campaign_id: UUID) -> int:
    """The highest cycle that a run of the campaign has; 0 without runs."""
    return unit.session.scalar(select(func.max(Run.cycle)).where(Run.campaign_id == campaign_id)) or 0


def last_end_in_campaign(unit: Unit, campaign_id: UUID) -> datetime | None:
    """Return when a run here last came to its end; an imported run's ended_at is that of its measurement."""
    ended = (Run.campaign_id == campaign_id, Run.state.in_(FINAL_NAMES))
    return unit.session.scalar(select(func.max(Run.state_at)).where(*ended))


def imported_runs(unit: Unit, campaign_id: UUID) -> Sequence[tuple[str, Json]]:
    """(condition, import source) of every imported run of a campaign."""
    query = select(Run.condition, Run.import_source).where(Run.campaign_id == campaign_id)
    return [(name, source) for name, source in unit.session.execute(query) if source is not None]


def carried_bytes() -> ColumnElement[int]:
    """Return the sum of the carried bytes of flows."""
    return func.coalesce(func.sum(RunFlow.carried_bytes), 0)


def used_bytes(unit: Unit, campaign_ids: Iterable[UUID]) -> dict[UUID, int]:
    """Return the bytes that these campaigns' flows have carried, failed runs included."""
    query = select(Run.campaign_id, carried_bytes()).join(Run, Run.id == RunFlow.run_id)
    rows = unit.session.execute(query.where(Run.campaign_id.in_(list(campaign_ids))).group_by(Run.campaign_id))
    return {campaign_id: int(carried) for campaign_id, carried in rows}


def views(unit: Unit, run_ids: Sequence[UUID], now: datetime) -> dict[UUID, RunView]:
    """Return these runs as the deciders see them."""
    since, hosts = find_watched_since(unit, now), _host_views(unit, run_ids)
    columns = (
        Run.id, Run.state, Run.state_at, Run.base_rtt_ms, Run.deadline_s, Run.start_at, Run.released_at,
        Run.verdict, Run.reason, Run.detail,
    )  # fmt: skip
    return {
        run.id: RunView(
            state=RunState(run.state),
            state_at=run.state_at,
            hosts=tuple(host for host, _ in hosts[run.id]),
            base_rtt_ms=run.base_rtt_ms,
            deadline_s=run.deadline_s,
            watched_since=since,
            start_at=run.start_at,
            ending=_ending(run.verdict, run.reason, run.detail),
            is_released=run.released_at is not None,
            unstarted=frozenset(host.agent for host, is_unstarted in hosts[run.id] if is_unstarted),
        )
        for run in unit.session.execute(select(*columns).where(Run.id.in_(run_ids)))
    }


def _ending(state: str | None, reason: str | None, detail: str | None) -> Ending | None:
    return Ending(RunState(state), Reason(reason or Reason.INTERNAL), detail or "") if state else None


def _host_views(unit: Unit, run_ids: Sequence[UUID]) -> Mapping[UUID, list[tuple[HostView, bool]]]:
    """Return by run: its hosts, and whether each one's agent reports, too late to begin, that it waits for the start."""
    samples: dict[tuple[UUID, str], int] = defaultdict(int)
    announced = outcomes.samples(RunFlow.sender_outcome), outcomes.samples(RunFlow.receiver_outcome)
    flows = select(RunFlow.run_id, RunFlow.sender, RunFlow.receiver, *announced).where(RunFlow.run_id.in_(run_ids))
    for run_id, sender, receiver, sent, received in unit.session.execute(flows):
        samples[run_id, sender] += sent or 0
        samples[run_id, receiver] += received or 0
    logged = select(Run.id, outcomes.reporter(Run.link_outcome), outcomes.samples(Run.link_outcome))
    for run_id, agent, rows in unit.session.execute(logged.where(Run.id.in_(run_ids), Run.link_outcome.is_not(None))):
        samples[run_id, agent] += rows or 0
    waits = and_(
        Run.state == RunState.RUNNING,
        Agent.run_id == Run.id,
        Agent.status == AgentStatus.READY,
        Agent.last_seen_at > Run.start_at + timedelta(seconds=LATEST_START_S),
    )
    columns = (RunHost.agent, RunHost.phase, RunHost.heard_at, RunHost.stored_at, RunHost.upload_orders)
    query = select(RunHost.run_id, func.coalesce(waits, false()), *columns).join(Run, Run.id == RunHost.run_id)
    query = query.outerjoin(Agent, Agent.name == RunHost.agent).where(RunHost.run_id.in_(run_ids))
    views_of: dict[UUID, list[tuple[HostView, bool]]] = defaultdict(list)
    for run_id, is_unstarted, agent, phase, heard_at, stored_at, orders in unit.session.execute(
        query.order_by(RunHost.agent)
    ):
        host = HostView(agent, HostPhase(phase), heard_at, stored_at, samples[run_id, agent], orders)
        views_of[run_id].append((host, is_unstarted))
    return views_of


def outcomes_of(flows: Sequence[RunFlow], agent: str) -> list[FlowOutcome]:
    """Return the outcomes that an agent has reported of its ends of these flows."""
    ends = [(flow, point) for flow in flows if (point := flow.point_of(agent))]
    return [outcome for flow, point in ends if (outcome := flow.outcomes.get(point))]
