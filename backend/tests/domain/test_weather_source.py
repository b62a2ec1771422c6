"""What an admin may say of a weather service, whom it is asked for, and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from downlink.domain.errors import InvalidError
from downlink.domain.links.weather_source import (
    Position,
    Wanted,
    WeatherSource,
    check_position,
    is_pointer,
    next_ask_at,
    parts_of,
    position_of,
    read_source,
)

URL = "https://weather.example/v1?lat={latitude}&lon={longitude}&key=s3cret"
ZERO = datetime(2026, 1, 1, tzinfo=UTC)
QUARTER = timedelta(minutes=15)


def source(**changes: Any) -> WeatherSource:
    said: dict[str, Any] = {
        "name": None, "url": URL, "quantities": "weather.rain_mm_per_h=/now/rain", "time_pointer": "/now/time",
        "zone": "UTC", "every_min": 15,
    }  # fmt: skip
    return read_source(**{**said, **changes})


def test_a_source_says_whom_to_ask_for_what() -> None:
    found = source(quantities="weather.rain_mm_per_h=/now/rain * 4,\n weather.gust_m_per_s [m/s] = /now/0/a~1b~0")
    assert (found.name, found.host) == ("weather.example", "weather.example")
    assert found.wanted == (
        Wanted("weather.rain_mm_per_h", "mm/h", "/now/rain", 4.0),
        Wanted("weather.gust_m_per_s", "m/s", "/now/0/a~1b~0"),
    )
    assert found.url_of(position_of(39.4699, -0.3763)) == "https://weather.example/v1?lat=39.47&lon=-0.38&key=s3cret"
    assert found.url_of(position_of(-0.001, 0)) == "https://weather.example/v1?lat=0.00&lon=0.00&key=s3cret"
    assert "s3cret" not in repr(found)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"url": "https://weather.example/"}, "URL"),
        ({"url": "https://a.example/{latitude}/{longitude}/{latitude}"}, "URL"),
        ({"url": "ftp://a.example/{latitude}/{longitude}"}, "URL"),
        ({"url": "https://{latitude}.example/{longitude}"}, "one host"),
        ({"url": "https://a.example/{latitude}/{longitude}/{city}"}, "other braces"),
        ({"url": "https://a:s3cret@a.example/{latitude}/{longitude}"}, "URL"),
        ({"zone": "Mars"}, "ZONE"),
        ({"time_pointer": "now"}, "TIME"),
        ({"time_pointer": ""}, "TIME"),
        ({"quantities": ""}, "QUANTITIES"),
        ({"quantities": "weather.rain_mm_per_h"}, "QUANTITIES"),
        ({"quantities": "rain=/now/rain"}, "QUANTITIES"),
        ({"quantities": "weather.gust_m_per_s=/now/gust"}, "no known unit"),
        ({"quantities": "weather.rain_mm_per_h [in/h]=/now/rain"}, "convert it first"),
        ({"quantities": "weather.rain_mm_per_h=/a,weather.rain_mm_per_h=/b"}, "each once"),
        ({"quantities": "weather.rain_mm_per_h=/a * nan"}, "factor"),
        ({"quantities": "weather.rain_mm_per_h=/a~2"}, "RFC 6901"),
        ({"name": "x" * 61}, "NAME"),
        ({"name": "a\0"}, "NAME"),
    ],
)
def test_what_is_wrong_with_a_source_is_named_without_its_secrets(changes: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said) as wrong:
        source(**changes)
    assert "s3cret" not in str(wrong.value)


def test_each_change_has_another_mark() -> None:
    marks = {
        source(**changes).mark
        for changes in ({}, {"name": "a"}, {"zone": "Europe/Madrid"}, {"every_min": 16}, {"url": URL + "2"})
    }
    assert len(marks) == 5
    assert source().mark == source().mark


def test_links_of_one_site_are_one_place() -> None:
    assert position_of(39.4699, -0.3763) == position_of(39.4701, -0.3799) == Position(39.47, -0.38)
    assert position_of(39.4, -0.38) != position_of(39.41, -0.38)


@pytest.mark.parametrize("place", [(90.1, 0), (0, 180.1), (-90.1, 0), (0, -180.1), (None, 1), (1, None)])
def test_what_is_no_place_is_refused(place: tuple[float | None, float | None]) -> None:
    with pytest.raises(InvalidError):
        check_position(*place)


@pytest.mark.parametrize("place", [(None, None), (90, 180), (-90, -180), (0, 0)])
def test_any_place_on_earth_or_none_is_taken(place: tuple[float | None, float | None]) -> None:
    check_position(*place)


@pytest.mark.parametrize(("failures", "minutes"), [(0, 15), (1, 15), (2, 30), (3, 60), (5, 240), (6, 360), (500, 360)])
def test_who_fails_again_and_again_is_asked_less_and_less(failures: int, minutes: int) -> None:
    assert next_ask_at(ZERO, QUARTER, failures) - ZERO == timedelta(minutes=minutes)


def test_a_day_stays_a_day() -> None:
    assert next_ask_at(ZERO, timedelta(days=1), 9) - ZERO == timedelta(days=1)


def test_pointers_are_those_of_rfc_6901() -> None:
    """Those of its section 5 that point into something."""
    assert [list(parts_of(each)) for each in ("/foo/0", "/", "/a~1b", "/m~0n", "/ ", "/~01")] == [
        ["foo", "0"], [""], ["a/b"], ["m~n"], [" "], ["~1"],
    ]  # fmt: skip
    assert [is_pointer(each) for each in ("/", "/a//b", "", "a", "/~", "/~2", "/" + "x" * 200)] == [
        True, True, False, False, False, False, False,
    ]  # fmt: skip
