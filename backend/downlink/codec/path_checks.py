"""Rules for the rows of any path trace (docs/paths.md section 2.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from downlink.domain.links.pathtrace import ALL_LOSS_PPB, LIGHT_M_PER_S, NO_ISL, PathHeader, Station, wrong

EQUATOR_KM, POLE_KM = 6378.137, 6356.752314245
LEAST_ISL_HEIGHT_KM = 80.0
PLUMB_DEG = 0.2  # the ellipsoid's upright is this near to the line from the Earth's centre
KM_PER_NS = LIGHT_M_PER_S / 1e12
ROUNDING_KM = 0.002
MAX_DELAY_NS = 1_000_000_000
MAKE_AGAIN = "Make the path again."

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Hop:
    """The rows first … last of one hop of one path."""

    path: int
    hop: int
    first: int
    last: int

    @property
    def rows(self) -> slice:
        return slice(self.first, self.last + 1)


def check_rows(header: PathHeader, columns: Mapping[str, Numbers]) -> None:
    """Raises InvalidError `path_invalid` for the first thing that is wrong, with its row."""
    _check_ranges(header, columns)
    hops = hops_of(columns)
    _check_times(header, columns, hops)
    bounds = Bounds.of(header)
    for path in paths_of(hops):
        _check_path(header, columns, path)
        _check_lengths(columns, path, bounds)


def hops_of(columns: Mapping[str, Numbers]) -> list[Hop]:
    """The stretches of rows with the same path and hop."""
    path, hop = columns["path"], columns["hop"]
    starts = np.flatnonzero(np.r_[True, (np.diff(path) != 0) | (np.diff(hop) != 0)])
    ends = np.r_[starts[1:], len(path)] - 1
    return [Hop(int(path[a]), int(hop[a]), int(a), int(b)) for a, b in zip(starts, ends, strict=True)]


def paths_of(hops: list[Hop]) -> Iterator[list[Hop]]:
    """The hops of each path; raises where paths or hops are not in order."""
    path_hops: list[Hop] = []
    for each in hops:
        if path_hops and each.path != path_hops[0].path:
            yield path_hops
            path_hops = []
        expected_path = each.path if path_hops else (0 if not each.first else None)
        if expected_path is not None and each.path != expected_path:
            raise _at(each.first, "path", f"{each.path} where {expected_path} is due")
        if each.hop != (path_hops[-1].hop + 1 if path_hops else min(each.hop, 1)) or each.hop < 0:
            raise _at(each.first, "hop", f"{each.hop} does not follow: hops count from 1 without a gap")
        if path_hops and path_hops[-1].hop == 0:
            raise _at(each.first, "hop", "it follows a row that says there is no path")
        path_hops.append(each)
    yield path_hops


def great_circle_km(one: Station, other: Station) -> float:
    """The least length of any way between stations outside the Earth: the arc on the sphere that fits into the ellipsoid."""
    a, b = (_upright(each) for each in (one, other))
    return POLE_KM * math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))


def _upright(station: Station) -> NDArray[np.float64]:
    """Return the direction from the Earth's centre to the station, of length 1."""
    latitude = math.atan((POLE_KM / EQUATOR_KM) ** 2 * math.tan(math.radians(station.latitude_deg)))
    longitude = math.radians(station.longitude_deg)
    return np.array(
        [math.cos(latitude) * math.cos(longitude), math.cos(latitude) * math.sin(longitude), math.sin(latitude)]
    )


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of the lengths of hops, in km, given the greatest and least distance of satellites from the Earth's centre."""

    least_gsl: float
    most_gsl: float
    most_isl: float
    least_path: float

    @classmethod
    def of(cls, header: PathHeader) -> Bounds:
        radii = header.constellation
        leaning = math.radians(max(header.least_elevation_deg - PLUMB_DEG, 0.0))
        slant = math.sqrt(radii.most_radius_km**2 - (POLE_KM * math.cos(leaning)) ** 2) - POLE_KM * math.sin(leaning)
        most_gsl = min(slant, header.most_gsl_km or math.inf)
        over_ground = max(radii.most_radius_km**2 - (POLE_KM + LEAST_ISL_HEIGHT_KM) ** 2, 0.0)
        highest_station = max(each.height_m for each in header.stations) / 1e3
        return cls(
            least_gsl=max(radii.least_radius_km - EQUATOR_KM - highest_station, 0.0),
            most_gsl=most_gsl,
            most_isl=2 * math.sqrt(over_ground),
            least_path=great_circle_km(header.stations[0], header.stations[-1]),
        )


def _at(row: int, column: str, reason: str) -> Exception:
    return wrong(f"row {row + 1}, {column}", reason, MAKE_AGAIN)


def _check_ranges(header: PathHeader, columns: Mapping[str, Numbers]) -> None:
    has_path = columns["hop"] > 0
    ranges: dict[str, tuple[ArrayLike, ArrayLike]] = {
        "at_us": (0, header.duration_us),
        "path": (0, 2**31 - 1),
        "hop": (0, 1_000),
        "node": (-len(header.stations), header.constellation.satellites - 1),
        "delay_ns": (np.where(has_path, 1, 0), np.where(has_path, MAX_DELAY_NS, 0)),
        "rate_bps": (np.where(has_path, 1_000, 0), np.where(has_path, 100_000_000_000, 0)),
        "loss_ppb": (np.where(has_path, 0, ALL_LOSS_PPB), ALL_LOSS_PPB),
        "gap_us": (0, np.where(has_path, 60_000_000, 0)),
    }
    for name, (low, high) in ranges.items():
        bad = np.flatnonzero((columns[name] < np.asarray(low)) | (columns[name] > np.asarray(high)))
        if len(bad):
            raise _at(int(bad[0]), name, f"{columns[name][bad[0]]} is out of range")
    strange = np.flatnonzero(~has_path & (columns["node"] != 0))
    if len(strange):
        raise _at(int(strange[0]), "node", "a row without a path names one")


def _check_times(header: PathHeader, columns: Mapping[str, Numbers], hops: list[Hop]) -> None:
    """Times rise within a hop; its first and last row are at the path's ends; paths follow each other without a gap."""
    at_us = columns["at_us"]
    inside = (np.diff(columns["path"]) == 0) & (np.diff(columns["hop"]) == 0)
    flat = np.flatnonzero(inside & (np.diff(at_us) <= 0))
    if len(flat):
        raise _at(int(flat[0]) + 1, "at_us", "times do not rise")
    start_us, end_us, path = 0, 0, 0
    for each in hops:
        if each.path != path:
            if each.path != path + 1:
                raise _at(each.first, "path", f"{each.path} follows {path}")
            start_us, path, end_us = end_us, each.path, 0
        end_us = end_us or int(at_us[each.last])
        if int(at_us[each.first]) != start_us or int(at_us[each.last]) != end_us or end_us <= start_us:
            raise _at(each.first, "at_us", f"the hop does not reach over its whole path, {start_us} to {end_us} us")
    if end_us != header.duration_us:
        raise _at(len(at_us) - 1, "at_us", f"the last path ends at {end_us} us and not at {header.duration_us} us")


def _check_path(header: PathHeader, columns: Mapping[str, Numbers], path: list[Hop]) -> None:
    """Its hops join from the first station to the last, over each node once."""
    if path[0].hop == 0:
        return
    nodes = [-1]
    for each in path:
        node = columns["node"][each.rows]
        if len(other := np.flatnonzero(node != node[0])):
            raise _at(each.first + int(other[0]), "node", "it changes within a path")
        if np.any(columns["gap_us"][each.first + 1 : each.last + 1] != 0):
            raise _at(each.first + 1, "gap_us", "only the first row of a hop may have a gap")
        if int(node[0]) in nodes:
            raise _at(each.first, "node", f"the path comes to {node[0]} twice")
        if (nodes[-1] < 0 and node[0] < 0) or (header.isl == NO_ISL and nodes[-1] >= 0 and node[0] >= 0):
            raise _at(each.first, "node", f"no hop leads from {nodes[-1]} to {node[0]}")
        nodes.append(int(node[0]))
    if nodes[-1] != -len(header.stations):
        raise _at(path[-1].first, "node", f"the path ends at {nodes[-1]} and not at station {header.stations[-1].name}")


def _check_lengths(columns: Mapping[str, Numbers], path: list[Hop], bounds: Bounds) -> None:
    if path[0].hop == 0:
        return
    before = -1
    for each in path:
        node = int(columns["node"][each.first])
        _check_length(columns, each, is_gsl=before < 0 or node < 0, bounds=bounds)
        before = node
    at_us = np.unique(np.concatenate([columns["at_us"][each.rows] for each in path]))
    total_ns = sum(np.interp(at_us, columns["at_us"][each.rows], columns["delay_ns"][each.rows]) for each in path)
    if float(np.min(total_ns)) * KM_PER_NS < bounds.least_path - ROUNDING_KM:
        reason = f"the path is faster than light along the ground, {bounds.least_path:.0f} km"
        raise _at(path[0].first, "delay_ns", reason)


def _check_length(columns: Mapping[str, Numbers], hop: Hop, is_gsl: bool, bounds: Bounds) -> None:
    length_km = columns["delay_ns"][hop.rows] * KM_PER_NS
    shortest, longest = float(length_km.min()), float(length_km.max())
    if is_gsl and longest > bounds.most_gsl + ROUNDING_KM:
        raise _at(hop.first, "delay_ns", f"{longest:.0f} km: the satellite is below the least elevation")
    if is_gsl and shortest < bounds.least_gsl - ROUNDING_KM:
        raise _at(hop.first, "delay_ns", f"{shortest:.0f} km: no satellite is that near to the ground")
    if not is_gsl and longest > bounds.most_isl + ROUNDING_KM:
        raise _at(
            hop.first, "delay_ns", f"{longest:.0f} km: the hop is less than {LEAST_ISL_HEIGHT_KM:.0f} km above ground"
        )
