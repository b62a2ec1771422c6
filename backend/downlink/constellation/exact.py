"""A path trace held against the orbits that it says it was made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from downlink.constellation.graph import LEAST_ISL_RADIUS_KM, Nodes
from downlink.constellation.knots import fine_times
from downlink.constellation.maker import NS_PER_KM, sky_of
from downlink.constellation.orbits import Orbits, Whole
from downlink.constellation.routes import Said
from downlink.constellation.sky import Sky
from downlink.domain.links.pathtrace import PathHeader, wrong

MOST_ERROR_NS = 1_000.0
ELEVATION_ROUNDING_DEG = 1e-4
REMEDY = "The file was altered, or other orbits were used: make the path again."


@dataclass(frozen=True, slots=True)
class Exactness:
    """The greatest error of a delay between knots, and the least elevation and height of an ISL (null: there is none)."""

    most_error_ns: float
    least_elevation_deg: float | None
    least_isl_height_km: float | None


def hold_against(
    header: PathHeader, columns: Mapping[str, Whole], orbits: Orbits, say: Said = lambda _: None
) -> Exactness:
    """Raises InvalidError where a delay is a microsecond off, a satellite below the least elevation, or an ISL not in the pattern."""
    if len(orbits.satellites) != header.constellation.satellites:
        reason = f"{len(orbits.satellites)} satellites, and the trace has {header.constellation.satellites}"
        raise wrong("constellation", reason, "Name the element file that the path was made of.")
    sky = sky_of(header, orbits)
    pattern = {tuple(map(int, pair)) for pair in sky.wiring.hops}
    errors, sines, heights = [0.0], [], []
    for nodes, rows in path_rows(columns):
        at_us = fine_times(int(columns["at_us"][rows[0][0]]), int(columns["at_us"][rows[0][-1]]))
        say(int(at_us[0]))
        strange = [hop for hop in pairwise(nodes) if min(hop) >= 0 and tuple(sorted(hop)) not in pattern]
        if strange:
            raise wrong(
                f"path from {at_us[0] / 1e6:g} s on", f"there is no hop between satellites {strange[0]}", REMEDY
            )
        km = sky.hop_lengths(nodes, at_us)
        errors.append(_error(columns, rows, at_us, km * NS_PER_KM))
        sines.append(float(np.min(sky.sines(nodes, at_us))))
        heights += _heights(sky, nodes, at_us)
    return _judged(header, max(errors), sines, heights)


def path_rows(columns: Mapping[str, Whole]) -> list[tuple[Nodes, list[Whole]]]:
    """Return for each path: its nodes, and the rows of each hop."""
    path, hop = columns["path"], columns["hop"]
    starts = np.flatnonzero(np.r_[True, (np.diff(path) != 0) | (np.diff(hop) != 0)])
    rows_of: dict[int, list[Whole]] = {}
    for rows in np.split(np.arange(len(path)), starts[1:]):
        if hop[rows[0]] > 0:
            rows_of.setdefault(int(path[rows[0]]), []).append(rows)
    return [((-1, *(int(columns["node"][each[0]]) for each in rows)), rows) for rows in rows_of.values()]


def _error(columns: Mapping[str, Whole], rows: list[Whole], at_us: Whole, exact_ns: np.ndarray) -> float:
    interpolated = np.stack([np.interp(at_us, columns["at_us"][each], columns["delay_ns"][each]) for each in rows])
    return float(np.max(np.abs(interpolated - exact_ns)))


def _heights(sky: Sky, nodes: Nodes, at_us: Whole) -> list[float]:
    """The least height above the equatorial radius of each ISL's middle."""
    places = sky.places(nodes, at_us[:: max(1, len(at_us) // 4)])
    inner = [node for node in nodes if node >= 0]
    pairs = [pair for pair in pairwise(nodes) if min(pair) >= 0]
    middles = [(places[inner.index(one)] + places[inner.index(other)]) / 2 for one, other in pairs]
    return [float(np.min(np.linalg.norm(each, axis=1))) - LEAST_ISL_RADIUS_KM + 80 for each in middles]


def _judged(header: PathHeader, error_ns: float, sines: list[float], heights: list[float]) -> Exactness:
    elevation = math.degrees(math.asin(min(sines))) if sines else None
    if error_ns > MOST_ERROR_NS:
        raise wrong("delay_ns", f"it is {error_ns / 1e3:.1f} us off the exact orbit", REMEDY)
    if elevation is not None and elevation < header.least_elevation_deg - ELEVATION_ROUNDING_DEG:
        raise wrong("node", f"a satellite is used at {elevation:.2f} degrees, below the least elevation", REMEDY)
    return Exactness(error_ns, elevation, min(heights, default=None))
