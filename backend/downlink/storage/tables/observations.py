"""Quantities of links over time."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ForeignKeyConstraint, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Table


class LinkQuantity(Table):
    """A quantity that one source reports of a link. A link is named as runs name theirs: it may be gone."""

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


class WeatherPlace(Table):
    """A place of links, for which a weather service is asked. mark: of what an admin says of the service.

    due_at: when it is asked next. hinted_at: when its job was sent, until that has an outcome. asked_at: when it was asked last by the
    clock, tried_at by hand. taken_at: when it last gave something; reading_at: the moment of that. problem, detail: what is wrong since
    then, None for nothing; failures: in a row.
    """

    __tablename__ = "weather_places"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    latitude: Mapped[float]
    longitude: Mapped[float]
    mark: Mapped[str]
    due_at: Mapped[datetime]
    hinted_at: Mapped[datetime | None]
    asked_at: Mapped[datetime | None]
    tried_at: Mapped[datetime | None]
    taken_at: Mapped[datetime | None]
    reading_at: Mapped[datetime | None]
    problem: Mapped[str | None]
    detail: Mapped[str | None]
    failures: Mapped[int] = mapped_column(default=0, server_default="0")
    __table_args__ = (UniqueConstraint("latitude", "longitude", name="uq_weather_places_place"),)
