"""The way from agents' chunks to their runs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select, update

from downlink.domain.runs.outcome import Announced
from downlink.domain.runs.run import FINAL, HostPhase, RunState
from downlink.domain.traces.point import NO_FLOW, TABLES, Point
from downlink.storage.tables import Run, RunFlow, RunHost
from downlink.storage.unit import Unit


@dataclass(frozen=True)
class Upload:
    """One end of a flow as its agent's chunks find it. chunks: how many were announced. stored_bytes: the agent's in this run."""

    attempt: int
    state: str
    is_wanted: bool
    chunks: int
    stored_bytes: int


def find_uploads(unit: Unit, run_id: UUID, flows: Collection[int], agent: str) -> dict[tuple[int, Point], Upload]:
    """Return what is known of this agent's points of these flows.

    The run is held as it is until the transaction ends, so that no chunk slips in behind its seal.
    """
    query = (
        select(Run, RunHost, RunFlow)
        .join(RunFlow, RunFlow.run_id == Run.id)
        .join(RunHost, RunHost.run_id == Run.id)
        .where(Run.id == run_id, RunFlow.flow.in_(flows), RunHost.agent == agent)
    )
    known = {
        (flow.flow, point): _upload(run, host, flow.announced_at(point))
        for run, host, flow in unit.session.execute(query.with_for_update(read=True, of=Run))
        for point in _points(flow, agent)
    }
    return {**known, **_link_upload(unit, run_id, agent)} if NO_FLOW in flows else known


def _points(flow: RunFlow, agent: str) -> list[Point]:
    """Its own, and those of tables that it may keep."""
    own = flow.point_of(agent)
    return [] if own is None else [own, *(table for table in TABLES if flow.keeper_of(table) == own)]


def _link_upload(unit: Unit, run_id: UUID, agent: str) -> dict[tuple[int, Point], Upload]:
    """The link's log, where it is this agent's."""
    query = select(Run, RunHost).join(RunHost, RunHost.run_id == Run.id).where(Run.id == run_id, RunHost.agent == agent)
    row = unit.session.execute(query.with_for_update(read=True, of=Run)).one_or_none()
    if row is None or row[0].link_outcome is None or row[0].link_outcome.agent != agent:
        return {}
    return {(NO_FLOW, Point.LINK): _upload(row[0], row[1], row[0].link_outcome)}


def _upload(run: Run, host: RunHost, outcome: Announced | None) -> Upload:
    is_wanted = run.state == RunState.UPLOADING and run.released_at is None and host.phase == HostPhase.RESTORED
    announced = outcome.announced_chunks if outcome else 0
    return Upload(run.attempt, run.state, is_wanted or takes_late(run, host), announced, host.stored_bytes)


def is_settled(run: Run) -> bool:
    """Return whether a run has ended, by itself, and no job of it is due."""
    return run.state in FINAL and run.state != RunState.CANCELLED and run.needs is None


def takes_late(run: Run, host: RunHost) -> bool:
    """Return whether a run that has ended still takes chunks of an agent that it was ended without."""
    return is_settled(run) and run.traces_removed_at is None and host.phase in (HostPhase.LOST, HostPhase.RESTORED)


def note_stored(unit: Unit, run_id: UUID, agent: str, size: int, now: datetime) -> None:
    """An agent's upload goes on: one more chunk is stored."""
    host = update(RunHost).where(RunHost.run_id == run_id, RunHost.agent == agent)
    moved = {"stored_at": now, "stored_bytes": RunHost.stored_bytes + size, "upload_orders": 0}
    unit.session.execute(host.values(moved))
