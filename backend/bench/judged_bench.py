"""A study of 344 runs whose both ends hold 77,000 samples each: re-analysis by order, the report, the answers stored with it,
and its page in a browser.

The real stack does it: api, conductor, two worker processes, PostgreSQL. The traces are the recorded example's, made eleven times
as long; all runs have the same ones.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import quote
from uuid import UUID

import httpx
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text

from bench.disk_bench import pieces
from downlink.actions.archive import load_archive
from downlink.actions.seal import PART_CHUNKS
from downlink.codec.chunk import MAX_SAMPLES
from downlink.codec.parquet import Columns, columns_to_parquet
from downlink.domain.sample import FieldKind, fields
from downlink.stack.launcher import running
from downlink.storage import campaigns
from downlink.storage.traces import add_part
from downlink.storage.unit import Unit, open_units
from downlink.views.material import build
from tests.fixtures.browser import ACCOUNT, DASHBOARD, add_account, run_script
from tests.fixtures.copied import copied
from tests.fixtures.recorded import ARCHIVE, recorded_columns, recorded_rows

RUNS, TIMES, ROUNDS = 344, 11, 5
ENDS = ("sender", "receiver")
LIMIT_S, LIMIT_MS, LIMIT_PAGE_S = 6, 20, 1
PREPARE = """
    DELETE FROM runs WHERE id <> :run;
    UPDATE runs SET stop = '{"seconds": 128}', cycle = 1, condition = 'HyStart on', position = 2;
    DELETE FROM chunks;
"""
COPIES = (
    "CREATE TEMP TABLE ids AS SELECT gen_random_uuid() AS id, n FROM generate_series(2, :runs) n",
    """INSERT INTO runs SELECT (jsonb_populate_record(runs, jsonb_build_object('id', ids.id, 'cycle', n / 2 + 1, 'position', 1 + n % 2,
       'condition', CASE WHEN n % 2 = 1 THEN 'HyStart on' ELSE 'HyStart off' END))).* FROM runs, ids""",
    *(copied(table, f"{table}, ids") for table in ("run_flows", "traces")),
    """INSERT INTO chunks (run_id, flow, point, sequence, sha256, samples, parquet, joined_to, stored_at)
       SELECT ids.id, flow, point, sequence, sha256, samples, parquet, joined_to, stored_at FROM chunks, ids""",
)


def longer(columns: Columns) -> Columns:
    """The same course again and again: time and counters go on."""
    return {name: _longer(name, values) for name, values in columns.items()}


def _longer(name: str, values: NDArray[np.int64]) -> NDArray[np.int64]:
    if fields()[name].kind is FieldKind.GAUGE:
        return np.tile(values, TIMES)
    step = int(values[-1] - values[0]) + max(int(values[1] - values[0]), 1)
    whole = np.concatenate([values + number * step for number in range(TIMES)])
    return whole // 3 if name == "elapsed_us" else whole  # 128 s


def fill(unit: Unit) -> tuple[UUID, int]:
    """The study's campaign, and its samples."""
    campaign, _ = load_archive(unit, ARCHIVE.read_bytes())
    run = recorded_rows()["runs"][0]["id"]
    for statement in PREPARE.strip().split(";\n"):
        unit.session.execute(
            text(statement.replace('"seconds":', '"seconds"\\:')), {"run": run} if ":run" in statement else {}
        )
    samples = 0
    for end in ENDS:
        columns = longer(recorded_columns(run, end))
        if end == "receiver":
            columns = {name: np.repeat(each, 2) for name, each in columns.items()}
            columns["elapsed_us"] += np.arange(len(columns["elapsed_us"])) % 2
        samples += len(columns["elapsed_us"])
        for number, part in enumerate(pieces(columns, PART_CHUNKS * MAX_SAMPLES)):
            sizes = [len(each["elapsed_us"]) for each in pieces(part, MAX_SAMPLES)]
            place = (UUID(run), 1, end, number * PART_CHUNKS)
            add_part(unit, place, sizes, columns_to_parquet(part), datetime.now(UTC))
    for statement in COPIES:
        unit.session.execute(text(statement), {"runs": RUNS} if ":runs" in statement else {})
    return campaign, samples * RUNS


def reanalysis_s(api: httpx.Client, campaign: UUID) -> float:
    """From the order to the report."""
    path = f"/campaigns/{campaign}/reanalysis"
    began = time.perf_counter()
    found = api.post(path).raise_for_status().json()
    while found["state"] == "running":
        time.sleep(0.25)
        found = api.get(path).raise_for_status().json()
    assert (found["runs"], found["outdated"]) == (RUNS, 0), found
    return time.perf_counter() - began


def get(api: httpx.Client, path: str) -> object:
    return api.get(path).raise_for_status()


def median_s(work: Callable[[], object]) -> float:
    return statistics.median(timed(work, ROUNDS))


def timed(work: Callable[[], object], rounds: int) -> list[float]:
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return times


def first_chart_s(address: str, campaign: UUID) -> float:
    """From the call of the campaign's page to its first chart, by a browser without a cache on this machine."""
    place = ("--base-url", address, *ACCOUNT, "--path", f"/campaigns/{campaign}")
    nearby = ("--latency-ms", "0", "--rate-mbps", "10000", "--times", str(ROUNDS))
    visits = run_script("first-plot.mjs", *place, *nearby, timeout_s=300).splitlines()
    return statistics.median(float(json.loads(visit)["seconds"]) for visit in visits)


def tell(name: str, value: float, unit: str, **others: object) -> None:
    print(json.dumps({"name": name, "value": round(value, 4), "unit": unit, **others}), flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="downlink-bench-") as folder, running(Path(folder), DASHBOARD) as stack:
        units = open_units(stack.env["DOWNLINK_DATABASE_URL"], 2)
        with units() as unit:
            campaign, samples = fill(unit)
            add_account(unit)
        with units() as unit:
            unit.session.execute(text("ANALYZE"))
        headers = {"Authorization": f"Bearer {stack.token}"}
        api = httpx.Client(base_url=f"{stack.address}/api/v1", headers=headers, trust_env=False, timeout=60)
        remark = f"{samples / 1e6:.0f} M samples, {RUNS} runs x 2 ends, two workers, report included"
        reanalysis_s(api, campaign)  # the workers' first jobs import what they need
        tell("re-analysis", reanalysis_s(api, campaign), "s", goal=f"<= {LIMIT_S}", remark=remark)

        def report() -> None:
            with units(is_read_only=True) as unit:
                build(unit, campaigns.find_campaign(unit, campaign))

        spec = api.get(f"/campaigns/{campaign}").raise_for_status().json()["spec"]
        another = f"statistics?phase=steady&baseline={quote(spec['conditions'][-1]['name'])}"
        place = f"side={campaign}/1/{quote(spec['links'][0])}/"
        sides = "&".join(place + quote(each["name"]) for each in spec["conditions"])
        own = {
            "another baseline": another,
            **{each: each for each in ("statistics", "exits", "limits", "values", "report")},
        }
        asked = {name: f"/campaigns/{campaign}/{path}" for name, path in own.items()}
        for name, path in {**asked, "comparison": f"/comparison?{sides}"}.items():
            times = timed(partial(get, api, path), 50)
            p95_ms = 1e3 * sorted(times)[47]
            tell(f"GET {name}, p95", p95_ms, "ms", goal=f"<= {LIMIT_MS}", remark=f"{RUNS} runs, 50 requests")
        tell(
            "first chart on this machine",
            first_chart_s(stack.address, campaign),
            "s",
            goal=f"<= {LIMIT_PAGE_S}",
            remark=f"{RUNS} runs, cold browser, median of {ROUNDS} visits",
        )
        whole_ms = 1e3 * median_s(report) / RUNS
        with units() as unit:
            unit.session.execute(text("DELETE FROM runs WHERE cycle > :cycles"), {"cycles": RUNS // 4})
        half_ms = 1e3 * median_s(report) / (RUNS // 2)
        remark = f"database included; of {RUNS} runs, against {RUNS // 2} of them: the time is to be proportional to the runs"
        tell("report, for each run", whole_ms, "ms", peer=half_ms, goal="<= 1.2", remark=remark)
        units.close()


if __name__ == "__main__":
    main()
