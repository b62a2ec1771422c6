"""What a refusal says is in the words of the file."""

from __future__ import annotations

from typing import Any

import pytest

from downlink.codec.campaign_reading import find_campaign
from tests.codec.test_campaign_bounds import file, named

FLOW = {"conditions": [{"name": "a", "flows": []}]}


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        (
            {"vary": {"cc": 1, "seconds": 2}},
            "vary",
            "cc and seconds cannot be varied at once: give one key with its values.",
        ),
        ({"vary": {"cc": 1}}, "vary", "cc needs a list of values, or a mapping of links to one value each, not 1."),
        (
            {"vary": {"cc": None}},
            "vary",
            "cc needs a list of values, or a mapping of links to one value each, not nothing.",
        ),
        ({"vary": {"cc": {"geo": [1]}}}, "vary.cc.geo", "must be a name with a text, a number, true or false."),
        ({"links": []}, "links", "must be a list of 1 to 64, not one of 0."),
        ({"conditions": named(65)}, "conditions", "must be a list of 1 to 64, not one of 65."),
        ({"weight": True}, "weight", "must be a whole number from 1 to 100, not true."),
        ({"stop": {"seconds": False}}, "stop.seconds", "must be a number from 1 to 86400, not false."),
        ({"limits": 5}, "limits", "must be a mapping of keys to values, not 5."),
    ],
)
def test_a_refusal_says_what_is_there_and_what_may_be(changes: dict[str, Any], place: str, message: str) -> None:
    found = find_campaign(file(**changes))
    assert isinstance(found, list)
    assert [(each.place, each.message) for each in found] == [(place, message)]


def test_no_number_is_written_with_an_exponent() -> None:
    found = find_campaign(file(timetable={"cycles": 3, "every_s": 1e9}))
    assert isinstance(found, list)
    assert "e+" not in found[0].message
