"""Satellites of a file that have no place at some time of a path: they have come down, or their elements make no sense then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sgp4.api import SGP4_ERRORS, Satrec, SatrecArray

from downlink.constellation.graph import LEAST_ISL_RADIUS_KM
from downlink.constellation.orbits import US_PER_DAY, Orbits, Whole, julian
from downlink.domain.links.pathtrace import MOST_RADIUS_KM, wrong
from downlink.domain.partial import LeftOut

EACH_US = 60_000_000
AT_ONCE = 200
"""Satellites that are computed together: of a week's minutes they take 100 MB."""
MARGIN_KM = 10.0
"""Change of a radius between two looks at most, with room to spare: a header's radii have a margin too."""


def without_lost(orbits: Orbits, start: datetime, duration_us: int) -> Orbits:
    """The satellites of a file that have a place throughout, each minute looked at; the others are among `left_out`.

    Raises InvalidError `path_invalid` where none is left.
    """
    lost = dict(_lost(orbits, start, duration_us))
    if len(lost) == len(orbits.satellites):
        first = orbits.labels[0]
        remedy = "Take newer elements, another start or a shorter time."
        raise wrong(f"element file, {first.place}", f"{first.name} has no place: {lost[0]}, as all others", remedy)
    return without(orbits, lost) if lost else orbits


def without(orbits: Orbits, lost: Mapping[int, str]) -> Orbits:
    """The others, numbered in the same order. lost: reasons by number."""
    kept = [number for number in range(len(orbits.satellites)) if number not in lost]
    left_out = [LeftOut(orbits.labels[each].name, orbits.labels[each].place, lost[each]) for each in sorted(lost)]
    grid = orbits.grid
    if grid is not None:
        standing = grid.numbers or range(len(orbits.satellites))
        grid = replace(grid, numbers=tuple(standing[each] for each in kept))
    return replace(
        orbits,
        satellites=tuple(orbits.satellites[each] for each in kept),
        labels=tuple(orbits.labels[each] for each in kept),
        grid=grid,
        left_out=(*orbits.left_out, *left_out),
    )


def _lost(orbits: Orbits, start: datetime, duration_us: int) -> Iterator[tuple[int, str]]:
    """Number and reason of each satellite without a place at one of the minutes."""
    at_us = np.append(np.arange(0, duration_us, EACH_US, dtype=np.int64), duration_us)
    whole, part = julian(start)
    day = part + at_us / US_PER_DAY
    for first in range(0, len(orbits.satellites), AT_ONCE):
        errors, places, _ = SatrecArray(orbits.satellites[first : first + AT_ONCE]).sgp4(np.full(len(day), whole), day)
        for number, (codes, radii) in enumerate(zip(errors, np.linalg.norm(places, axis=2), strict=True), start=first):
            if reason := _reason(codes, np.append(radii, _from_elements(orbits.satellites[number])), at_us):
                yield number, reason


def _from_elements(satellite: Satrec) -> tuple[float, float]:
    """Least and greatest distance from the Earth's centre by the mean elements, which a header's radii look at too."""
    radius: float = satellite.radiusearthkm
    return (1 + satellite.altp) * radius, (1 + satellite.alta) * radius


def _reason(codes: NDArray[np.uint8], radii_km: NDArray[np.float64], at_us: Whole) -> str | None:
    if np.any(codes):
        at = int(np.flatnonzero(codes)[0])
        return f"SGP4 has no place for it {at_us[at] / 1e6:g} s after the start ({SGP4_ERRORS[int(codes[at])]})"
    if not np.all(np.isfinite(radii_km)):
        return "its elements are no numbers"
    if radii_km.min() < LEAST_ISL_RADIUS_KM + MARGIN_KM:
        return f"it comes down to {radii_km.min():,.0f} km from the Earth's centre"
    if radii_km.max() > MOST_RADIUS_KM - MARGIN_KM:
        return f"it goes out to {radii_km.max():,.0f} km from the Earth's centre"
    return None
