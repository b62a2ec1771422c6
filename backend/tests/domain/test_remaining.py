"""When a campaign will have ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from downlink.domain.campaigns.opening import Hours, Openings
from downlink.domain.campaigns.remaining import LeftOnLink, expected_end

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_a_plan_with_time_between_its_runs_ends_when_the_plan_says() -> None:
    assert expected_end(NOW, [LeftOnLink(after(3600), 600)]) == after(3600)


def test_a_plan_that_is_behind_takes_one_run_after_the_other() -> None:
    assert expected_end(NOW, [LeftOnLink(after(-900), 600)]) == after(600)
    assert expected_end(NOW, [LeftOnLink(after(-900), 600, 2, after(40))]) == after(640)


def test_the_last_of_several_links_counts() -> None:
    assert expected_end(NOW, [LeftOnLink(after(100), 50), LeftOnLink(after(70), 500)]) == after(500)


def test_the_last_run_under_way_is_all_that_is_left() -> None:
    assert expected_end(NOW, [LeftOnLink(busy_until_at=after(25))]) == after(25)
    assert expected_end(NOW, [LeftOnLink(busy_until_at=after(-25))]) == NOW, "it takes longer than it should"


def test_nothing_left_has_no_end() -> None:
    assert expected_end(NOW, []) is None
    assert expected_end(NOW, [LeftOnLink()]) is None


NIGHTS = Openings((Hours.parse("daily 18:00-20:00"),), "UTC")


@pytest.mark.parametrize(
    ("left_s", "runs", "ends_at"),
    [
        (7200, 12, datetime(2026, 3, 1, 20, tzinfo=UTC)),
        (7800, 13, datetime(2026, 3, 2, 18, 10, tzinfo=UTC)),
        (5 * 3000, 5, datetime(2026, 3, 3, 18, 50, tzinfo=UTC)),
    ],
    ids=["all in one evening", "one run more", "two of 50 minutes each evening"],
)
def test_a_plan_that_is_behind_waits_for_its_openings(left_s: float, runs: int, ends_at: datetime) -> None:
    assert expected_end(NOW, [LeftOnLink(after(-900), left_s, runs, openings=NIGHTS)]) == ends_at


def test_opening_hours_that_never_last_for_a_run_leave_the_estimate_without_them() -> None:
    assert expected_end(NOW, [LeftOnLink(after(-900), 9000, 1, openings=NIGHTS)]) == after(9000)


def test_a_plan_on_time_ends_when_it_says_in_opening_hours_too() -> None:
    evening = datetime(2026, 3, 4, 19, tzinfo=UTC)
    assert expected_end(NOW, [LeftOnLink(evening, 1200, 2, openings=NIGHTS)]) == evening
