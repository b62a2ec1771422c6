"""A stretch of a path trace for a drawing: delay over time, changes, and where everything is at one moment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from downlink.constellation.exact import path_rows
from downlink.constellation.maker import sky_of
from downlink.constellation.orbits import Whole, sidereal_angle
from downlink.constellation.requests import code_orbits
from downlink.domain.doc import Doc
from downlink.domain.links.pathtrace import PathHeader, wrong

MEAN_RADIUS_KM = 6_371.0


@dataclass(frozen=True, slots=True)
class PathPoint:
    at_us: int
    delay_ms: Annotated[float | None, Doc("One way; null where there is no path")]
    hops: int


@dataclass(frozen=True, slots=True)
class PathPlace:
    """A station, or the point below a satellite by geocentric latitude."""

    node: Annotated[int, Doc("Satellite from 0, station -1 and below")]
    name: Annotated[str | None, Doc("Of a station")]
    latitude_deg: float
    longitude_deg: float
    height_km: float


@dataclass(frozen=True, slots=True)
class PathStay:
    """A path between two changes; hops is 0 where there is none."""

    from_us: int
    to_us: int
    hops: int


@dataclass(frozen=True, slots=True)
class PathWindow:
    """A stretch of a path, for a drawing: points are evenly spaced, places those of the path at `at_us` in its order."""

    from_us: int
    to_us: int
    at_us: int
    points: list[PathPoint]
    stays: list[PathStay]
    places: list[PathPlace]


def window_of(
    header: PathHeader, columns: Mapping[str, Whole], from_us: int, to_us: int | None, at_us: int | None, points: int
) -> PathWindow:
    """to_us: the trace's end unless said; at_us: from_us unless said. Raises InvalidError for times outside of the trace."""
    to_us = header.duration_us if to_us is None else to_us
    at_us = from_us if at_us is None else at_us
    if not 0 <= from_us < to_us <= header.duration_us:
        raise wrong(
            "window", f"{from_us} to {to_us} us is no part of the trace", f"It ends at {header.duration_us} us."
        )
    if not from_us <= at_us <= to_us:
        raise wrong("moment", f"{at_us} us is outside of the window", "Take one within it.")
    ids, first = np.unique(columns["path"], return_index=True)
    starts = columns["at_us"][first]
    ends = np.append(starts[1:], header.duration_us)
    shown = ids[(starts < to_us) & (ends > from_us)]
    kept = np.isin(columns["path"], shown)
    rows = {name: column[kept] for name, column in columns.items()}
    hops = np.zeros(len(ids), np.int64)
    np.maximum.at(hops, rows["path"], rows["hop"])
    times = np.unique(np.linspace(from_us, to_us, points).astype(np.int64))
    path_at = np.searchsorted(starts, times, "right") - 1
    delay_ns = np.full(len(times), np.nan)
    places: list[PathPlace] = []
    at_path = int(np.searchsorted(starts, min(at_us, header.duration_us - 1), "right")) - 1
    for nodes, each_hop in path_rows(rows):
        path = int(rows["path"][each_hop[0][0]])
        here = path_at == path
        delay_ns[here] = sum(np.interp(times[here], rows["at_us"][hop], rows["delay_ns"][hop]) for hop in each_hop)
        if path == at_path:
            places = _places(header, nodes, at_us)
    return PathWindow(
        from_us, to_us, at_us,
        [
            PathPoint(int(time), None if math.isnan(delay) else round(delay / 1e6, 6), int(hops[path]))
            for time, delay, path in zip(times, delay_ns, path_at, strict=True)
        ],
        [PathStay(int(starts[path]), int(ends[path]), int(hops[path])) for path in shown],
        places,
    )  # fmt: skip


def _places(header: PathHeader, nodes: tuple[int, ...], at_us: int) -> list[PathPlace]:
    if header.constellation.code is None:
        raise wrong("constellation", "its elements are in a file", "Only paths of a constellation code can be drawn.")
    sky = sky_of(header, code_orbits(header.constellation.code, header.epoch))
    moment = np.array([at_us], np.int64)
    turned = float(np.asarray(sidereal_angle(header.start, moment)).ravel()[0])
    satellites = iter(sky.places(nodes, moment)[:, 0])
    positions = []
    for node in nodes:
        if node < 0:
            at = header.stations[-1 - node]
            positions.append(PathPlace(node, at.name, at.latitude_deg, at.longitude_deg, at.height_m / 1e3))
        else:
            x, y, z = (float(each) for each in next(satellites))
            radius = math.hypot(x, y, z)
            east = math.remainder(math.atan2(y, x) - turned, math.tau)
            latitude, longitude = math.degrees(math.asin(z / radius)), math.degrees(east)
            positions.append(PathPlace(node, None, latitude, longitude, radius - MEAN_RADIUS_KM))
    return positions
