"""From what happened to notices: which, and each once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.domain.campaigns.campaign_state import CampaignState
from downlink.domain.notices.notification import (
    AgentSight,
    CampaignEnd,
    RunEnd,
    Topic,
    Volume,
    Wishes,
    agent_changed,
    ended,
    failing,
    volume_used,
)
from downlink.domain.runs.run import Reason, RunState

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
CAMPAIGN, ME, OTHER = UUID(int=1), UUID(int=2), UUID(int=3)
BAD, GOOD = "FM", "CI"
STATES = {
    "F": (RunState.FAILED, Reason.LINK_LOST),
    "M": (RunState.MISSED, Reason.HOST_BUSY),
    "C": (RunState.COMPLETE, None),
    "I": (RunState.INCOMPLETE, Reason.THIN_TRACE),
    "x": (RunState.CANCELLED, Reason.CANCELLED),
    "h": (RunState.MISSED, Reason.OUTSIDE_HOURS),
}


def ends(letters: str) -> list[RunEnd]:
    return [
        RunEnd(UUID(int=number), CAMPAIGN, "study", ME, "geo", *STATES[letter], NOW + timedelta(minutes=number))
        for number, letter in enumerate(letters)
    ]


@pytest.mark.parametrize(
    ("letters", "least", "first_runs"),
    [
        ("", 1, []),
        ("F", 1, [0]),
        ("FF", 3, []),
        ("FFF", 3, [0]),
        ("FMF", 3, [0]),
        ("FFFFFF", 3, [0]),
        ("FFCF", 3, []),
        ("FFCFFF", 3, [3]),
        ("FFFIFFF", 3, [0, 4]),
        ("FxFhF", 3, [0]),
        ("xxx", 1, []),
        ("hhh", 1, []),
    ],
)
def test_a_series_of_failures_is_noticed_once(letters: str, least: int, first_runs: list[int]) -> None:
    assert [notice.key for notice in failing(ends(letters), least)] == [
        f"run:{UUID(int=n)}:failing" for n in first_runs
    ]


def test_the_sentence_names_runs_link_and_reasons() -> None:
    (notice,) = failing(ends("FMFF"), 3)
    assert notice.title == "study: 3 runs in a row failed on geo"
    assert (
        notice.text
        == "3 runs in a row of study on geo failed or were missed, since 2026-11-24 12:00 UTC: host_busy, link_lost."
    )
    assert (notice.at, notice.path) == (NOW + timedelta(minutes=2), f"/runs/{UUID(int=2)}")
    (one,) = failing(ends("F"), 1)
    assert one.text == "A run of study on geo failed or was missed, since 2026-11-24 12:00 UTC: link_lost."


@given(st.text("FMCIxh", max_size=30), st.integers(1, 5))
def test_looking_after_each_end_finds_the_same_notices_as_looking_once(letters: str, least: int) -> None:
    """What is looked at are the ends since the last success: no older ones are needed."""
    every = ends(letters)
    found = {}
    for number in range(len(letters) + 1):
        seen = letters[:number]
        begin = max((seen.rfind(each) for each in GOOD), default=-1) + 1
        for notice in failing(every[begin:number], least):
            assert found.setdefault(notice.key, notice) == notice, "it says the same whenever one looks"
    assert found == {notice.key: notice for notice in failing(every, least)}


@pytest.mark.parametrize(
    ("silent_min", "watched_min", "is_present", "is_noted", "expected"),
    [
        (4, 60, False, False, None),
        (5, 60, False, False, "agent.gone"),
        (5, 60, True, False, None),  # it measures
        (5, 60, False, True, None),  # said before
        (60, 4, False, False, None),  # nobody could have heard it
        (60, 5, False, False, "agent.gone"),
        (60 * 24 * 8, 60, False, False, None),  # no news any more
        (0, 60, True, False, None),
        (0, 60, True, True, "agent.back"),
    ],
)
def test_an_agent_is_gone_and_back(
    silent_min: int, watched_min: int, is_present: bool, is_noted: bool, expected: str | None
) -> None:
    sight = AgentSight(uuid4(), "dish", NOW - timedelta(minutes=silent_min), silent_min == 0, is_present)
    notice = agent_changed(sight, is_noted, 5, NOW - timedelta(minutes=watched_min), NOW)
    assert (notice.type if notice else None) == expected


@pytest.mark.parametrize(("let_go_min", "expected"), [(1, None), (5, "agent.gone"), (60, "agent.gone")])
def test_silence_counts_from_the_end_of_the_run(let_go_min: int, expected: str | None) -> None:
    heard_at, let_go_at = NOW - timedelta(minutes=45), NOW - timedelta(minutes=let_go_min)
    notice = agent_changed(AgentSight(uuid4(), "dish", heard_at, False, False, let_go_at), False, 5, heard_at, NOW)
    assert (notice.type if notice else None) == expected


def test_one_silence_has_one_key() -> None:
    sight = AgentSight(uuid4(), "dish", NOW, False, False)
    first, second = (agent_changed(sight, False, 5, NOW, NOW + timedelta(minutes=n)) for n in (5, 50))
    assert first
    assert second
    assert first.key == second.key


@pytest.mark.parametrize(("used", "percent"), [(799, None), (800, 80), (1500, 150)])
def test_volume_is_noticed_from_four_fifths_on(used: int, percent: int | None) -> None:
    notice = volume_used(Volume("link", UUID(int=9), "geo", ME, used, 1000, "2026-11"), NOW)
    assert (notice.title if notice else None) == (f"geo has used {percent} % of its allowance" if percent else None)


def test_another_month_and_another_limit_are_noticed_anew() -> None:
    asked = ((1000, "2026-11"), (1000, "2026-12"), (1100, "2026-11"))
    volumes = [Volume("link", UUID(int=9), "geo", ME, 900, limit, month) for limit, month in asked]
    assert len({notice.key for each in volumes if (notice := volume_used(each, NOW))}) == 3


def test_a_campaign_that_ends_twice_is_noticed_twice() -> None:
    one, two = (
        ended(CampaignEnd(number, CAMPAIGN, "study", ME, CampaignState.COMPLETE, NOW, {"complete": 4, "failed": 1}))
        for number in (1, 2)
    )
    assert one.key != two.key
    assert one.text == "The campaign study is complete. Runs: 4 complete, 1 failed."


@pytest.mark.parametrize(
    ("is_own_only", "owner", "expected"),
    [(False, OTHER, True), (False, None, True), (True, ME, True), (True, OTHER, False), (True, None, False)],
)
def test_own_things_alone(is_own_only: bool, owner: UUID | None, expected: bool) -> None:
    wishes = Wishes(frozenset({Topic.FAILURES}), is_own_only=is_own_only, owner_id=ME)
    assert wishes.asks(Topic.FAILURES, owner) is expected
    assert not wishes.asks(Topic.VOLUME, owner)
