"""A study of 344 runs whose both ends hold 77,000 samples each: re-analysis by order, the report, the answers stored with it,
and its page in a browser.

The real stack does it: api, conductor, two worker processes, PostgreSQL. The traces are the recorded example's, made eleven times
as long; all runs have the same ones.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import httpx
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select, text

from bench.dashboard_bench import visits
from bench.database import copied_runs
from bench.disk_bench import parts
from bench.queries import Replay
from bench.rows import Row, show
from bench.timing import median_s, timed_s
from downlink.actions.campaigns.archive_read import load_archive
from downlink.codec.parquet import Columns, trace_columns
from downlink.domain.traces.sample import FieldKind, fields
from downlink.stack.launcher import running
from downlink.storage.campaigns import campaign_store
from downlink.storage.tables import Run
from downlink.storage.traces.trace_store import add_part, sealed_parts
from downlink.storage.unit import Unit, UnitFactory, open_units
from downlink.views.results.material import build
from tests.fixtures.api_process import API
from tests.fixtures.browser import DASHBOARD, add_account
from tests.fixtures.copied import copied
from tests.fixtures.recorded import ARCHIVE, recorded_columns, recorded_rows


@dataclass(frozen=True)
class Size:
    """times: as long as the recorded example's traces. requests: for each of the stored answers."""

    runs: int
    times: int
    rounds: int
    requests: int


FULL, TINY = Size(runs=344, times=11, rounds=5, requests=50), Size(runs=8, times=1, rounds=1, requests=2)
ENDS = ("sender", "receiver")
WORKERS = 2
BESIDE_QUERIES = {"comparison": "<= 3", "another baseline": "<= 7"}
"""Goals of answers that are computed; the others are stored. Another baseline is tested by permutations (decision 0232)."""
NEARBY = ("--latency-ms", "0", "--rate-mbps", "10000")
PREPARE = """
    DELETE FROM runs WHERE id <> :run;
    UPDATE runs SET stop = '{"seconds": 128}', cycle = 1, condition = 'HyStart on', position = 2;
    DELETE FROM chunks;
"""
COPIES = (
    "CREATE TEMP TABLE ids AS SELECT gen_random_uuid() AS id, n FROM generate_series(2, :runs) n",
    copied_runs(
        {
            "id": "ids.id",
            "cycle": "n / 2 + 1",
            "position": "1 + n % 2",
            "condition": "CASE WHEN n % 2 = 1 THEN 'HyStart on' ELSE 'HyStart off' END",
        },
        "ids",
    ),
    *(copied(table, f"{table}, ids") for table in ("run_flows", "traces")),
    """INSERT INTO chunks (run_id, flow, point, sequence, sha256, samples, parquet, joined_to, stored_at)
       SELECT ids.id, flow, point, sequence, sha256, samples, parquet, joined_to, stored_at FROM chunks, ids""",
)


def longer(columns: Columns, times: int) -> Columns:
    """The same course again and again: time and counters go on."""
    return {name: _longer(name, values, times) for name, values in columns.items()}


def _longer(name: str, values: NDArray[np.int64], times: int) -> NDArray[np.int64]:
    if fields()[name].kind is FieldKind.GAUGE:
        return np.tile(values, times)
    step = int(values[-1] - values[0]) + max(int(values[1] - values[0]), 1)
    whole = np.concatenate([values + number * step for number in range(times)])
    return whole // 3 if name == "elapsed_us" else whole  # 128 s


def fill(unit: Unit, size: Size) -> tuple[UUID, int]:
    """The study's campaign, and its samples."""
    campaign, _ = load_archive(unit, ARCHIVE.read_bytes())
    run = recorded_rows()["runs"][0]["id"]
    for statement in PREPARE.strip().split(";\n"):
        unit.session.execute(
            text(statement.replace('"seconds":', '"seconds"\\:')), {"run": run} if ":run" in statement else {}
        )
    samples = 0
    for end in ENDS:
        columns = longer(recorded_columns(run, end), size.times)
        if end == "receiver":
            columns = {name: np.repeat(each, 2) for name, each in columns.items()}
            columns["elapsed_us"] += np.arange(len(columns["elapsed_us"])) % 2
        samples += len(columns["elapsed_us"])
        for first, sizes, parquet in parts(columns):
            add_part(unit, (UUID(run), 1, end, first), sizes, parquet, datetime.now(UTC))
    for statement in COPIES:
        unit.session.execute(text(statement), {"runs": size.runs} if ":runs" in statement else {})
    return campaign, samples * size.runs


def reanalyse(api: httpx.Client, campaign: UUID, runs: int) -> None:
    """Re-analyse a campaign, from the order to the report."""
    path = f"/campaigns/{campaign}/reanalysis"
    state = api.post(path).raise_for_status().json()
    while state["state"] == "running":
        time.sleep(0.25)
        state = api.get(path).raise_for_status().json()
    assert (state["runs"], state["outdated"]) == (runs, 0), state


def decode(url: str, run_ids: Sequence[UUID]) -> None:
    """Read and decode every chunk of these runs, as a worker reads them."""
    units = open_units(url, 1)
    for run_id in run_ids:
        with units(is_read_only=True) as unit:
            for end in ENDS:
                trace_columns(list(sealed_parts(unit, run_id, 1, end)))
    units.close()


def decoding_s(url: str, campaign: UUID) -> float:
    """Return what as many processes as there are workers take to read and decode the same chunks."""
    units = open_units(url, 1)
    with units(is_read_only=True) as unit:
        run_ids = unit.session.scalars(select(Run.id).where(Run.campaign_id == campaign)).all()
    units.close()
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        shares = [run_ids[number::WORKERS] for number in range(WORKERS)]
        list(pool.map(decode, [url] * WORKERS, [share[:1] for share in shares]))  # its processes load what they need
        return timed_s(lambda: list(pool.map(decode, [url] * WORKERS, shares)))


def reanalysis(api: httpx.Client, url: str, campaign: UUID, samples: int, size: Size) -> Row:
    reanalyse(api, campaign, size.runs)  # the workers' first jobs import what they need
    taken_s = timed_s(lambda: reanalyse(api, campaign, size.runs))
    remark = (
        f"peer: the same chunks read and decoded; {samples / 1e6:.0f} M samples of {size.runs} runs, report included"
    )
    return Row("re-analysis", taken_s, "s", decoding_s(url, campaign), "<= 3", remark)


def get(api: httpx.Client, path: str) -> object:
    return api.get(path).raise_for_status()


def answers(api: httpx.Client, url: str, campaign: UUID, size: Size) -> Iterator[Row]:
    spec = api.get(f"/campaigns/{campaign}").raise_for_status().json()["spec"]
    replay = Replay(url)
    for name, path in asked(campaign, spec).items():
        value_s, alone_s = replay.beside(partial(get, api, path), f"{API}{path}", size.requests)
        remark = f"peer: its queries alone; {size.runs} runs, {size.requests} requests"
        yield Row(f"GET {name}, p95", 1e3 * value_s, "ms", 1e3 * alone_s, BESIDE_QUERIES.get(name, "<= 4"), remark)


def asked(campaign: UUID, spec: Mapping[str, Any]) -> dict[str, str]:
    """Name to path of what is stored with a report, and of what is made of it."""
    another = f"statistics?phase=steady&baseline={quote(spec['conditions'][-1]['name'])}"
    side = f"side={campaign}/1/{quote(spec['links'][0])}/"
    sides = "&".join(side + quote(each["name"]) for each in spec["conditions"])
    stored = {each: each for each in ("statistics", "exits", "limits", "values", "report")}
    own = {"another baseline": another, **stored}
    return {name: f"/campaigns/{campaign}/{path}" for name, path in own.items()} | {
        "comparison": f"/comparison?{sides}"
    }


def first_chart(address: str, campaign: UUID, size: Size) -> Row:
    seen = visits(address, campaign, size.rounds, *NEARBY)
    remark = f"{size.runs} runs, cold browser, median of {size.rounds} visits"
    taken_s, text_s = (statistics.median(visit[key] for visit in seen) for key in ("seconds", "text_s"))
    return Row("first chart on this machine", taken_s, "s", text_s, "<= 3", f"peer: its heading; {remark}")


def report_ms(units: UnitFactory, campaign: UUID, rounds: int) -> float:
    def report() -> None:
        with units(is_read_only=True) as unit:
            build(unit, campaign_store.find_campaign(unit, campaign))

    return 1e3 * median_s(report, rounds)


def report_by_runs(units: UnitFactory, campaign: UUID, size: Size) -> Row:
    """Measure a report's time per run, of all runs and of half of them."""
    whole_ms = report_ms(units, campaign, size.rounds) / size.runs
    with units() as unit:
        unit.session.execute(text("DELETE FROM runs WHERE cycle > :cycles"), {"cycles": size.runs // 4})
    half_ms = report_ms(units, campaign, size.rounds) / (size.runs // 2)
    remark = f"database included; of {size.runs} runs, against {size.runs // 2} of them: the time is to be proportional to the runs"
    return Row("report, for each run", whole_ms, "ms", half_ms, "<= 1.2", remark)


def rows(size: Size) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="downlink-bench-") as folder, running(Path(folder), DASHBOARD) as stack:
        units = open_units(stack.env["DOWNLINK_DATABASE_URL"], 2)
        with units() as unit:
            campaign, samples = fill(unit, size)
            add_account(unit)
        with units() as unit:
            unit.session.execute(text("ANALYZE"))
        headers = {"Authorization": f"Bearer {stack.token}"}
        api = httpx.Client(base_url=f"{stack.address}{API}", headers=headers, trust_env=False, timeout=60)
        url = stack.env["DOWNLINK_DATABASE_URL"]
        yield reanalysis(api, url, campaign, samples, size)
        yield from answers(api, url, campaign, size)
        yield first_chart(stack.address, campaign, size)
        yield report_by_runs(units, campaign, size)
        units.close()


if __name__ == "__main__":
    show(rows, FULL, TINY)
