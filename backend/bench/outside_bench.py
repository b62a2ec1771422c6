"""A campaign of 5,000 runs of one condition, of which 1,000 are found outside of what it expects at once: until a channel has its
notifications. Either every run lies outside, or every other one does.

Real PostgreSQL; the campaign is the recorded example's, with copies of one of its runs.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import text

from bench.database import database
from downlink.actions import channels, notices
from downlink.actions.archive import load_archive
from downlink.domain.access import COMMAND_LINE
from downlink.domain.expectation import Check
from downlink.domain.notification import Topic
from downlink.storage.unit import Unit, UnitFactory
from tests.fixtures.recorded import ARCHIVE

RUNS, FOUND, LIMIT_S = 5_000, 1_000, 1
NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
COPIES = """
    INSERT INTO runs SELECT (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'cycle', 100 + at.n,
        'due_at', moment, 'start_at', moment, 'state_at', moment, 'released_at', moment, 'ended_at', moment))).*
    FROM (SELECT runs AS one FROM runs LIMIT 1) AS first, generate_series(1, :runs) at(n),
        LATERAL (SELECT CAST(:first AS timestamptz) + at.n * interval '1 minute' AS moment) AS given
"""
JUDGED = """
    UPDATE runs SET checks = CAST(CASE WHEN :each = 1 OR cycle % :each = 0 THEN :outside ELSE :inside END AS jsonb) WHERE cycle > 100
"""
FOUND_OUTSIDE = """
    INSERT INTO events (at, kind, campaign_id, run_id, data)
    SELECT ended_at, 'unexpected', campaign_id, id, '{"expectation": 1}' FROM runs
    WHERE cycle > 100 AND cycle % :each = 0 ORDER BY cycle DESC LIMIT :found
"""


def fill(unit: Unit) -> None:
    load_archive(unit, ARCHIVE.read_bytes())
    unit.session.execute(text(COPIES), {"runs": RUNS, "first": NOW - timedelta(minutes=RUNS)})
    unit.session.execute(text("UPDATE campaigns SET origin = 'measured'"))


def checks(value: float) -> str:
    """Of two flows, and of a second expectation."""
    found = [Check(each, "overall.rtt_ms", flow, value, None, 700.0) for each in (1, 2) for flow in (1, 2)]
    return json.dumps([each.to_dict() for each in found])


def find_outside(units: UnitFactory, each: int) -> UUID:
    """Every run, or every second one, lies outside, and so many are found at once; the channel that is to hear of it."""
    with units() as unit:
        unit.session.execute(text("DELETE FROM channels"))
        wanted = channels.Wanted("ops", "webhook", "https://ops.example/", (Topic.UNEXPECTED,), False, 3, 15)
        channel = channels.make_channel(
            unit, wanted, NOW, actor=COMMAND_LINE, owner_id=None, has_mail=False, allowed=()
        ).id
    with units() as unit:
        unit.session.execute(text(JUDGED), {"each": each, "outside": checks(900.0), "inside": checks(600.0)})
        unit.session.execute(text(FOUND_OUTSIDE), {"each": each, "found": FOUND})
    return channel


def collect_s(units: UnitFactory) -> float:
    """As the conductor does, until it has seen all of the log."""
    began = time.perf_counter()
    for _ in range(-(-FOUND // notices.MOST_AT_ONCE) + 1):
        with units() as unit:
            notices.collect(unit, NOW)
    return time.perf_counter() - began


def main() -> None:
    with database() as (_, _, units):
        with units() as unit:
            fill(unit)
        for each, which, expected in ((1, "every run", 1), (2, "every second run", FOUND)):
            channel = find_outside(units, each)
            value = collect_s(units)
            with units(is_read_only=True) as unit:
                told = unit.session.scalar(
                    text("SELECT count(*) FROM notifications WHERE channel_id = :id"), {"id": channel}
                )
            assert told == expected, told
            row = {"name": f"Notify of runs outside, {which}", "value": round(value, 3), "unit": "s"}
            remark = f"{FOUND:,} found at once of {RUNS:,} runs of a condition, {told:,} notifications"
            print(json.dumps({**row, "goal": f"<= {LIMIT_S}", "remark": remark}), flush=True)


if __name__ == "__main__":
    main()
