"""The header of a path trace (docs/paths.md): stations, constellation, route rule and radio. Each number is checked when it is
created."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from downlink.domain.errors import InvalidError
from downlink.domain.moment import in_utc

PATH_FORMAT = "dl-path/1"
PATH_FIELDS = ("at_us", "path", "hop", "node", "delay_ns", "rate_bps", "loss_ppb", "gap_us")
LIGHT_M_PER_S = 299_792_458
NO_LOSS_PPB, ALL_LOSS_PPB = 0, 1_000_000_000
MAX_SATELLITES = 20_000
LEAST_RADIUS_KM, MOST_RADIUS_KM = 6_400, 100_000
MAX_DURATION_US = 7 * 86_400 * 1_000_000
GRID, NO_ISL = "+grid", "none"
ISL_PATTERNS = (GRID, NO_ISL)
RULES = ("shortest", "hold", "slots")


def wrong(position: str, reason: str, remedy: str) -> InvalidError:
    """The error of everything about path traces: where, why, what to do."""
    return InvalidError("path_invalid", f"{position}: {reason}. {remedy}", {"place": position})


def check_range(position: str, value: float, low: float, high: float, unit: str = "") -> None:
    """Raises InvalidError where a number is not finite or outside low … high."""
    if not (math.isfinite(value) and low <= value <= high):
        raise wrong(position, f"{value} is not allowed", f"Take a value from {low:g} to {high:g} {unit}".rstrip() + ".")


@dataclass(frozen=True, slots=True)
class Station:
    """A place on the ground, on the ellipsoid of WGS84."""

    name: str
    latitude_deg: float
    longitude_deg: float
    height_m: float = 0.0

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", self.name):
            raise wrong("station", f"{self.name!r} is no name", "Take 1 to 40 of a-z, 0-9 and -.")
        check_range(f"station {self.name}, latitude", self.latitude_deg, -90, 90, "degrees")
        check_range(f"station {self.name}, longitude", self.longitude_deg, -180, 180, "degrees")
        check_range(f"station {self.name}, height", self.height_m, -500, 9_000, "m")


@dataclass(frozen=True, slots=True)
class Radio:
    """Link budget between a station and a satellite; defaults after 3GPP TR 38.821 and 10 MHz for a user."""

    frequency_ghz: float = 20.0
    bandwidth_mhz: float = 10.0
    eirp_density_dbw_per_mhz: float = 4.0
    g_over_t_db_per_k: float = 15.9
    other_losses_db: float = 0.8

    def __post_init__(self) -> None:
        check_range("radio, frequency", self.frequency_ghz, 0.1, 1_000, "GHz")
        check_range("radio, bandwidth", self.bandwidth_mhz, 0.01, 100_000, "MHz")
        check_range("radio, EIRP density", self.eirp_density_dbw_per_mhz, -100, 100, "dBW/MHz")
        check_range("radio, G/T", self.g_over_t_db_per_k, -100, 100, "dB/K")
        check_range("radio, other losses", self.other_losses_db, 0, 100, "dB")


@dataclass(frozen=True, slots=True)
class LossCurve:
    """Loss of a hop over its SNR: straight in log10(ratio) between two points, constant beyond them."""

    low_snr_db: float = 0.0
    low_snr_ratio: float = 1e-5
    high_snr_db: float = 10.0
    high_snr_ratio: float = 1e-5

    def __post_init__(self) -> None:
        check_range("loss, lower SNR", self.low_snr_db, -50, 100, "dB")
        check_range("loss, higher SNR", self.high_snr_db, -50, 100, "dB")
        check_range("loss at the lower SNR", self.low_snr_ratio, 0, 1)
        check_range("loss at the higher SNR", self.high_snr_ratio, 0, 1)
        if self.low_snr_db >= self.high_snr_db:
            raise wrong("loss", "its two points are not in order", "Name the point with the lower SNR first.")
        if (self.low_snr_ratio == 0) != (self.high_snr_ratio == 0):
            raise wrong("loss", "one ratio is 0 and the other is not", "Take two positive ratios, or 0 twice.")


@dataclass(frozen=True, slots=True)
class Gap:
    """The silence of a changed hop: drawn for each change, uniformly from least to most."""

    least_ms: float = 0.0
    most_ms: float = 0.0

    def __post_init__(self) -> None:
        check_range("gap, least", self.least_ms, 0, 60_000, "ms")
        check_range("gap, most", self.most_ms, self.least_ms, 60_000, "ms")


@dataclass(frozen=True, slots=True)
class LinkModel:
    """Rate, loss and handover gap of both kinds of hop: with the ground (GSL) and between satellites (ISL)."""

    radio: Radio = field(default_factory=Radio)
    gsl_loss: LossCurve = field(default_factory=LossCurve)
    gsl_gap: Gap = field(default_factory=lambda: Gap(20.0, 60.0))
    isl_rate_bps: int = 100_000_000
    isl_loss_ratio: float = 1e-5
    isl_gap: Gap = field(default_factory=Gap)

    def __post_init__(self) -> None:
        check_range("ISL, rate", self.isl_rate_bps, 1_000, 100_000_000_000, "bit/s")
        check_range("ISL, loss", self.isl_loss_ratio, 0, 1)


@dataclass(frozen=True, slots=True)
class Route:
    """The rule for path changes. stay_s: `shortest` alone; slot_s and offset_s (of the first slot's end): `slots` alone."""

    rule: str = "shortest"
    stay_s: float = 15.0
    slot_s: float = 15.0
    offset_s: float = 0.0

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise wrong("route", f"there is no rule {self.rule!r}", f"Take one of {', '.join(RULES)}.")
        check_range("route, stay", self.stay_s, 0, 3_600, "s")
        check_range("route, slot", self.slot_s, 0.1, 3_600, "s")
        check_range("route, offset", self.offset_s, 0, self.slot_s, "s")


@dataclass(frozen=True, slots=True)
class Constellation:
    """The satellites: a code, or an element file by name and SHA-256. The radii are geocentric, over the whole trace."""

    code: str | None
    file: str | None
    file_sha256: str | None
    satellites: int
    least_radius_km: float
    most_radius_km: float

    def __post_init__(self) -> None:
        if (self.code is None) != (self.file is not None and self.file_sha256 is not None):
            raise wrong("constellation", "it has neither a code nor an element file", "Name one of the two.")
        check_range("constellation, satellites", self.satellites, 1, MAX_SATELLITES)
        check_range("constellation, least radius", self.least_radius_km, LEAST_RADIUS_KM, MOST_RADIUS_KM, "km")
        check_range("constellation, most radius", self.most_radius_km, self.least_radius_km, MOST_RADIUS_KM, "km")


@dataclass(frozen=True, slots=True)
class PathHeader:
    """All that a path was made with. The path goes from the first station to the last; those between may pass on.

    epoch: of the elements of a code. start: the moment of `at_us` 0. asked: what the caller named, as named.
    """

    name: str
    program: str
    constellation: Constellation
    epoch: datetime
    start: datetime
    stations: tuple[Station, ...]
    least_elevation_deg: float
    most_gsl_km: float | None
    isl: str
    route: Route
    links: LinkModel
    step_ms: int
    duration_us: int
    seed: int
    asked: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,59}", self.name):
            raise wrong("name", f"{self.name!r} is no name of a path", "Take 1 to 60 of a-z, 0-9 and -.")
        if not 2 <= len(self.stations) <= 20 or len({each.name for each in self.stations}) != len(self.stations):
            raise wrong("stations", "they are fewer than 2, more than 20 or named alike", "Name 2 to 20 of them.")
        if self.isl not in ISL_PATTERNS:
            raise wrong("isl", f"there is no pattern {self.isl!r}", f"Take one of {', '.join(ISL_PATTERNS)}.")
        for name in ("epoch", "start"):
            try:
                object.__setattr__(self, name, in_utc(getattr(self, name)))
            except ValueError as error:
                raise wrong(name, f"the moment {error}", "Write it with Z or an offset.") from None
        check_range("least elevation", self.least_elevation_deg, 0, 90, "degrees")
        check_range("longest GSL", self.most_gsl_km if self.most_gsl_km is not None else 1, 1, 100_000, "km")
        check_range("step", self.step_ms, 10, 60_000, "ms")
        check_range("duration", self.duration_us, 1, MAX_DURATION_US, "us")
        check_range("seed", self.seed, 0, 2**63 - 1)
