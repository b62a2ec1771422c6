"""Stations on the turning ellipsoid of WGS84, and which satellites they see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from downlink.constellation.orbits import Floats, Whole, sidereal_angle
from downlink.domain.links.pathtrace import Station

EQUATOR_KM = 6378.137
FLATTENING = 1 / 298.257223563


@dataclass(frozen=True, slots=True)
class Sight:
    """Lines of sight from stations to satellites: lengths in km and sines of the elevation, of shape (stations, satellites, times)."""

    length_km: Floats
    sine: Floats

    def is_seen(self, least_elevation_deg: float, most_gsl_km: float | None) -> NDArray[np.bool_]:
        seen: NDArray[np.bool_] = self.sine >= np.sin(np.radians(least_elevation_deg))
        return seen if most_gsl_km is None else seen & (self.length_km <= most_gsl_km)


def sight(stations: Sequence[Station], places: Floats, start: datetime, at_us: Whole) -> Sight:
    """places: of satellites, as `positions` gives them."""
    angle = sidereal_angle(start, at_us)
    seen = [_from(station, places, angle) for station in stations]
    return Sight(np.stack([each[0] for each in seen]), np.stack([each[1] for each in seen]))


def _from(station: Station, places: Floats, angle: Floats) -> tuple[Floats, Floats]:
    """Return lengths and sines of the elevation over the ellipsoid for one station, of shape (satellites, times)."""
    ground, upright = station_km(station, angle)
    to = places - ground
    length = np.sqrt(np.einsum("stx,stx->st", to, to))
    sine = np.einsum("stx,tx->st", to, upright) / length
    return length, sine


def station_km(station: Station, angle: Floats) -> tuple[Floats, Floats]:
    """Return a station's position in the frame of the satellites, in km, and its upright, both of shape (times, 3)."""
    latitude = np.radians(station.latitude_deg)
    longitude = np.radians(station.longitude_deg) + angle
    squared = FLATTENING * (2 - FLATTENING)
    across = EQUATOR_KM / np.sqrt(1 - squared * np.sin(latitude) ** 2)
    height = station.height_m / 1e3
    upright = np.stack(
        [
            np.cos(latitude) * np.cos(longitude),
            np.cos(latitude) * np.sin(longitude),
            np.full_like(longitude, np.sin(latitude)),
        ],
        axis=1,
    )
    return upright * np.array([across + height, across + height, across * (1 - squared) + height]), upright
