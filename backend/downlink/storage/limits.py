"""What held each flow back, and the buffers advised for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import delete, insert, select

from downlink.storage.tables import FlowLimit, LimitBin
from downlink.storage.unit import Unit

Rows = Sequence[Mapping[str, Any]]


def replace_limits(unit: Unit, run_id: UUID, flows: Rows, bins: Rows) -> None:
    """Set what held a run's flows; rows without their run_id."""
    for table, rows in ((FlowLimit, flows), (LimitBin, bins)):
        unit.session.execute(delete(table).where(table.run_id == run_id))
        if rows:
            unit.session.execute(insert(table), [{"run_id": run_id, **row} for row in rows])


def flow_limits(unit: Unit, run_ids: Iterable[UUID]) -> Sequence[FlowLimit]:
    query = select(FlowLimit).where(FlowLimit.run_id.in_(list(run_ids)))
    return unit.session.scalars(query.order_by(FlowLimit.run_id, FlowLimit.flow)).all()


def limit_bins(unit: Unit, run_ids: Iterable[UUID]) -> Sequence[LimitBin]:
    """Sorted by run, flow and second."""
    query = select(LimitBin).where(LimitBin.run_id.in_(list(run_ids)))
    return unit.session.scalars(query.order_by(LimitBin.run_id, LimitBin.flow, LimitBin.bin_s)).all()
