"""Triggers of campaigns: the state of each, and what it has fired."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Json, Table


class Trigger(Table):
    """The trigger of a launched campaign. secret: signs calls, made by account_id; None where none was made. called_at: the latest
    moment of an accepted call, so that none is accepted twice. waits: what is missing for it to fire. refusal: why it did not fire
    although its condition held, last at refused_at."""

    __tablename__ = "triggers"
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    secret: Mapped[str | None]
    account_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    called_at: Mapped[datetime | None]
    waits: Mapped[str | None]
    refusal: Mapped[str | None]
    refused_at: Mapped[datetime | None]


class Firing(Table):
    """One set of runs that a trigger has started. cause: name, moment and value, as each of its runs has it."""

    __tablename__ = "firings"
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    cause: Mapped[Json]
    first_cycle: Mapped[int]
    runs: Mapped[int]
    __table_args__ = (Index("ix_firings_at", "campaign_id", "at"),)
