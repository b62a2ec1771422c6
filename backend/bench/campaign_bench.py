"""A campaign of very many runs at a real api: to launch it, to look at it, to take its table away, to cancel it, to delete it.

Beside launch, table and cancel stands what PostgreSQL alone takes for the same rows: to insert copies of them, to read them,
and to change them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from sqlalchemy import Engine, text

from bench.database import Opened, database
from bench.polls_bench import add_agents, tick
from bench.queries import Replay, in_queries
from bench.rows import Row, show
from bench.timing import timed_s
from downlink.actions.campaigns.cancellation import finish_cancelled
from downlink.actions.campaigns.retention import remove_some
from downlink.api.http.deps import read_clock
from downlink.storage.runs.plan_store import left_of_cancelled
from downlink.storage.tables import Run, RunFlow, RunHost
from downlink.storage.unit import UnitFactory
from tests.fixtures.api_process import API, ApiProcess, running_api


@dataclass(frozen=True)
class Size:
    """Runs of the campaign that is looked at from all sides, and of the one that is cancelled."""

    many: int
    some: int


FULL, TINY = Size(many=20_000, some=1_000), Size(many=60, some=4)
MANY, SOME = (f"campaign of {runs:,} runs" for runs in (FULL.many, FULL.some))
LOOK, LOOKS = "<= 5", 5
PATIENCE_S = 900
LINK = {
    "name": "l", "orbit": "GEO", "nominal_rate_bps": 10**8, "base_rtt_ms": 600, "receiver": "a0", "senders": ["a1"],
}  # fmt: skip
CONDITIONS = [{"name": "on", "sender": {"tcp_cubic.hystart": 1}}, {"name": "off", "sender": {"tcp_cubic.hystart": 0}}]
TABLES = (Run, RunFlow, RunHost)
CHANGES = (
    "UPDATE runs SET state = 'cancelled', ended_at = now(), released_at = now() WHERE campaign_id = :id",
    "UPDATE run_flows SET ticket = NULL WHERE run_id IN (SELECT id FROM runs WHERE campaign_id = :id)",
    """INSERT INTO events (at, kind, campaign_id, run_id, data)
       SELECT now(), 'run', campaign_id, id, jsonb_build_object('run_id', id) FROM runs WHERE campaign_id = :id""",
)


def rows(size: Size, opened: Opened = database) -> Iterator[Row]:
    with opened() as (home, url, units):
        add_agents(units, 2)
        tick(units)
        with running_api(home, units) as api:
            api.client.timeout = PATIENCE_S
            api.client.post(f"{API}/links", json=LINK).raise_for_status()
            yield from cancelled(api, units, size.some)
            yield from of_many(api, units, Replay(url), size.many)


def cancelled(api: ApiProcess, units: UnitFactory, runs: int) -> Iterator[Row]:
    some = launched(api, runs)
    plain_s = changed_s(units.engine, some)
    cancel_s = timed_s(lambda: post(api, f"/campaigns/{some}/cancel"))
    yield from beside(SOME, "cancel", cancel_s, plain_s, "<= 4", "peer: the same rows changed by three statements")


def of_many(api: ApiProcess, units: UnitFactory, replay: Replay, runs: int) -> Iterator[Row]:
    file = campaign_file(runs)
    preview_s = timed_s(lambda: post(api, "/campaigns/preview", campaign=file))
    many = made(api, runs)
    launch_s = timed_s(lambda: launch(api, many))
    yield Row(f"{MANY}: preview", preview_s, "s", launch_s, "<= 0.5", "peer: its launch")
    remark = "peer: copies of the rows inserted by one statement a table"
    yield from beside(MANY, "launch", launch_s, inserted_s(units.engine, many, runs), "<= 4", remark)
    yield from looked_at(api, replay, many, runs)
    table_s = timed_s(partial(get, api, many, "/runs.csv"))
    yield from beside(MANY, "runs.csv", table_s, read_s(units.engine, many), "<= 10", "peer: SELECT of the rows")
    yield from taken_away(api, units, many)


def looked_at(api: ApiProcess, replay: Replay, campaign: str, runs: int) -> Iterator[Row]:
    """Measure the requests of a campaign's page."""
    pages = {
        "page": "", "what it does now": "/now", "first 50 runs": "/runs?limit=50", "last 50 runs": f"/runs?limit=50&offset={runs - 50}",
        "day strip": "/day", "circumstances": "/circumstances",
    }  # fmt: skip
    for name, path in pages.items():
        value_s, alone_s = replay.beside(partial(get, api, campaign, path), f"{API}/campaigns/{campaign}{path}", LOOKS)
        yield Row(f"{MANY}: {name}", value_s, "s", alone_s, LOOK, "peer: its queries alone")


def taken_away(api: ApiProcess, units: UnitFactory, campaign: str) -> Iterator[Row]:
    """Cancel the campaign and delete it: each order ends or removes one part, and the tick or a worker the others."""
    cancel_s = timed_s(lambda: post(api, f"/campaigns/{campaign}/cancel"))
    with units() as unit, in_queries(units.engine) as spent:
        further_s = timed_s(lambda: finish_cancelled(unit, read_clock()))
    yield Row(f"{MANY}: cancel", cancel_s, "s", further_s, "<= 3", "peer: each further thousand")
    alone = "peer: its queries alone"
    yield Row(f"{MANY}: cancel, each further thousand", further_s, "s", spent.seconds, "<= 3", alone)
    with units() as unit:
        while left_of_cancelled(unit):
            finish_cancelled(unit, read_clock())
    delete_s = timed_s(lambda: delete(api, campaign))
    with in_queries(units.engine) as spent:
        part_s = timed_s(lambda: delete_part(units, campaign))
    yield Row(f"{MANY}: delete", delete_s, "s", part_s, "<= 2", "peer: each part")
    yield Row(f"{MANY}: delete, each part", part_s, "s", spent.seconds, "<= 2", alone)


def campaign_file(runs: int) -> dict[str, object]:
    return {
        "name": f"{runs} runs", "links": ["l"], "stop": {"seconds": 5}, "timetable": {"cycles": runs // len(CONDITIONS)},
        "conditions": CONDITIONS,
    }  # fmt: skip


def made(api: ApiProcess, runs: int) -> str:
    """A campaign of so many runs on one link: its id."""
    return str(post(api, "/campaigns", campaign=campaign_file(runs))["id"])


def launched(api: ApiProcess, runs: int) -> str:
    campaign = made(api, runs)
    launch(api, campaign)
    return campaign


def launch(api: ApiProcess, campaign: str) -> None:
    post(api, f"/campaigns/{campaign}/launch", even_if_offline=True)


def delete(api: ApiProcess, campaign: str) -> None:
    api.client.delete(f"{API}/campaigns/{campaign}").raise_for_status()


def delete_part(units: UnitFactory, campaign: str) -> None:
    """Do the work of one worker's job."""
    with units() as unit:
        remove_some(unit, UUID(campaign), read_clock())


def get(api: ApiProcess, campaign: str, path: str) -> bytes:
    return api.client.get(f"{API}/campaigns/{campaign}{path}").raise_for_status().content


def post(api: ApiProcess, path: str, **body: object) -> Mapping[str, object]:
    answer = api.client.post(f"{API}{path}", json=body or None)
    assert answer.is_success, answer.text
    parsed: Mapping[str, object] = answer.json()
    return parsed


def changed_s(engine: Engine, campaign: str) -> float:
    """Nothing of it stays."""
    with engine.connect() as connection:
        return timed_s(lambda: [connection.execute(text(each), {"id": campaign}) for each in CHANGES])


def inserted_s(engine: Engine, campaign: str, runs: int) -> float:
    """Nothing of it stays. Copies of the runs, with their flows and hosts, in cycles that come after theirs."""
    with engine.connect() as connection:
        connection.execute(
            text("CREATE TEMP TABLE copies ON COMMIT DROP AS SELECT id, gen_random_uuid() AS copy FROM runs")
        )
        return timed_s(lambda: [connection.execute(text(copied(table, runs)), {"id": campaign}) for table in TABLES])


def copied(table: type[Run | RunFlow | RunHost], cycles: int) -> str:
    """SQL that copies a table's rows of one campaign so many cycles further on."""
    names = [column.name for column in table.__table__.columns if not column.computed]
    key = "id" if table is Run else "run_id"
    values = {key: "copies.copy", **({"cycle": f"own.cycle + {cycles}"} if table is Run else {})}
    shown = ", ".join(values.get(name, f"own.{name}") for name in names)
    return f"""
        INSERT INTO {table.__tablename__} ({", ".join(names)}) SELECT {shown} FROM {table.__tablename__} AS own
        JOIN copies ON copies.id = own.{key} JOIN runs ON runs.id = copies.id WHERE runs.campaign_id = :id
    """  # noqa: S608 - names of tables


def read_s(engine: Engine, campaign: str) -> float:
    order = "due_at, cycle, position, link, attempt"
    query = text(f"SELECT * FROM runs WHERE campaign_id = :id ORDER BY {order}")  # noqa: S608 - columns
    with engine.connect() as connection:
        return timed_s(lambda: connection.execute(query, {"id": campaign}).all())


def beside(campaign: str, what: str, taken_s: float, plain_s: float, goal: str, remark: str) -> Iterator[Row]:
    """Yield one row for the time, and one for the time beside the database's."""
    name = f"{campaign}: {what}"
    yield Row(name, taken_s, "s")
    yield Row(f"{name}, beside the database", taken_s, "s", plain_s, goal, remark)


if __name__ == "__main__":
    show(rows, FULL, TINY)
