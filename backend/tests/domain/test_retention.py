"""When a campaign's data is due to go."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from downlink.domain.campaigns.retention import Keep, Part
from downlink.domain.errors import InvalidError

ENDED = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def test_without_a_rule_nothing_is_ever_due() -> None:
    assert Keep().due(ENDED, ENDED + 10_000 * DAY) is None


@pytest.mark.parametrize(
    ("after", "part"),
    [
        (90 * DAY - timedelta(seconds=1), None),
        (90 * DAY, Part.TRACES),
        (365 * DAY - timedelta(seconds=1), Part.TRACES),
        (365 * DAY, Part.SERIES),
        (730 * DAY, Part.ALL),
    ],
)
def test_the_widest_part_whose_time_has_come_is_due(after: timedelta, part: Part | None) -> None:
    assert Keep(90, 365, 730).due(ENDED, ENDED + after) == part


def test_what_has_not_ended_is_not_due() -> None:
    assert Keep(1, 1, 1).due(None, ENDED + 10_000 * DAY) is None
    assert Keep(1).due_at(Part.TRACES, None) is None


@pytest.mark.parametrize("keep", [Keep(2, 1), Keep(2, None, 1), Keep(None, 2, 1)])
def test_a_part_is_not_kept_longer_than_what_takes_it_along(keep: Keep) -> None:
    with pytest.raises(InvalidError, match="is kept for 2 days, but goes with") as caught:
        keep.check()
    assert caught.value.code == "retention_invalid"


@pytest.mark.parametrize("keep", [Keep(), Keep(1, 1, 1), Keep(1, None, 2), Keep(None, None, 1)])
def test_equal_times_and_gaps_are_fine(keep: Keep) -> None:
    keep.check()
