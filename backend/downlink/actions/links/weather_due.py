"""The places of links for which a weather service is asked, and when. Workers call it; the tick calls no other host."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from downlink.domain.links.weather_source import WeatherSource
from downlink.storage.links import link_store, weather_place_store
from downlink.storage.unit import Unit

RESEND = timedelta(seconds=30)
MOST_UNDER_WAY = 2
"""Places that workers ask for at a time: a slow service leaves the other workers to seal and analyse."""


def next_due(unit: Unit, now: datetime, source: WeatherSource | None) -> Sequence[UUID]:
    """Return the places that are due, and those whose job was lost; none without a service."""
    if source is None:
        return []
    weather_place_store.keep_places(unit, link_store.places(unit), source.mark, now)
    return weather_place_store.take_due(unit, now, RESEND, MOST_UNDER_WAY)
