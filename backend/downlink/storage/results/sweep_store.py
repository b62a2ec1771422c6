"""Sweeps and their parts. Lock order: the sweep first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy import delete, func, select

from downlink.domain.errors import NotFoundError
from downlink.domain.runs.run import RunState
from downlink.storage.tables import LEFT_OUT, Exit, Run, Sweep, SweepPart
from downlink.storage.unit import Unit

FlowKey = tuple[UUID, int]
"""Run and flow."""


def decidable_flows(unit: Unit, campaign_id: UUID, detector: str, version: str) -> Sequence[FlowKey]:
    """The flows of complete runs on which this detector could decide."""
    query = select(Exit.run_id, Exit.flow).join(Run, Run.id == Exit.run_id)
    wanted = query.where(
        Run.campaign_id == campaign_id,
        Run.state == RunState.COMPLETE,
        LEFT_OUT.is_not(True),
        Exit.detector == detector,
        Exit.version == version,
        Exit.is_decidable,
    )
    return [(row[0], row[1]) for row in unit.session.execute(wanted.distinct().order_by(Exit.run_id, Exit.flow))]


def add_sweep(unit: Unit, sweep: Sweep, flows: Iterable[FlowKey]) -> None:
    unit.session.add(sweep)
    unit.session.flush()
    unit.session.add_all(SweepPart(sweep_id=sweep.id, run_id=run_id, flow=flow) for run_id, flow in flows)
    unit.session.flush()


def get_sweep(unit: Unit, sweep_id: UUID, *, is_locked: bool = False) -> Sweep:
    """NotFoundError when there is none. A locked sweep is read again."""
    query = select(Sweep).where(Sweep.id == sweep_id)
    if is_locked:
        query = query.with_for_update().execution_options(populate_existing=True)
    sweep = unit.session.scalar(query)
    if sweep is None:
        raise NotFoundError("sweep_not_found", f"There is no sweep {sweep_id}.")
    return sweep


def list_sweeps(unit: Unit, campaign_id: UUID, limit: int, offset: int) -> tuple[Sequence[Sweep], int]:
    """Newest first."""
    where = Sweep.campaign_id == campaign_id
    total = unit.session.scalar(select(func.count()).select_from(Sweep).where(where)) or 0
    query = select(Sweep).where(where).order_by(Sweep.created_at.desc(), Sweep.id).limit(limit).offset(offset)
    return unit.session.scalars(query).all(), total


def delete_sweep(unit: Unit, sweep_id: UUID) -> None:
    get_sweep(unit, sweep_id, is_locked=True)
    unit.session.execute(delete(Sweep).where(Sweep.id == sweep_id))


def progress(unit: Unit, sweep_ids: Iterable[UUID]) -> dict[UUID, tuple[int, int]]:
    """Return per sweep: parts done, parts in all."""
    unit.session.flush()
    query = select(SweepPart.sweep_id, func.count(SweepPart.timings), func.count())
    rows = unit.session.execute(query.where(SweepPart.sweep_id.in_(list(sweep_ids))).group_by(SweepPart.sweep_id))
    return {row[0]: (row[1], row[2]) for row in rows}


def get_part(unit: Unit, part_id: UUID) -> SweepPart:
    """Read again; NotFoundError when its sweep was deleted."""
    part = unit.session.get(SweepPart, part_id, populate_existing=True)
    if part is None:
        raise NotFoundError("sweep_part_not_found", f"There is no part {part_id} of any sweep.")
    return part


def done_parts(unit: Unit, sweep_id: UUID) -> Sequence[SweepPart]:
    query = select(SweepPart).where(SweepPart.sweep_id == sweep_id, SweepPart.timings.is_not(None))
    return unit.session.scalars(query.order_by(SweepPart.run_id, SweepPart.flow)).all()


def unfinished_sweeps(unit: Unit) -> Sequence[Sweep]:
    """Oldest first, locked; one that is just being worked on is left out."""
    query = select(Sweep).where(Sweep.state.in_(("queued", "running"))).order_by(Sweep.created_at, Sweep.id)
    return unit.session.scalars(query.with_for_update(skip_locked=True)).all()


def parts_under_way(unit: Unit, sweep_id: UUID) -> Sequence[SweepPart]:
    """Sent and not done."""
    query = select(SweepPart).where(SweepPart.sweep_id == sweep_id, SweepPart.timings.is_(None))
    return unit.session.scalars(query.where(SweepPart.sent_at.is_not(None))).all()


def unsent_parts(unit: Unit, sweep_id: UUID, limit: int) -> Sequence[SweepPart]:
    query = select(SweepPart).where(SweepPart.sweep_id == sweep_id, SweepPart.sent_at.is_(None))
    return unit.session.scalars(query.order_by(SweepPart.run_id, SweepPart.flow).limit(limit)).all()
