"""Paths and places that have a name, so that nobody has to type them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from downlink.domain.links.pathtrace import GRID, NO_ISL, Station

REFERENCE = "D:1150:53.0:1600/32/5"
LOWER = "D:550:53.0:1584/72/17"

PLACES: Mapping[str, Station] = {
    each.name: each
    for each in (
        Station("beijing", 39.9042, 116.4074),
        Station("new-york", 40.7128, -74.0060),
        Station("london", 51.5074, -0.1278),
        Station("frankfurt", 50.1109, 8.6821),
        Station("manila", 14.6042, 120.9822),
        Station("dalian", 38.913811, 121.602322),
        Station("saint-petersburg", 59.929858, 30.326228),
    )
}


@dataclass(frozen=True, slots=True)
class ReadyPath:
    """The default parameters of `paths make NAME`."""

    code: str
    stations: tuple[str, ...]
    least_elevation_deg: float
    isl: str
    what: str


def _both(name: str, stations: tuple[str, ...], elevation_deg: float, isl: str, what: str) -> dict[str, ReadyPath]:
    """Return the path for the shell of 1150 km and, with a suffix, for that of 550 km."""
    return {
        name: ReadyPath(REFERENCE, stations, elevation_deg, isl, f"{what}, 1150 km"),
        f"{name}-550": ReadyPath(LOWER, stations, 25.0, isl, f"{what}, 550 km"),
    }


READY: Mapping[str, ReadyPath] = {
    **_both("beijing-new-york", ("beijing", "new-york"), 25.0, GRID, "over ISLs"),
    **_both("london-new-york", ("london", "new-york"), 40.0, GRID, "over ISLs"),
    **_both("bent-pipe", ("london", "frankfurt"), 25.0, NO_ISL, "London to a gateway in Frankfurt over one satellite"),
}
