"""Quantities of a link over time: what its dish, its modem or a weather station said, beside what runs measure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from downlink.domain.errors import InvalidError
from downlink.domain.text import is_storable

NAME = r"[a-z][a-z0-9_]{0,30}\.[a-z][a-z0-9_]{0,60}"
MOST_AT_ONCE = 2_000
"""Observations in one call of an agent."""
MOST_IN_FILE = 200_000
MOST_QUANTITIES = 200
"""Quantities of one link at most."""
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
AHEAD = timedelta(minutes=15)
"""Clocks differ, and a mean may have the end of its interval as its moment."""
MOST = 1e15
"""The magnitude of a value. Nothing that is observed comes near it, and means over values up to it do not overflow."""
UNITS = {
    "dish.obstruction_ratio": "ratio",
    "dish.currently_obstructed": "0 or 1",
    "dish.snr": "dB",
    "dish.snr_above_noise_floor": "0 or 1",
    "dish.ping_latency_ms": "ms",
    "dish.ping_drop_ratio": "ratio",
    "dish.downlink_bps": "bit/s",
    "dish.uplink_bps": "bit/s",
    "dish.outage_s": "s",
    "dish.azimuth_deg": "deg",
    "dish.elevation_deg": "deg",
    "dish.uptime_s": "s",
    "weather.rain_mm_per_h": "mm/h",
    "weather.temperature_c": "°C",
    "weather.humidity_percent": "%",
    "weather.wind_m_per_s": "m/s",
    "weather.pressure_hpa": "hPa",
    "weather.cloud_percent": "%",
    "weather.snow_mm_per_h": "mm/h",
}
"""The names that this project gives, and their units. Others are as their source says."""
BOUNDS: Mapping[str, tuple[float, float]] = {
    "dish.obstruction_ratio": (0, 1),
    "dish.currently_obstructed": (0, 1),
    "dish.snr": (-50, 100),
    "dish.snr_above_noise_floor": (0, 1),
    "dish.ping_latency_ms": (0, 60_000),
    "dish.ping_drop_ratio": (0, 1),
    "dish.downlink_bps": (0, 1e11),
    "dish.uplink_bps": (0, 1e11),
    "dish.outage_s": (0, 1e8),
    "dish.azimuth_deg": (-360, 360),
    "dish.elevation_deg": (-90, 90),
    "dish.uptime_s": (0, 1e9),
    "weather.rain_mm_per_h": (0, 500),
    "weather.temperature_c": (-95, 65),
    "weather.humidity_percent": (0, 105),
    "weather.wind_m_per_s": (0, 115),
    "weather.pressure_hpa": (300, 1100),
    "weather.cloud_percent": (0, 100),
    "weather.snow_mm_per_h": (0, 500),
}
"""The least and the greatest value of each: what no place on Earth (WMO's records) and no dish has seen. A little beyond 100 % is
how hygrometers err."""
SENTINELS = frozenset(
    sign * each
    for sign in (-1.0, 1.0)
    for each in (
        99, 99.9, 99.99, 999, 999.9, 999.99, 9999, 9999.9, 9999.99, 99_999, 999_999, 6999, 7777, 8888, 32_767, 32_768,
    )
)  # fmt: skip
"""Numbers that stations and services write where they have no value."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One value of a quantity at a moment. source: who said so, such as `dish` or `station`."""

    quantity: str
    unit: str
    source: str
    at: datetime
    value: float


def unit_of(quantity: str, unit: str | None) -> str:
    """The unit of a quantity; InvalidError where nobody says it, or somebody says another one than it has."""
    known = UNITS.get(quantity)
    if known is None and not unit:
        raise InvalidError("observation_invalid", f"{quantity} has no known unit: say it, as in `{quantity} [m/s]`.")
    if known and unit and unit != known:
        raise InvalidError("observation_invalid", f"{quantity} is in {known} here, not in {unit}: convert it first.")
    return known or unit or ""


def fault_of(value: float, quantity: str) -> str | None:
    """Return why this is no value of the quantity, as an end of a sentence, and what to do; None for one that may be."""
    if not math.isfinite(value):
        return "the value is not a finite number; leave it out."
    if abs(value) > MOST:
        return f"{value:g} is beyond {MOST:g}, which no quantity reaches; correct it, or leave it out."
    least, greatest = BOUNDS.get(quantity, (-MOST, MOST))
    if least <= value <= greatest:
        return None
    if value in SENTINELS:
        return f"{value:g} is how many stations write that they have no value; say so (missing), or leave it out."
    return f"{value:g} is not between {least:g} and {greatest:g} {UNITS[quantity]}; correct it, or its unit, or leave it out."


def check_observation(each: Observation, now: datetime) -> None:
    """InvalidError says what is wrong with it."""
    if not re.fullmatch(NAME, each.quantity):
        raise InvalidError(
            "observation_invalid", f"{each.quantity!r} does not name a quantity: write it as in weather.rain_mm_per_h."
        )
    for what, text, most in (("unit", each.unit, 20), ("source", each.source, 60)):
        if not 1 <= len(text) <= most or not is_storable(text):
            raise InvalidError(
                "observation_invalid", f"{each.quantity}: its {what} must be a text of 1 to {most} characters."
            )
    unit_of(each.quantity, each.unit)
    fault = fault_of(each.value, each.quantity)
    if fault:
        raise InvalidError("observation_invalid", f"{each.quantity} at {each.at:%Y-%m-%d %H:%M}: {fault}")
    if not EARLIEST <= each.at <= now + AHEAD:
        ahead = f"more than {AHEAD.total_seconds() / 60:.0f} minutes in the future"
        why = "before the year 2000" if each.at < EARLIEST else ahead
        message = f"{each.quantity}: {each.at:%Y-%m-%d %H:%M} UTC is {why}; check the clock or the time zone."
        raise InvalidError("observation_invalid", message)
