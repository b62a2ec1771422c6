"""The calendar of four weeks on a server with many runs: 24 campaigns over four links, 24,000 runs, every 100 seconds one.

A real api and PostgreSQL; the campaigns are the recorded example's, with its runs' rows and none of their traces.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

from sqlalchemy import create_engine, text

from bench.database import database
from downlink.actions.archive import load_archive
from downlink.storage.unit import Unit
from tests.fixtures.api_process import API, ApiProcess, running_api
from tests.fixtures.recorded import ARCHIVE

CAMPAIGNS, LINKS, RUNS, DAYS = 24, 4, 24_000, 28
REQUESTS, LIMIT_MS = 40, 50
FIRST = datetime(2026, 11, 2, tzinfo=UTC)
COPIES = (
    "CREATE TEMP TABLE copies AS SELECT gen_random_uuid() AS id, n FROM generate_series(1, :campaigns) n",
    """INSERT INTO campaigns SELECT (jsonb_populate_record(campaigns, jsonb_build_object('id', copies.id, 'name', 'Campaign ' || n))).*
       FROM campaigns, copies""",
    """CREATE TEMP TABLE places AS SELECT gen_random_uuid() AS id, copies.id AS campaign_id, 'link-' || at.n % :links AS link, at.n,
       CAST(:first AS timestamptz) + at.n * CAST(:step AS interval) AS moment
       FROM generate_series(1, :runs) at(n) JOIN copies ON copies.n = 1 + (at.n * :campaigns / (:runs + 1))""",
    """INSERT INTO runs SELECT (jsonb_populate_record(one, jsonb_build_object('id', places.id, 'campaign_id', places.campaign_id,
       'link', places.link, 'cycle', places.n, 'position', 1, 'due_at', moment, 'start_at', moment, 'state_at', moment,
       'ended_at', moment + interval '2 minutes'))).* FROM (SELECT runs AS one FROM runs LIMIT 1) AS first, places""",
    """INSERT INTO run_flows (run_id, flow, sender, receiver, asked_cc, cc_options, start_s, sender_outcome, receiver_outcome)
       SELECT places.id, flow, sender, receiver, asked_cc, cc_options, start_s, sender_outcome, receiver_outcome
       FROM (SELECT * FROM run_flows LIMIT 1) AS first, places""",
    "DELETE FROM campaigns WHERE id = :recorded",
)


def fill(unit: Unit) -> None:
    recorded, _ = load_archive(unit, ARCHIVE.read_bytes())
    names: dict[str, object] = {"campaigns": CAMPAIGNS, "links": LINKS, "runs": RUNS, "recorded": UUID(str(recorded))}
    names |= {"first": FIRST, "step": timedelta(days=DAYS) / (RUNS + 1)}
    for statement in COPIES:
        wanted = {name: value for name, value in names.items() if f":{name}" in statement}
        unit.session.execute(text(statement), wanted)


def get(api: ApiProcess, path: str) -> object:
    return api.client.get(path).raise_for_status()


def p95_ms(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(REQUESTS):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return 1e3 * sorted(taken)[REQUESTS * 95 // 100]


def main() -> None:
    with database() as (home, url, units):
        with units() as unit:
            fill(unit)
        with create_engine(url, isolation_level="AUTOCOMMIT").connect() as connection:
            connection.execute(text("VACUUM ANALYZE"))  # as the database does by itself within a minute
        with running_api(home, units) as api:
            for days in (7, DAYS):
                path = f"{API}/calendar?from={FIRST.date()}&days={days}"
                found = api.client.get(path).raise_for_status().json()
                runs = sum(lane["runs"] for link in found["links"] for lane in link["lanes"])
                assert abs(runs - RUNS * days / DAYS) < CAMPAIGNS, runs
                value = p95_ms(partial(get, api, path))
                remark = f"{runs:,} runs of {CAMPAIGNS} campaigns on {LINKS} links, {REQUESTS} requests"
                row = {"name": f"GET calendar of {days} days, p95", "value": round(value, 2), "unit": "ms"}
                print(json.dumps({**row, "goal": f"<= {LIMIT_MS}", "remark": remark}), flush=True)


if __name__ == "__main__":
    main()
