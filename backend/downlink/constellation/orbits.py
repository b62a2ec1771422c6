"""Positions of satellites: SGP4 with the constants of WGS72, as the Earth turns by mean sidereal time alone.

UT1 is taken as UTC, and the poles as fixed: both move stations by less than 500 m, a microsecond and a half of delay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from sgp4.api import SGP4_ERRORS, WGS72, Satrec, SatrecArray

from downlink.constellation.code import Walker
from downlink.domain.links.pathtrace import wrong
from downlink.domain.partial import LeftOut

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

J2000 = datetime(2000, 1, 1, 12, tzinfo=UTC)
J2000_JD = 2_451_545.0
SGP4_ZERO = datetime(1949, 12, 31, tzinfo=UTC)
DAY_S = 86_400
US_PER_DAY = DAY_S * 1e6
WGS72_MU_KM3_PER_S2 = 398_600.8
WGS72_RADIUS_KM = 6378.135
COARSE_US = 10_000_000
NEARLY_ROUND = 1e-7
"""Eccentricity of made orbits."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The arrangement of satellites in planes: number plane x per_plane + place. seam: by how many places plane 0 lies ahead of the
    last plane's next one; None where these two are no neighbours. numbers: of the existing satellites; None for all."""

    planes: int
    per_plane: int
    seam: int | None
    numbers: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a satellite, and the position of its elements in their file."""

    name: str
    place: str


@dataclass(frozen=True, slots=True)
class Orbits:
    """Satellites, numbered from 0. epoch: of their elements; spread_s: between the earliest and the latest of these.

    labels: name or catalogue number, and place in the file, of each; of a code there are none. left_out: what the file has besides.
    """

    satellites: tuple[Satrec, ...]
    epoch: datetime
    grid: Grid | None
    spread_s: float = 0.0
    labels: tuple[Label, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Elements:
    """Mean elements of one satellite at an epoch; a round orbit."""

    inclination_deg: float
    node_deg: float
    anomaly_deg: float
    turns_per_day: float


def turns_per_day(height_km: float) -> float:
    """Return the revolutions per day of a circular orbit at a height above the equator."""
    return DAY_S / (2 * math.pi) * math.sqrt(WGS72_MU_KM3_PER_S2 / (WGS72_RADIUS_KM + height_km) ** 3)


def walker_orbits(walker: Walker, epoch: datetime) -> Orbits:
    """The first plane's node is at right ascension 0, its first satellite in it."""
    turns = turns_per_day(walker.height_km)
    elements = [
        Elements(
            inclination_deg=walker.inclination_deg,
            node_deg=plane * walker.spread_deg / walker.planes,
            anomaly_deg=360 * (slot / walker.per_plane + plane * walker.phase / walker.satellites),
            turns_per_day=turns,
        )
        for plane in range(walker.planes)
        for slot in range(walker.per_plane)
    ]
    seam = walker.phase if walker.is_closed else None
    return orbits_of(elements, epoch, Grid(walker.planes, walker.per_plane, seam))


def orbits_of(elements: Sequence[Elements], epoch: datetime, grid: Grid | None) -> Orbits:
    days = (epoch - SGP4_ZERO).total_seconds() / DAY_S
    return Orbits(tuple(_satellite(number, each, days) for number, each in enumerate(elements)), epoch, grid)


def _satellite(number: int, elements: Elements, days: float) -> Satrec:
    satellite = Satrec()
    degrees = math.pi / 180
    satellite.sgp4init(
        WGS72, "i", number, days, 0.0, 0.0, 0.0, NEARLY_ROUND, 0.0, elements.inclination_deg * degrees,
        elements.anomaly_deg % 360 * degrees, elements.turns_per_day * 2 * math.pi / 1_440, elements.node_deg % 360 * degrees,
    )  # fmt: skip
    return satellite


def positions(satellites: SatrecArray, start: datetime, at_us: Whole) -> Floats:
    """Return positions in km, of shape (satellites, times, 3), in a frame that keeps its directions in space (TEME).

    Raises InvalidError as `motion` does.
    """
    return motion(satellites, start, at_us)[0]


def near_positions(satellites: SatrecArray, start: datetime, at_us: Whole) -> Floats:
    """The same for times in a row that are close to each other, within centimetres and several times as fast.

    Positions and velocities every COARSE_US are joined by Hermite's cubics.
    """
    span = int(at_us[-1] - at_us[0])
    pieces = -(-span // COARSE_US)
    if pieces + 1 >= len(at_us):
        return positions(satellites, start, at_us)
    coarse_us = at_us[0] + np.arange(pieces + 1) * COARSE_US
    places, speeds = motion(satellites, start, coarse_us)
    piece = np.minimum((at_us - at_us[0]) // COARSE_US, pieces - 1)
    part = ((at_us - coarse_us[piece]) / COARSE_US)[:, None]
    interpolated = (1 + 2 * part) * (1 - part) ** 2 * places[:, piece]
    interpolated += part**2 * (3 - 2 * part) * places[:, piece + 1]
    interpolated += part * (1 - part) ** 2 * (COARSE_US / 1e6) * speeds[:, piece]
    interpolated += part**2 * (part - 1) * (COARSE_US / 1e6) * speeds[:, piece + 1]
    near: Floats = interpolated
    return near


def motion(satellites: SatrecArray, start: datetime, at_us: Whole) -> tuple[Floats, Floats]:
    """Positions in km and velocities in km/s, both of shape (satellites, times, 3).

    Raises InvalidError where SGP4 has no answer: a satellite that has come down, or elements without sense.
    """
    whole, part = julian(start)
    day = part + at_us / US_PER_DAY
    errors, places, speeds = satellites.sgp4(np.full(len(day), whole), day)
    if np.any(errors):
        satellite, time = (int(each[0]) for each in np.nonzero(errors))
        reason = f"SGP4 has no place for it {at_us[time] / 1e6:g} s after the start ({SGP4_ERRORS[int(errors[satellite, time])]})"
        raise wrong(f"satellite {satellite}", reason, "Take newer elements, another start or a shorter time.")
    return places, speeds


def sidereal_angle(start: datetime, at_us: Whole) -> Floats:
    """Return by how much the Earth has turned under that frame, in radians: mean sidereal time of 1982 (IAU)."""
    days = (start - J2000).total_seconds() / DAY_S + at_us / US_PER_DAY
    centuries = days / 36_525
    seconds = (
        67_310.54841
        + (876_600 * 3_600 + 8_640_184.812866) * centuries
        + 0.093104 * centuries**2
        - 6.2e-6 * centuries**3
    )
    angle: Floats = np.fmod(seconds, DAY_S) * (2 * math.pi / DAY_S)
    return angle


def julian(moment: datetime) -> tuple[float, float]:
    """The Julian date as whole and part of a day."""
    days = (moment - J2000).total_seconds() / DAY_S
    whole = math.floor(days)
    return J2000_JD + whole, days - whole
