"""The calendar of four weeks on a server with many runs: 24 campaigns over four links, 24,000 runs, every 100 seconds one.

A real api and PostgreSQL; the campaigns are the recorded example's, with its runs' rows and none of their traces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

from sqlalchemy import text

from bench.database import Opened, copied_runs, database, vacuum
from bench.queries import Replay
from bench.rows import Row, show
from downlink.actions.campaigns.archive_read import load_archive
from downlink.storage.unit import Unit
from tests.fixtures.api_process import API, ApiProcess, running_api
from tests.fixtures.recorded import ARCHIVE


@dataclass(frozen=True)
class Size:
    campaigns: int
    links: int
    runs: int
    requests: int


FULL = Size(campaigns=24, links=4, runs=24_000, requests=40)
TINY = Size(campaigns=2, links=2, runs=56, requests=2)
DAYS = 28
FIRST = datetime(2026, 11, 2, tzinfo=UTC)
COPIES = (
    "CREATE TEMP TABLE copies AS SELECT gen_random_uuid() AS id, n FROM generate_series(1, :campaigns) n",
    """INSERT INTO campaigns SELECT (jsonb_populate_record(campaigns, jsonb_build_object('id', copies.id, 'name', 'Campaign ' || n))).*
       FROM campaigns, copies""",
    """CREATE TEMP TABLE places AS SELECT gen_random_uuid() AS id, copies.id AS campaign_id, 'link-' || at.n % :links AS link, at.n,
       CAST(:first AS timestamptz) + at.n * CAST(:step AS interval) AS moment
       FROM generate_series(1, :runs) at(n) JOIN copies ON copies.n = 1 + (at.n * :campaigns / (:runs + 1))""",
    copied_runs(
        {
            **{name: f"places.{name}" for name in ("id", "campaign_id", "link")},
            **{"cycle": "places.n", "position": "1", "ended_at": "moment + interval '2 minutes'"},
            **dict.fromkeys(("due_at", "start_at", "state_at"), "moment"),
        },
        "places",
    ),
    """INSERT INTO run_flows (run_id, flow, sender, receiver, asked_cc, cc_options, start_s, sender_outcome, receiver_outcome)
       SELECT places.id, flow, sender, receiver, asked_cc, cc_options, start_s, sender_outcome, receiver_outcome
       FROM (SELECT * FROM run_flows LIMIT 1) AS first, places""",
    "DELETE FROM campaigns WHERE id = :recorded",
)


def fill(unit: Unit, size: Size) -> None:
    recorded, _ = load_archive(unit, ARCHIVE.read_bytes())
    names: dict[str, object] = {"campaigns": size.campaigns, "links": size.links, "runs": size.runs}
    names |= {"first": FIRST, "step": timedelta(days=DAYS) / (size.runs + 1), "recorded": UUID(str(recorded))}
    for statement in COPIES:
        wanted = {name: value for name, value in names.items() if f":{name}" in statement}
        unit.session.execute(text(statement), wanted)


def get(api: ApiProcess, path: str) -> object:
    return api.client.get(path).raise_for_status()


def runs_in(api: ApiProcess, path: str) -> int:
    calendar = api.client.get(path).raise_for_status().json()
    return sum(lane["runs"] for link in calendar["links"] for lane in link["lanes"])


def rows(size: Size, opened: Opened = database) -> Iterator[Row]:
    with opened() as (home, url, units):
        with units() as unit:
            fill(unit, size)
        vacuum(units)
        replay = Replay(url)
        with running_api(home, units) as api:
            for days in (7, DAYS):
                path = f"{API}/calendar?from={FIRST.date()}&days={days}"
                runs = runs_in(api, path)
                assert abs(runs - size.runs * days / DAYS) < size.campaigns, runs
                value_s, alone_s = replay.beside(partial(get, api, path), path, size.requests)
                remark = f"peer: its queries alone; {runs:,} runs of {size.campaigns} campaigns on {size.links} links"
                yield Row(f"GET calendar of {days} days, p95", 1e3 * value_s, "ms", 1e3 * alone_s, "<= 3", remark)


if __name__ == "__main__":
    show(rows, FULL, TINY)
