"""Which places of links a weather service is asked for, and when: what the tick does, without calling anybody."""

from __future__ import annotations

from datetime import datetime, timedelta

from downlink.domain.links.weather_source import WeatherSource
from downlink.storage.links import link_store, weather_place_store
from downlink.storage.unit import Unit

JOB = "weather"
RESEND = timedelta(seconds=30)
MOST_UNDER_WAY = 2
"""Of the places, with the workers at a time: a slow service keeps no more from sealing and analysing."""


def send_due(unit: Unit, now: datetime, source: WeatherSource | None) -> None:
    """Have the service asked for places that are due; a job that was lost is sent again. Nothing where no service is named."""
    if source is None:
        return
    weather_place_store.keep_places(unit, link_store.places(unit), source.mark, now)
    for place_id in weather_place_store.take_due(unit, now, RESEND, MOST_UNDER_WAY):
        unit.enqueue(JOB, place_id)
