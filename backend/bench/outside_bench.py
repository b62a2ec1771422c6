"""A campaign of 5,000 runs of one condition, of which 1,000 are found outside of what it expects at once: until a channel has its
notifications. Either every run lies outside, or every other one does.

Real PostgreSQL; the campaign is the recorded example's, with copies of one of its runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import text

from bench.database import Opened, copied_runs, database
from bench.queries import in_queries
from bench.rows import Row, show
from bench.timing import timed_s
from downlink.actions.campaigns.archive_read import load_archive
from downlink.actions.notices import channels, notices
from downlink.domain.campaigns.expectation import Check
from downlink.domain.notices.notification import Topic
from downlink.domain.people.access import COMMAND_LINE
from downlink.storage.unit import Unit, UnitFactory
from tests.fixtures.recorded import ARCHIVE


@dataclass(frozen=True)
class Size:
    """found: so many of the runs at once."""

    runs: int
    found: int


FULL, TINY = Size(runs=5_000, found=1_000), Size(runs=20, found=5)
NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
COPIES = copied_runs(
    {
        "id": "gen_random_uuid()",
        "cycle": "100 + at.n",
        **dict.fromkeys(("due_at", "start_at", "state_at", "released_at", "ended_at"), "moment"),
    },
    """generate_series(1, :runs) at(n),
       LATERAL (SELECT CAST(:first AS timestamptz) + at.n * interval '1 minute' AS moment) AS given""",
)
JUDGED = """
    UPDATE runs SET checks = CAST(CASE WHEN :each = 1 OR cycle % :each = 0 THEN :outside ELSE :inside END AS jsonb) WHERE cycle > 100
"""
FOUND_OUTSIDE = """
    INSERT INTO events (at, kind, campaign_id, run_id, data)
    SELECT ended_at, 'unexpected', campaign_id, id, '{"expectation": 1}' FROM runs
    WHERE cycle > 100 AND cycle % :each = 0 ORDER BY cycle DESC LIMIT :found
"""


def fill(unit: Unit, size: Size) -> None:
    load_archive(unit, ARCHIVE.read_bytes())
    unit.session.execute(text(COPIES), {"runs": size.runs, "first": NOW - timedelta(minutes=size.runs)})
    unit.session.execute(text("UPDATE campaigns SET origin = 'measured'"))


def checks(value: float) -> str:
    """Return the checks of two flows against two expectations."""
    made = [Check(each, "overall.rtt_ms", flow, value, None, 700.0) for each in (1, 2) for flow in (1, 2)]
    return json.dumps([each.to_dict() for each in made])


def find_outside(units: UnitFactory, each: int, count: int) -> UUID:
    """Let every run, or every second one, lie outside, and so many be found at once; the channel that is to hear of it."""
    with units() as unit:
        unit.session.execute(text("DELETE FROM channels"))
        wanted = channels.Wanted("ops", "webhook", "https://ops.example/", (Topic.UNEXPECTED,), False, 3, 15)
        channel = channels.make_channel(
            unit, wanted, NOW, actor=COMMAND_LINE, owner_id=None, has_mail=False, allowed=()
        ).id
    with units() as unit:
        unit.session.execute(text(JUDGED), {"each": each, "outside": checks(900.0), "inside": checks(600.0)})
        unit.session.execute(text(FOUND_OUTSIDE), {"each": each, "found": count})
    return channel


def collect(units: UnitFactory, count: int) -> None:
    """Collect notifications as the conductor does, until it has seen all of the log."""
    for _ in range(-(-count // notices.MOST_AT_ONCE) + 1):
        with units() as unit:
            notices.collect(unit, NOW)


def notifications(units: UnitFactory, channel: UUID) -> int:
    asked = text("SELECT count(*) FROM notifications WHERE channel_id = :id")
    with units(is_read_only=True) as unit:
        return int(unit.session.execute(asked, {"id": channel}).scalar_one())


def rows(size: Size, opened: Opened = database) -> Iterator[Row]:
    with opened() as (_, _, units):
        with units() as unit:
            fill(unit, size)
        for each, which, expected in ((1, "every run", 1), (2, "every second run", size.found)):
            channel = find_outside(units, each, size.found)
            with in_queries(units.engine) as spent:
                value_s = timed_s(lambda: collect(units, size.found))
            told = notifications(units, channel)
            assert told == expected, told
            remark = f"peer: its queries alone; {size.found:,} found at once of {size.runs:,} runs of a condition, {told:,} notifications"
            yield Row(f"Notify of runs outside, {which}", value_s, "s", spent.seconds, "<= 12", remark)


if __name__ == "__main__":
    show(rows, FULL, TINY)
