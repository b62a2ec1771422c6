"""The JSON of weather services: which values it says, and how it is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from downlink.codec.weather_json import parse_reading
from downlink.domain.errors import InvalidError
from downlink.domain.links.observation import Observation
from downlink.domain.links.weather_source import read_source

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
AT = "2026-11-25T11:45"
QUANTITIES = "weather.rain_mm_per_h=/current/precipitation * 4,weather.temperature_c=/stations/0/t"


def said(time: Any = AT, rain: Any = 0.3, warmth: Any = -1, **more: Any) -> bytes:
    return json.dumps({"current": {"time": time, "precipitation": rain}, "stations": [{"t": warmth}], **more}).encode()


def parsed(body: bytes, zone: str = "UTC", quantities: str = QUANTITIES) -> list[Observation]:
    url = "https://weather.example/?a={latitude}&b={longitude}"
    return parse_reading(body, read_source("service", url, quantities, "/current/time", zone, 15), NOW)


def test_values_are_found_by_their_pointers() -> None:
    at = datetime(2026, 11, 25, 11, 45, tzinfo=UTC)
    assert parsed(said()) == [
        Observation("weather.rain_mm_per_h", "mm/h", "service", at, 1.2),
        Observation("weather.temperature_c", "°C", "service", at, -1.0),
    ]


@pytest.mark.parametrize(
    ("time", "zone"),
    [
        ("2026-11-25T12:45", "Europe/Madrid"),
        ("2026-11-25T11:45Z", "Europe/Madrid"),
        ("2026-11-25T06:45:00-05:00", "UTC"),
        ("25.11.2026 12:45", "Europe/Madrid"),
        (1_795_607_100, "Europe/Madrid"),
        (1_795_607_100.0, "UTC"),
    ],
)
def test_moments_are_read_as_they_are_written(time: Any, zone: str) -> None:
    assert {each.at for each in parsed(said(time), zone)} == {datetime(2026, 11, 25, 11, 45, tzinfo=UTC)}


@pytest.mark.parametrize("missing", [None, "", "NA", "--"])
def test_what_is_missing_is_left_out(missing: str | None) -> None:
    (only,) = parsed(said(rain=missing, warmth="3.5"))
    assert (only.quantity, only.value) == ("weather.temperature_c", 3.5)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "weather_unreadable"),
        (b"<html>", "weather_unreadable"),
        (b"\xff\xfe", "weather_unreadable"),
        (b"[" * 100_000, "weather_unreadable"),
        (b'{"current": NaN}', "weather_unreadable"),
        (b'{"current": ' + b"9" * 5000 + b"}", "weather_unreadable"),
        (b"[]", "weather_pointer_missing"),
        (b"null", "weather_pointer_missing"),
        (b'{"current": {"time": "2026-11-25T11:45", "precipitation": 1}}', "weather_pointer_missing"),
        (b'{"current": {"time": "2026-11-25T11:45", "precipitation": 1}, "stations": []}', "weather_pointer_missing"),
        (said(None), "weather_time_invalid"),
        (said(True), "weather_time_invalid"),
        (said("yesterday\0"), "weather_time_invalid"),
        (said({"a": "\ud800"}), "weather_time_invalid"),
        (said(1e300), "weather_time_invalid"),
        (said("0001-01-01T00:00+05:00"), "weather_time_invalid"),
        (said("1999-12-31T23:59"), "weather_value_invalid"),
        (said("2026-11-26T12:01"), "weather_value_invalid"),
        (said(1_795_607_100_000), "weather_time_invalid"),
        (said(rain="wet"), "weather_value_invalid"),
        (said(rain="inf"), "weather_value_invalid"),
        (said(rain=True), "weather_value_invalid"),
        (said(rain=[1]), "weather_value_invalid"),
        (said(rain=1e308), "weather_value_invalid"),
        (b'{"current": {"time": "2026-11-25T11:45", "precipitation": 1' + b"0" * 400 + b'}, "stations": [{"t": 1}]}',
         "weather_value_invalid"),
        (said(rain=None, warmth=None), "weather_no_value"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_a_name_that_may_be_stored(body: bytes, code: str) -> None:
    with pytest.raises(InvalidError) as wrong:
        parsed(body)
    assert wrong.value.code == code
    assert "\0" not in wrong.value.message
    wrong.value.message.encode()


def test_places_of_lists_are_plain_numbers() -> None:
    for pointer in ("/stations/00/t", "/stations/-/t", "/stations/-1/t", "/stations/1/t", "/stations/x/t"):
        with pytest.raises(InvalidError) as wrong:
            parsed(said(), quantities=f"weather.temperature_c={pointer}")
        assert wrong.value.code == "weather_pointer_missing"
