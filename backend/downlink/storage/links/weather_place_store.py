"""Places for which a weather service is asked: which there are, which are due, how the last call ended."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, func, or_, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert

from downlink.domain.links.weather_source import Position
from downlink.storage.tables import WeatherPlace
from downlink.storage.unit import Unit


def list_places(unit: Unit) -> Sequence[WeatherPlace]:
    return unit.session.scalars(select(WeatherPlace).order_by(WeatherPlace.latitude, WeatherPlace.longitude)).all()


def keep_places(unit: Unit, places: Collection[Position], mark: str, now: datetime) -> None:
    """Insert the positions of links; delete others, but not before they would be due: one that returns is not asked about at once.

    What an admin has changed of the service is tried at once.
    """
    known = {(row.latitude, row.longitude): row for row in list_places(unit)}
    for position in sorted(places):
        if (position.latitude, position.longitude) not in known:
            add_place(unit, position, mark, now)
    if any(row.mark != mark for row in known.values()):
        restart = {"mark": mark, "due_at": now, "hinted_at": None, "failures": 0, "problem": None, "detail": None}
        unit.session.execute(update(WeatherPlace).where(WeatherPlace.mark != mark).values(restart))
    wanted = [(position.latitude, position.longitude) for position in places]
    if set(known) - set(wanted):
        is_wanted = tuple_(WeatherPlace.latitude, WeatherPlace.longitude).in_(wanted)
        unit.session.execute(delete(WeatherPlace).where(~is_wanted, WeatherPlace.due_at <= now))


def add_place(unit: Unit, position: Position, mark: str, now: datetime) -> None:
    """One that is due now, unless it is there already."""
    values = {"latitude": position.latitude, "longitude": position.longitude, "mark": mark, "due_at": now}
    unit.session.execute(insert(WeatherPlace).values(values).on_conflict_do_nothing())


def take_due(unit: Unit, now: datetime, resend: timedelta, most: int) -> Sequence[UUID]:
    """Return the positions that are due, the longest due first, and mark them as sent; with those under way there are at most `most`.

    A job without an outcome is lost after `resend`.
    """
    lost_at = now - resend
    under_way = select(func.count()).where(WeatherPlace.hinted_at >= lost_at)
    room = max(0, most - (unit.session.scalar(under_way) or 0))
    is_free = or_(WeatherPlace.hinted_at.is_(None), WeatherPlace.hinted_at < lost_at)
    due = select(WeatherPlace.id).where(WeatherPlace.due_at <= now, is_free).order_by(WeatherPlace.due_at).limit(room)
    ids = unit.session.scalars(due).all() if room else []
    if ids:
        unit.session.execute(update(WeatherPlace).where(WeatherPlace.id.in_(ids)).values(hinted_at=now))
    return ids


def find(unit: Unit, place_id: UUID) -> WeatherPlace | None:
    """Locked."""
    return unit.session.scalar(select(WeatherPlace).where(WeatherPlace.id == place_id).with_for_update())


def find_at(unit: Unit, position: Position) -> WeatherPlace | None:
    """Locked."""
    is_here = (WeatherPlace.latitude == position.latitude, WeatherPlace.longitude == position.longitude)
    return unit.session.scalar(select(WeatherPlace).where(*is_here).with_for_update())


def last_tried_at(unit: Unit) -> datetime | None:
    """Return when any position was tried by hand."""
    return unit.session.scalar(select(func.max(WeatherPlace.tried_at)))
