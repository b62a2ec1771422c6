"""Points of measurement."""

from __future__ import annotations

import pytest

from downlink.domain.traces.point import ENDS, Point


@pytest.mark.parametrize(
    "text", ["sender", "receiver", "link", "hop-1", "hop-3", "hop-12", "hop-999", "sent", "delivered", "sites"]
)
def test_a_point_is_its_own_text(text: str) -> None:
    point = Point(text)
    assert (point, f"{point}_outcome", {text: 1}[point]) == (text, f"{text}_outcome", 1)


@pytest.mark.parametrize(
    "text", ["", "middle", "Sender", "sender\n", "hop", "hop-", "hop-0", "hop-01", "hop-1000", "hop-1/..", "both"]
)
def test_nothing_else_is_a_point(text: str) -> None:
    with pytest.raises(ValueError, match="is not a point of measurement"):
        Point(text)


def test_tcp_is_measured_at_its_ends() -> None:
    assert ENDS == ("sender", "receiver")


def test_a_relay_has_a_place_on_the_way() -> None:
    assert (Point.hop(2), Point.hop(2).rank, Point.SENDER.rank) == ("hop-2", 2, None)
