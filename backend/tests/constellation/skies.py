"""Skies that several tests look at."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from downlink.constellation.maker import Asked
from downlink.constellation.orbits import Elements, Grid, orbits_of
from downlink.constellation.requests import code_orbits
from downlink.constellation.sky import Sky
from downlink.domain.links.pathtrace import GRID, Station
from downlink.domain.links.ready_paths import PLACES

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
SMALL = "D:1150:53.0:1600/32/5"


def kuiper(one: str, other: str) -> Sky:
    """Kuiper-630: every second plane is shifted by half a place; seen is what is near enough, at each moment by itself."""
    elements = [
        Elements(51.9, plane * 360 / 34, 360 * (place + plane % 2 / 2) / 34, 14.80)
        for plane in range(34)
        for place in range(34)
    ]
    most_km = math.hypot(630 / math.tan(math.radians(30)), 630)
    stations = [PLACES[one], PLACES[other]]
    return Sky(orbits_of(elements, EPOCH, Grid(34, 34, 0)), stations, EPOCH, 0.0, most_km, GRID, look_ahead=False)


def asked(stations: list[Station], duration_s: float, code: str = SMALL, **more: object) -> Asked:
    return Asked("test", "test", code_orbits(code), stations, EPOCH, round(duration_s * 1e6), code, **more)  # type: ignore[arg-type]
