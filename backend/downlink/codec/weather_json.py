"""The JSON of a weather service to observations: a moment, and the values that an admin has pointed at."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import Any, NoReturn

from downlink.codec.station_table import MISSING, read_number
from downlink.codec.station_time import read_moment
from downlink.domain.errors import InvalidError
from downlink.domain.links.observation import Observation, check_observation
from downlink.domain.links.weather_source import Wanted, WeatherSource, parts_of
from downlink.domain.moment import in_utc


def parse_reading(body: bytes, source: WeatherSource, now: datetime) -> list[Observation]:
    """The values of one answer, each checked. A value that is missing (null, or `NA` and the like) is left out.

    InvalidError `weather_unreadable`, `weather_pointer_missing`, `weather_time_invalid`, `weather_value_invalid` or
    `weather_no_value`: nothing of the answer is to be stored.
    """
    document = _decode(body)
    at = _moment(_at(document, source.time_pointer), source.zone)
    values = [(wanted, _number(_at(document, wanted.pointer), wanted)) for wanted in source.wanted]
    observed = [
        Observation(wanted.quantity, wanted.unit, source.name, at, value)
        for wanted, value in values
        if value is not None
    ]
    if not observed:
        raise InvalidError("weather_no_value", "The answer has no value: each one that is pointed at is missing.")
    for each in observed:
        _check(each, now)
    return observed


def _decode(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise InvalidError("weather_unreadable", "The answer is not JSON.") from None


def _refuse_constant(name: str) -> NoReturn:
    """NaN and Infinity are no JSON."""
    raise ValueError(name)


def _at(node: Any, pointer: str) -> Any:
    """Return the value that a JSON pointer leads to (RFC 6901, section 4)."""
    for part in parts_of(pointer):
        if isinstance(node, dict) and part in node:
            node = node[part]
        elif isinstance(node, list) and re.fullmatch("0|[1-9][0-9]{0,8}", part) and int(part) < len(node):
            node = node[int(part)]
        else:
            raise InvalidError("weather_pointer_missing", f"The answer has nothing at {pointer}.")
    return node


def _number(value: Any, wanted: Wanted) -> float | None:
    """Some services write numbers as texts, and what is missing as some stations do."""
    if value is None or (isinstance(value, str) and value.strip().lower() in MISSING):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _no_number(wanted)
    try:
        number = read_number(value.strip()) if isinstance(value, str) else float(value)
    except OverflowError:
        raise _no_number(wanted) from None
    if number is None or not math.isfinite(number * wanted.factor):
        raise _no_number(wanted)
    return number * wanted.factor


def _no_number(wanted: Wanted) -> InvalidError:
    return InvalidError("weather_value_invalid", f"What the answer has at {wanted.pointer} is not a number.")


def _moment(value: Any, zone: str) -> datetime:
    """A text as in a station's CSV, or seconds since 1970."""
    try:
        at = _read_moment(value)
        if at is not None:
            return in_utc(at, zone)
    except (ValueError, OverflowError, OSError):  # a year that no calendar or clock here has
        pass
    raise InvalidError("weather_time_invalid", f"{str(value)[:40]!r} is not a time; point at one.")


def _read_moment(value: Any) -> datetime | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, UTC)
    return read_moment(value) if isinstance(value, str) else None


def _check(each: Observation, now: datetime) -> None:
    try:
        check_observation(each, now)
    except InvalidError as error:
        raise InvalidError("weather_value_invalid", error.message) from None
