"""Runs under way, as the tick and agents ask for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import and_, false, func, or_, select, text

from downlink.domain.fleet.agent import AgentStatus
from downlink.domain.runs.run import ACTIVE, LATEST_START_S, Ending, HostPhase, HostView, Reason, RunState, RunView
from downlink.storage.heartbeats import find_watched_since
from downlink.storage.tables import Agent, Run, RunFlow, RunHost, outcomes
from downlink.storage.unit import Unit

ACTIVE_NAMES = sorted(ACTIVE)


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


def lost_jobs(unit: Unit, now: datetime, resend: timedelta) -> Sequence[Run]:
    """Runs that need a job which was not sent, or so long ago that it must be lost."""
    query = select(Run).where(
        Run.needs.is_not(None), or_(Run.needs_sent_at.is_(None), Run.needs_sent_at < now - resend)
    )
    return unit.session.scalars(query.with_for_update(skip_locked=True)).all()


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
