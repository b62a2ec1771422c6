"""Names in a campaign file are one line without control characters."""

from __future__ import annotations

import pytest

from downlink.codec.campaign_file import parse_campaign
from downlink.domain.errors import InvalidError

FILE = "links: [geo]\nstop: {seconds: 60}\ntimetable: {cycles: 3}\n"
NAMES = [r'"a\nb"', r'"a\tb"', r'"\e[31m"', r'"\x9b31m"']


@pytest.mark.parametrize("name", NAMES)
def test_names_with_controls_are_refused_at_their_place(name: str) -> None:
    text = f"name: {name}\n{FILE}conditions: [{{name: {name}}}]\n"
    with pytest.raises(InvalidError) as refused:
        parse_campaign(text)
    wanted = "must be on one line, without tabs and control characters."
    assert [(each["place"], each["message"]) for each in refused.value.details["problems"]] == [
        ("name", wanted),
        ("conditions[0].name", wanted),
    ]


def test_the_line_break_at_the_end_of_a_block_is_none_of_the_name() -> None:
    assert parse_campaign(f"name: |\n  GEO\n{FILE}conditions: [{{name: a}}]\n").name == "GEO"
