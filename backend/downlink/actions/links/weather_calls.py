"""A weather service is asked, and what it says becomes quantities of links. No transaction is open meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from downlink.actions.links.links import get_link
from downlink.actions.links.observations import check_observations, take_observations
from downlink.codec.weather_json import parse_reading
from downlink.courier.weather import WeatherService
from downlink.domain.errors import ConflictError, DownlinkError, InvalidError, UnavailableError
from downlink.domain.links.observation import Observation
from downlink.domain.links.weather_source import Position, next_ask_at, position_of
from downlink.storage.links import link_store, weather_place_store
from downlink.storage.tables import Link, WeatherPlace
from downlink.storage.unit import Unit, UnitFactory

TRY_EVERY = timedelta(seconds=5)
UNSET_HERE = UnavailableError(
    "weather_unset",
    "The conductor has DOWNLINK_WEATHER_URL and this worker has not: give all processes the same settings.",
)
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Heard:
    """The content of one answer; of an empty one, the fault. A problem beside values is the link's, which does not take them."""

    values: Sequence[Observation] = ()
    problem: DownlinkError | None = None


def ask(units: UnitFactory, place_id: UUID, clock: Callable[[], datetime], service: WeatherService | None) -> None:
    """Ask once, if it is due, and store what is new. The next time is written down before anybody is called: a worker that is killed
    meanwhile, or starts again and again, asks no more often."""
    with units() as unit:
        begun = _begin(unit, place_id, clock(), service)
    if begun is None:
        return
    position, asked_at = begun
    heard = _hear(service, position, clock)
    stored = 0
    if heard.values:
        with units() as unit:
            heard, stored = _store(unit, position, heard, clock())
    with units() as unit:
        row = weather_place_store.find(unit, place_id)
        if row and row.asked_at == asked_at:
            _note(row, heard, clock(), service)
    _tell(position, heard, stored)


def _begin(
    unit: Unit, place_id: UUID, now: datetime, service: WeatherService | None
) -> tuple[Position, datetime] | None:
    row = weather_place_store.find(unit, place_id)
    if row is None or row.due_at > now:
        return None
    row.asked_at, row.due_at = now, _next(row, now, service)
    return Position(row.latitude, row.longitude), now


def _next(row: WeatherPlace, asked_at: datetime, service: WeatherService | None) -> datetime:
    every = service.source.every if service else timedelta(minutes=5)
    return next_ask_at(asked_at, every, row.failures)


def _hear(service: WeatherService | None, position: Position, clock: Callable[[], datetime]) -> Heard:
    try:
        if service is None:
            raise UNSET_HERE
        return Heard(parse_reading(service.ask(position), service.source, clock()))
    except (UnavailableError, InvalidError) as error:
        return Heard(problem=error)


def _store(unit: Unit, position: Position, heard: Heard, now: datetime) -> tuple[Heard, int]:
    """Give it to each link of the place. One that does not take it keeps nothing from the others."""
    stored, problem = 0, heard.problem
    for link in link_store.places(unit).get(position, []):
        try:
            stored += take_observations(unit, link, heard.values, now)
        except (InvalidError, ConflictError) as error:
            problem = error
    return Heard(heard.values, problem), stored


def _note(row: WeatherPlace, heard: Heard, now: datetime, service: WeatherService | None) -> None:
    """Write down the result. A link's own problem is no reason to ask the service less often."""
    row.hinted_at = None
    row.problem = heard.problem.code if heard.problem else None
    row.detail = heard.problem.message if heard.problem else None
    row.failures = 0 if heard.values else row.failures + 1
    if heard.values:
        row.taken_at, row.reading_at = now, heard.values[0].at
    if row.asked_at:
        row.due_at = _next(row, row.asked_at, service)


def _tell(position: Position, heard: Heard, stored: int) -> None:
    where = {"latitude": position.latitude, "longitude": position.longitude}
    if heard.problem:
        log.warning("weather_failed", **where, problem=heard.problem.code, detail=heard.problem.message)
    else:
        log.info("weather_taken", **where, values=len(heard.values), stored=stored)


def try_link(units: UnitFactory, link_id: UUID, clock: Callable[[], datetime], service: WeatherService | None) -> Heard:
    """Ask now for the place of a link, and say what would be stored; nothing is. ConflictError, NotFoundError."""
    with units() as unit:
        link = get_link(unit, link_id)
        if service is None:
            raise ConflictError("weather_off", "This server asks no weather service: DOWNLINK_WEATHER_URL is not set.")
        position = _place_of(link)
        _note_try(unit, position, service, clock())
    heard = _hear(service, position, clock)
    if heard.values:
        with units(is_read_only=True) as unit:
            heard = _checked(unit, link.name, heard, clock())
    return heard


def _place_of(link: Link) -> Position:
    if link.latitude is None or link.longitude is None:
        raise ConflictError(
            "place_unknown", f"Nobody has said where {link.name} is: give it a latitude and a longitude."
        )
    return position_of(link.latitude, link.longitude)


def _note_try(unit: Unit, position: Position, service: WeatherService, now: datetime) -> None:
    last = weather_place_store.last_tried_at(unit)
    if last and now - last < TRY_EVERY:
        raise ConflictError("try_too_soon", "The service was tried a moment ago; wait five seconds.")
    weather_place_store.add_place(unit, position, service.source.mark, now)
    row = weather_place_store.find_at(unit, position)
    if row:
        row.tried_at = now


def _checked(unit: Unit, link: str, heard: Heard, now: datetime) -> Heard:
    """Return the answer, with the fault that the link finds in it."""
    try:
        check_observations(unit, link, heard.values, now)
    except (InvalidError, ConflictError) as error:
        return Heard(heard.values, error)
    return heard
