"""Retention of campaigns' data: sizes, rules, and the removal of some runs' data at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from sqlalchemy import BigInteger, ColumnElement, cast, delete, exists, func, or_, select, true, update

from downlink.domain.campaigns.campaign_state import ENDED
from downlink.domain.campaigns.retention import Keep, Part
from downlink.domain.doc import Doc
from downlink.domain.moment import Moment
from downlink.storage.runs.run_store import FINAL_NAMES
from downlink.storage.tables import Campaign, Chunk, FlowLimit, Retention, Run, RunFlow, StoredSeries
from downlink.storage.unit import Unit

NO_BYTES = b""


@dataclass(frozen=True, slots=True)
class DataSize:
    traces_bytes: Annotated[int, Doc("Raw traces as they are stored")]
    traces_runs: int
    unsized_parts: Annotated[int, Doc("Parts in a trace store whose size is not on record: not in traces_bytes")]
    series_bytes: int
    series_runs: int


NOTHING = DataSize(0, 0, 0, 0, 0)


def keep_of(row: Retention | None) -> Keep:
    return Keep(row.traces_days, row.series_days, row.all_days) if row else Keep()


def sizes(unit: Unit, campaign_ids: Sequence[UUID] | None = None) -> dict[UUID, DataSize]:
    """Return sizes by campaign; of all campaigns unless some are named. Reads the rows without their contents."""
    traces = {row[0]: row[1:] for row in unit.session.execute(_of(_traces_query(), campaign_ids))}
    series = {row[0]: row[1:] for row in unit.session.execute(_of(_series_query(), campaign_ids))}
    return {
        each: DataSize(*traces.get(each, (0, 0, 0)), *series.get(each, (0, 0)))
        for each in traces.keys() | series.keys()
    }


def _traces_query() -> Any:
    in_row = func.octet_length(func.coalesce(Chunk.parquet, Chunk.packed))
    size = func.coalesce(Chunk.parquet_bytes, in_row)
    unsized = func.count().filter(Chunk.folder_id.is_not(None), Chunk.parquet_bytes.is_(None))
    runs = func.count(Chunk.run_id.distinct())
    total = func.coalesce(func.sum(size), 0)
    return select(Run.campaign_id, _whole(total), runs, unsized).join(Chunk, Chunk.run_id == Run.id)


def _series_query() -> Any:
    size = func.coalesce(func.sum(func.octet_length(StoredSeries.packed)), 0)
    runs = func.count(StoredSeries.run_id.distinct())
    return select(Run.campaign_id, _whole(size), runs).join(StoredSeries, StoredSeries.run_id == Run.id)


def _whole(total: ColumnElement[Any]) -> ColumnElement[int]:
    return cast(total, BigInteger)


def _of(query: Any, campaign_ids: Sequence[UUID] | None) -> Any:
    return (query if campaign_ids is None else query.where(Run.campaign_id.in_(campaign_ids))).group_by(Run.campaign_id)


def campaigns_with(unit: Unit) -> Sequence[tuple[Campaign, Retention | None]]:
    """Every campaign that is no draft, the newest first, with what it keeps."""
    query = select(Campaign, Retention).outerjoin(Retention, Retention.campaign_id == Campaign.id)
    campaigns = query.where(Campaign.state != "draft").order_by(Campaign.created_at.desc(), Campaign.id)
    return [(row[0], row[1]) for row in unit.session.execute(campaigns)]


def ruled(unit: Unit) -> Sequence[tuple[Campaign, Retention]]:
    """Ended campaigns with a rule, of which nothing is being removed; pinned ones are left out."""
    has_rule = or_(*(days.is_not(None) for days in (Retention.traces_days, Retention.series_days, Retention.all_days)))
    query = select(Campaign, Retention).join(Retention, Retention.campaign_id == Campaign.id)
    query = query.where(has_rule, ~Retention.is_pinned, Retention.going.is_(None), Campaign.state.in_(sorted(ENDED)))
    return [(row[0], row[1]) for row in unit.session.execute(query)]


def going(unit: Unit, before: datetime, most: int) -> Sequence[Retention]:
    """Lock and return the campaigns with data to remove for which no job was sent since `before`; those sent first come first."""
    query = select(Retention).where(Retention.going.is_not(None))
    query = query.where(or_(Retention.sent_at.is_(None), Retention.sent_at < before))
    ordered = query.order_by(Retention.sent_at.nulls_first(), Retention.campaign_id).limit(most)
    return unit.session.scalars(ordered.with_for_update(skip_locked=True)).all()


def count_going(unit: Unit, since: datetime) -> int:
    """Count the jobs that were sent since then and may still be at work."""
    return (
        unit.session.scalar(select(func.count()).where(Retention.going.is_not(None), Retention.sent_at >= since)) or 0
    )


def _has(part: Part) -> ColumnElement[bool]:
    """Return the condition that a run has something of this part."""
    traces = exists().where(Chunk.run_id == Run.id)
    if part is Part.TRACES:
        return traces
    return or_(traces, exists().where(StoredSeries.run_id == Run.id)) if part is Part.SERIES else true()


def has_left(unit: Unit, campaign_id: UUID, part: Part) -> bool:
    return unit.session.scalar(select(Run.id).where(Run.campaign_id == campaign_id, _has(part)).limit(1)) is not None


def count_runs(unit: Unit, campaign_id: UUID) -> int:
    return unit.session.scalar(select(func.count()).where(Run.campaign_id == campaign_id)) or 0


def take_runs(unit: Unit, campaign_id: UUID, part: Part, limit: int) -> Sequence[UUID]:
    """Some runs that have something of this part, locked. Those that a job is at work on, or has still to judge, are left out."""
    query = select(Run.id).where(Run.campaign_id == campaign_id, Run.state.in_(FINAL_NAMES), Run.needs.is_(None))
    query = query.where(_has(part)).order_by(Run.id).limit(limit)
    return unit.session.scalars(query.with_for_update(skip_locked=True)).all()


def is_busy(unit: Unit, campaign_id: UUID) -> bool:
    """Return whether a run of the campaign has not ended, or is still to be judged."""
    busy = or_(Run.state.not_in(FINAL_NAMES), Run.needs.is_not(None))
    return unit.session.scalar(select(Run.id).where(Run.campaign_id == campaign_id, busy).limit(1)) is not None


def remove(unit: Unit, run_ids: Sequence[UUID], part: Part, now: datetime) -> None:
    """Remove this part of locked runs. A trigger of the database notes the folders of the trace store that are left empty."""
    if part is Part.ALL:
        unit.session.execute(delete(Run).where(Run.id.in_(run_ids)))
        return
    own = update(Run).where(Run.id.in_(run_ids))
    traced = select(Chunk.run_id).where(Chunk.run_id.in_(run_ids)).scalar_subquery()
    unit.session.execute(own.where(Run.id.in_(traced), Run.traces_removed_at.is_(None)).values(traces_removed_at=now))
    unit.session.execute(delete(Chunk).where(Chunk.run_id.in_(run_ids)))
    if part is Part.TRACES:
        return
    unit.session.execute(delete(StoredSeries).where(StoredSeries.run_id.in_(run_ids)))
    unit.session.execute(update(FlowLimit).where(FlowLimit.run_id.in_(run_ids)).values(seconds=NO_BYTES))
    times = {"object_times_s": None, "received_times_s": None}
    unit.session.execute(update(RunFlow).where(RunFlow.run_id.in_(run_ids)).values(**times))
    unit.session.execute(own.values(series_removed_at=now))


@dataclass(frozen=True, slots=True)
class Removed:
    """Numbers of these runs were computed before, stay, and cannot be computed again."""

    traces_runs: int
    traces_at: Moment | None
    series_runs: int
    series_at: Moment | None


def removed(unit: Unit, campaign_id: UUID) -> Removed:
    query = select(
        func.count(Run.traces_removed_at),
        func.min(Run.traces_removed_at),
        func.count(Run.series_removed_at),
        func.min(Run.series_removed_at),
    )
    return Removed(*unit.session.execute(query.where(Run.campaign_id == campaign_id)).one())
