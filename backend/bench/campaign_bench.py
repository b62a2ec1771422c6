"""A campaign of very many runs at a real api: to launch it, to look at it, to take its table away, to cancel it, to delete it.

Beside launch, table and cancel stands what PostgreSQL alone takes for the same rows: to insert copies of them, to read them,
and to change them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping

from sqlalchemy import Engine, text

from bench.database import database
from bench.polls_bench import add_agents, tick
from downlink.storage.tables import Run, RunFlow, RunHost
from downlink.storage.unit import UnitFactory
from tests.fixtures.api_process import API, ApiProcess, running_api

MANY, SOME = 20_000, 1_000
LAUNCH_S, TABLE_S, CANCEL_S, LOOK_S = 15, 10, 1, 2
PATIENCE_S = 900
CONDITIONS = [{"name": "on", "sender": {"tcp_cubic.hystart": 1}}, {"name": "off", "sender": {"tcp_cubic.hystart": 0}}]
TABLES = (Run, RunFlow, RunHost)
CHANGES = (
    "UPDATE runs SET state = 'cancelled', ended_at = now(), released_at = now() WHERE campaign_id = :id",
    "UPDATE run_flows SET ticket = NULL WHERE run_id IN (SELECT id FROM runs WHERE campaign_id = :id)",
    """INSERT INTO events (at, kind, campaign_id, run_id, data)
       SELECT now(), 'run', campaign_id, id, jsonb_build_object('run_id', id) FROM runs WHERE campaign_id = :id""",
)


def main() -> None:
    with database() as (home, _, units):
        add_agents(units, 2)
        tick(units)
        with running_api(home, units) as api:
            api.client.timeout = PATIENCE_S
            link = {
                "name": "l",
                "orbit": "GEO",
                "nominal_rate_bps": 10**8,
                "base_rtt_ms": 600,
                "receiver": "a0",
                "senders": ["a1"],
            }
            api.client.post(f"{API}/links", json=link).raise_for_status()
            some = launch(api, SOME)[0]
            plain_s = changed_s(units.engine, some)
            cancel_s = timed_s(lambda: post(api, f"/campaigns/{some}/cancel"))
            tell("cancel", SOME, cancel_s, f"<= {CANCEL_S}", plain_s, "peer: the same rows changed by three statements")
            many, preview_s, launch_s = launch(api, MANY)
            tell("preview", MANY, preview_s, f"<= {LOOK_S}")
            plain_s = inserted_s(units.engine, many)
            tell(
                "launch",
                MANY,
                launch_s,
                f"<= {LAUNCH_S}",
                plain_s,
                "peer: copies of the rows inserted by one statement a table",
            )
            read_all(api, units, many)
            tell("cancel", MANY, timed_s(lambda: post(api, f"/campaigns/{many}/cancel")))
            tell("delete", MANY, timed_s(lambda: api.client.delete(f"{API}/campaigns/{many}").raise_for_status()))


def launch(api: ApiProcess, runs: int) -> tuple[str, float, float]:
    """A campaign of so many runs on one link: its id, and how long its preview and its launch took."""
    file = {
        "name": f"{runs} runs", "links": ["l"], "stop": {"seconds": 5}, "timetable": {"cycles": runs // len(CONDITIONS)},
        "conditions": CONDITIONS,
    }  # fmt: skip
    preview_s = timed_s(lambda: post(api, "/campaigns/preview", campaign=file))
    made = str(post(api, "/campaigns", campaign=file)["id"])
    return made, preview_s, timed_s(lambda: post(api, f"/campaigns/{made}/launch", even_if_offline=True))


def read_all(api: ApiProcess, units: UnitFactory, campaign: str) -> None:
    """What its page asks for, and its table of runs."""

    def get(path: str) -> bytes:
        return api.client.get(f"{API}/campaigns/{campaign}{path}").raise_for_status().content

    pages = {
        "page": "", "what it does now": "/now", "first 50 runs": "/runs?limit=50", "last 50 runs": f"/runs?limit=50&offset={MANY - 50}",
        "day strip": "/day", "circumstances": "/circumstances",
    }  # fmt: skip
    for name, path in pages.items():
        tell(name, MANY, timed_s(lambda path=path: get(path)), f"<= {LOOK_S}")  # type: ignore[misc]
    plain_s = read_s(units.engine, campaign)
    tell("runs.csv", MANY, timed_s(lambda: get("/runs.csv")), f"<= {TABLE_S}", plain_s, "peer: SELECT of the rows")


def post(api: ApiProcess, path: str, **body: object) -> Mapping[str, object]:
    answer = api.client.post(f"{API}{path}", json=body or None)
    assert answer.is_success, answer.text
    found: Mapping[str, object] = answer.json()
    return found


def changed_s(engine: Engine, campaign: str) -> float:
    """Nothing of it stays."""
    with engine.connect() as connection:
        return timed_s(lambda: [connection.execute(text(each), {"id": campaign}) for each in CHANGES])


def inserted_s(engine: Engine, campaign: str) -> float:
    """Nothing of it stays. Copies of the runs, with their flows and hosts, in cycles that come after theirs."""
    with engine.connect() as connection:
        connection.execute(
            text("CREATE TEMP TABLE copies ON COMMIT DROP AS SELECT id, gen_random_uuid() AS copy FROM runs")
        )
        return timed_s(lambda: [connection.execute(text(copied(table)), {"id": campaign}) for table in TABLES])


def copied(table: type[Run | RunFlow | RunHost]) -> str:
    names = [column.name for column in table.__table__.columns if not column.computed]
    key = "id" if table is Run else "run_id"
    values = {key: "copies.copy", **({"cycle": f"own.cycle + {MANY}"} if table is Run else {})}
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


def timed_s(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def tell(
    what: str, runs: int, taken_s: float, goal: str | None = None, plain_s: float | None = None, remark: str = ""
) -> None:
    """One row for the time, and, where there is a peer, one for the time beside it."""
    row = {"name": f"campaign of {runs:,} runs: {what}", "value": round(taken_s, 4), "unit": "s"}
    print(json.dumps({**row, "goal": goal}), flush=True)
    if plain_s is not None:
        beside = {"name": f"{row['name']}, beside the database", "peer": round(plain_s, 4), "remark": remark}
        print(json.dumps({**row, **beside}), flush=True)


if __name__ == "__main__":
    main()
