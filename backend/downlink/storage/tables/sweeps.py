"""Detectors swept over their parameters: what was asked, and what each trace said."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Json, Table


class Sweep(Table):
    """grid: parameter to values. cells: the result, one for each combination. told_at: when its progress was last told."""

    __tablename__ = "sweeps"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"), index=True)
    detector: Mapped[str]
    version: Mapped[str]
    grid: Mapped[Json]
    state: Mapped[str]
    reason: Mapped[str | None]
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    told_at: Mapped[datetime | None]
    cells: Mapped[list[Any] | None]


class SweepPart(Table):
    """One trace of a sweep: a job. timings: per parameter set the first letter of early, good, late, open, or `-`; NULL until done.

    headrooms_us: per parameter set, first loss minus exit where both are. The job was last sent at sent_at.
    """

    __tablename__ = "sweep_parts"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    sweep_id: Mapped[UUID] = mapped_column(ForeignKey("sweeps.id", ondelete="CASCADE"))
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    flow: Mapped[int]
    sent_at: Mapped[datetime | None]
    tries: Mapped[int] = mapped_column(default=0, server_default="0")
    timings: Mapped[str | None]
    headrooms_us: Mapped[list[Any] | None]
    __table_args__ = (
        Index("ix_sweep_parts_sweep_id", "sweep_id"),
        Index("ix_sweep_parts_open", "sweep_id", "sent_at", postgresql_where=text("timings IS NULL")),
    )
