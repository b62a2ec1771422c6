"""Stations that see no satellite: when, and which least elevation would do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from downlink.constellation.ground import sight
from downlink.constellation.orbits import Whole, near_positions
from downlink.constellation.sky import CHUNK_NUMBERS, Sky
from downlink.domain.links.pathtrace import wrong

EACH_US = 60_000_000
MOST_TOLD = 5


@dataclass(frozen=True, slots=True)
class Unseen:
    """hours: from and to, since the start. enough_deg: with this least elevation it would see one at every moment looked at."""

    station: str
    share: float
    hours: tuple[tuple[float, float], ...]
    enough_deg: float

    def sentence(self, least_deg: float) -> str:
        return f"Station {self.station} {self.sees(least_deg)}."

    def sees(self, least_deg: float) -> str:
        spans = ", ".join(f"{low:.2f} to {high:.2f} h" for low, high in self.hours[:MOST_TOLD])
        more = f" and {len(self.hours) - MOST_TOLD} times more" if len(self.hours) > MOST_TOLD else ""
        remedy = (
            f"a least elevation of {self.enough_deg:.1f} degrees would do"
            if self.enough_deg >= 0
            else f"no elevation would do (the best satellite is {-self.enough_deg:.1f} degrees below the horizon)"
        )
        return f"sees no satellite above {least_deg:g} degrees from {spans}{more}: {remedy}"

    @property
    def what_helps(self) -> str:
        others = "other satellites or another station"
        if self.enough_deg < 0:
            return f"Take {others}."
        return f"Take a least elevation of at most {self.enough_deg:.1f} degrees, {others}."


def unseen(sky: Sky, duration_us: int) -> list[Unseen]:
    """The stations without a satellite at some of the moments, one a minute."""
    at_us = np.append(np.arange(0, duration_us, min(EACH_US, duration_us), dtype=np.int64), duration_us)
    best = best_elevations(sky, at_us)
    return [
        _told(sky.stations[number].name, at_us, is_dark, best[number])
        for number, is_dark in enumerate(best < sky.least_elevation_deg)
        if np.any(is_dark)
    ]


def check_seen(unseen: Sequence[Unseen], least_deg: float) -> None:
    """Raises InvalidError for a station that sees no satellite at all."""
    for each in unseen:
        if each.share == 1:
            raise wrong(f"station {each.station}", f"it {each.sees(least_deg)}", each.what_helps)


def best_elevations(sky: Sky, at_us: Whole) -> np.ndarray:
    """Return the elevation of the highest satellite over each station in degrees, of shape (stations, times)."""
    step = max(1, CHUNK_NUMBERS // len(sky.orbits.satellites))
    parts = [at_us[first : first + step] for first in range(0, len(at_us), step)]
    sines = [
        sight(sky.stations, near_positions(sky.satellites, sky.start, part), sky.start, part).sine.max(axis=1)
        for part in parts
    ]
    degrees: np.ndarray = np.degrees(np.arcsin(np.concatenate(sines, axis=1)))
    return degrees


def _told(station: str, at_us: Whole, is_dark: np.ndarray, best: np.ndarray) -> Unseen:
    edges = np.flatnonzero(np.diff(np.r_[False, is_dark, False].astype(np.int8)))
    hours = [(at_us[low] / 3.6e9, at_us[min(high, len(at_us) - 1)] / 3.6e9) for low, high in edges.reshape(-1, 2)]
    return Unseen(station, float(np.mean(is_dark)), tuple(hours), math.floor(float(best.min()) * 10) / 10)
