"""Tags are trimmed, each is there once, and what is none is refused with a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.domain.campaigns.tag import MAX_CHARS, MAX_TAGS, clean_tags
from downlink.domain.errors import InvalidError


def test_tags_are_trimmed_and_each_is_there_once_whatever_its_case() -> None:
    assert clean_tags(["  paper  001 ", "GEO", "geo", "Paper 001"]) == ["paper 001", "GEO"]
    assert clean_tags([]) == []


@pytest.mark.parametrize("tag", ["", "  ", "a,b", "x" * (MAX_CHARS + 1), "bell\x07", "\u202etxt", "half \ud800"])
def test_what_is_no_tag_is_refused(tag: str) -> None:
    with pytest.raises(InvalidError) as refused:
        clean_tags([tag])
    assert refused.value.code == "tag_invalid"


def test_there_is_room_for_so_many_and_no_more() -> None:
    tags = [f"t{number}" for number in range(MAX_TAGS)]
    assert clean_tags(["x" * MAX_CHARS, *tags[1:]])
    with pytest.raises(InvalidError, match="these are 21"):
        clean_tags([*tags, "one more"])


@given(st.lists(st.text(max_size=45), max_size=25))
def test_clean_tags_stay_as_they_are(tags: list[str]) -> None:
    try:
        clean = clean_tags(tags)
    except InvalidError:
        return
    assert clean_tags(clean) == clean
