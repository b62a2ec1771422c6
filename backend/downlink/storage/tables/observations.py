"""Quantities of links over time."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKeyConstraint
from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Table


class LinkQuantity(Table):
    """What one source says of a link. A link is named as runs name theirs: it may be gone."""

    __tablename__ = "link_quantities"
    link: Mapped[str] = mapped_column(primary_key=True)
    quantity: Mapped[str] = mapped_column(primary_key=True)
    source: Mapped[str] = mapped_column(primary_key=True)
    unit: Mapped[str]
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]


class Observation(Table):
    """One value. What is observed comes every few seconds at most, so that a day is some thousand rows."""

    __tablename__ = "observations"
    link: Mapped[str] = mapped_column(primary_key=True)
    quantity: Mapped[str] = mapped_column(primary_key=True)
    source: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(primary_key=True)
    value: Mapped[float]
    __table_args__ = (
        ForeignKeyConstraint(
            ["link", "quantity", "source"],
            ["link_quantities.link", "link_quantities.quantity", "link_quantities.source"],
            ondelete="CASCADE",
        ),
    )
