"""Nights of a time zone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from downlink.domain.errors import InvalidError
from downlink.domain.zone import check_zone, nights


def at(day: int, hour: int, month: int = 1) -> datetime:
    return datetime(2026, month, day, hour, tzinfo=UTC)


def spans(zone: str, from_at: datetime, to_at: datetime) -> list[tuple[datetime, datetime]]:
    return [(night.from_at, night.to_at) for night in nights(zone, from_at, to_at)]


def test_a_night_is_from_22_to_6_by_the_clock_of_the_zone() -> None:
    assert spans("UTC", at(2, 12), at(3, 12)) == [(at(2, 22), at(3, 6))]
    assert spans("Europe/Madrid", at(2, 12), at(3, 12)) == [(at(2, 21), at(3, 5))]
    assert spans("Asia/Tokyo", at(2, 12), at(3, 12)) == [(at(2, 13), at(2, 21))]


def test_nights_are_cut_where_the_strip_begins_and_ends() -> None:
    assert spans("UTC", at(2, 3), at(2, 23)) == [(at(2, 3), at(2, 6)), (at(2, 22), at(2, 23))]
    assert spans("UTC", at(2, 6), at(2, 22)) == []


def test_the_night_in_which_clocks_go_forward_is_an_hour_shorter() -> None:
    [(start, end)] = spans("Europe/Madrid", at(28, 12, month=3), at(29, 12, month=3))
    assert (end - start).total_seconds() == 7 * 3600


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "", "/etc/localtime"])
def test_what_is_no_zone_is_refused_and_has_no_nights(name: str) -> None:
    with pytest.raises(InvalidError) as caught:
        check_zone(name)
    assert caught.value.code == "time_zone_unknown"
    assert nights(name, at(1, 0), at(9, 0)) == []


@pytest.mark.parametrize("name", ["localtime", "Factory"])
def test_what_a_host_is_set_to_is_no_zone(name: str) -> None:
    with pytest.raises(InvalidError, match="write an IANA name"):
        check_zone(name)


def test_known_zones_are_taken() -> None:
    check_zone("Europe/Madrid")
    check_zone("UTC")
