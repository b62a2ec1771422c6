"""What analysis made of traces: series, metrics, reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, insert, select
from sqlalchemy.dialects.postgresql import insert as upsert

from downlink.storage.tables import Metric, Report, Run, RunFlow, SeriesBin
from downlink.storage.unit import Unit

SERIES_COLUMNS = (
    "throughput_bps", "goodput_bps", "rtt_ms", "rwnd_bytes", "cwnd_bytes", "retransmission_percent", "in_flight_bytes",
)  # fmt: skip
METRIC_COLUMNS = (*SERIES_COLUMNS, "utilisation_ratio")


def replace_series(unit: Unit, run_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    """Set a run's one-second bins; each row has flow, bin_s and the series columns."""
    unit.session.execute(delete(SeriesBin).where(SeriesBin.run_id == run_id))
    if rows:
        unit.session.execute(insert(SeriesBin), [{"run_id": run_id, **row} for row in rows])


def replace_metrics(unit: Unit, run_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    """Set a run's phase means; each row has flow, phase and the metric columns."""
    unit.session.execute(delete(Metric).where(Metric.run_id == run_id))
    if rows:
        unit.session.execute(insert(Metric), [{"run_id": run_id, **row} for row in rows])


def series_rows(unit: Unit, run_ids: Iterable[UUID]) -> Sequence[Any]:
    """(run_id, flow, bin_s, *SERIES_COLUMNS) in this order, sorted by run, flow and bin."""
    columns = [getattr(SeriesBin, name) for name in ("run_id", "flow", "bin_s", *SERIES_COLUMNS)]
    query = select(*columns).where(SeriesBin.run_id.in_(list(run_ids)))
    return unit.session.execute(query.order_by(SeriesBin.run_id, SeriesBin.flow, SeriesBin.bin_s)).all()


def metric_rows(unit: Unit, run_ids: Iterable[UUID]) -> Sequence[Metric]:
    query = select(Metric).where(Metric.run_id.in_(list(run_ids)))
    return unit.session.scalars(query.order_by(Metric.run_id, Metric.flow, Metric.phase)).all()


def flow_rows(unit: Unit, campaign_id: UUID) -> Sequence[tuple[Run, RunFlow]]:
    """Every flow of every run of a campaign, with its run."""
    query = select(Run, RunFlow).join(RunFlow, RunFlow.run_id == Run.id).where(Run.campaign_id == campaign_id)
    rows = unit.session.execute(
        query.order_by(Run.due_at, Run.cycle, Run.position, Run.link, Run.attempt, RunFlow.flow)
    )
    return [(run, flow) for run, flow in rows]


def find_report(unit: Unit, campaign_id: UUID) -> Report | None:
    return unit.session.get(Report, campaign_id)


def store_report(
    unit: Unit, campaign_id: UUID, version: int, analysis_version: str, body: bytes, now: datetime
) -> None:
    """Put the report in the place of an older one; a newer one stays."""
    row = {"version": version, "analysis_version": analysis_version, "body": body, "computed_at": now}
    fresh = upsert(Report).values(campaign_id=campaign_id, **row)
    unit.session.execute(
        fresh.on_conflict_do_update(index_elements=["campaign_id"], set_=row, where=Report.version <= version)
    )
