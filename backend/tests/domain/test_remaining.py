"""When a campaign will have ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from downlink.domain.remaining import LeftOnLink, expected_end

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_a_plan_with_time_between_its_runs_ends_when_the_plan_says() -> None:
    assert expected_end(NOW, [LeftOnLink(after(3600), 600)]) == after(3600)


def test_a_plan_that_is_behind_takes_one_run_after_the_other() -> None:
    assert expected_end(NOW, [LeftOnLink(after(-900), 600)]) == after(600)
    assert expected_end(NOW, [LeftOnLink(after(-900), 600, after(40))]) == after(640)


def test_the_last_of_several_links_counts() -> None:
    assert expected_end(NOW, [LeftOnLink(after(100), 50), LeftOnLink(after(70), 500)]) == after(500)


def test_the_last_run_under_way_is_all_that_is_left() -> None:
    assert expected_end(NOW, [LeftOnLink(busy_until_at=after(25))]) == after(25)
    assert expected_end(NOW, [LeftOnLink(busy_until_at=after(-25))]) == NOW, "it takes longer than it should"


def test_nothing_left_has_no_end() -> None:
    assert expected_end(NOW, []) is None
    assert expected_end(NOW, [LeftOnLink()]) is None
