"""The weather service that the server asks for its links' places."""

from __future__ import annotations

from dataclasses import asdict
from uuid import UUID

from fastapi import APIRouter

from downlink.actions.links import weather_calls
from downlink.api.http.deps import Clock, Config, Reader, ReadUnit, Units, may_with_link, problems
from downlink.api.schemas.weather import WeatherPlace, WeatherState, WeatherTried, WeatherValue
from downlink.courier.weather import WeatherService
from downlink.domain.links.weather_source import Position
from downlink.domain.people.permission import Verb
from downlink.storage.links import link_store, weather_place_store
from downlink.storage.unit import Unit

router = APIRouter(tags=["quantities of links"])


@router.get("/weather", responses=problems(401, 403))
def weather_state(caller: Reader, unit: ReadUnit, settings: Config) -> WeatherState:
    """Return whether the server uses a weather service, for which places, and the last answer of each."""
    source = settings.weather_source
    if source is None:
        return WeatherState(is_on=False, source=None, host=None, every_min=None, quantities=[], places=[])
    return WeatherState(
        is_on=True,
        source=source.name,
        host=source.host,
        every_min=settings.weather_every_min,
        quantities=[each.quantity for each in source.wanted],
        places=_places(unit),
    )


def _places(unit: Unit) -> list[WeatherPlace]:
    """Return the positions of links."""
    named = link_store.places(unit)
    places = [
        (row, named.get(Position(row.latitude, row.longitude), [])) for row in weather_place_store.list_places(unit)
    ]
    own = [name for name in WeatherPlace.model_fields if name != "links"]
    return [WeatherPlace(**{name: getattr(row, name) for name in own}, links=names) for row, names in places if names]


@router.post(
    "/links/{link_id}/weather/try",
    dependencies=[may_with_link(Verb.CHANGE_LINK)],
    responses=problems(401, 403, 404, 409),
)
def try_weather(link_id: UUID, units: Units, settings: Config, clock: Clock) -> WeatherTried:
    """Query the service now, within 10 s, and return what would be stored, without storing it.

    409 `weather_off` without a service, `place_unknown` for a link without a place, `try_too_soon` within five seconds of the last one.
    """
    service = WeatherService.of(settings)
    heard = weather_calls.try_link(units, link_id, clock, service)
    return WeatherTried(
        host=service.source.host if service else "",
        problem=heard.problem.code if heard.problem else None,
        detail=heard.problem.message if heard.problem else None,
        values=[WeatherValue.model_validate(asdict(each)) for each in heard.values],
    )
