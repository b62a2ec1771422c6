"""A server of each released version comes to this one's tables with everything that is in it, and back.

`data/server-VERSION.sql.gz` is what pg_dump wrote of a server of that version, by its own program. Version 0.1.0 had a recorded campaign
of two runs with its samples, and a campaign under way. Those of commit 4ed48422 and of 0.2.0 have a row in every table
(`fixtures/full_server.py`) and `server-VERSION.json.gz` beside it, the answers of that server.
`RECORD_RELEASE=VERSION pytest backend/tests/storage/test_released.py` leaves those of this version.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from pydantic import SecretStr
from sqlalchemy import Engine, create_engine, text

from downlink.codec.series import unpack_series
from downlink.process.settings import Settings
from downlink.stack.servers import embedded_tools
from downlink.storage.migrate import alembic_config, knows, upgrade
from downlink.storage.unit import open_units
from tests.fixtures.full_server import answers, fill, leave
from tests.fixtures.lab import Lab
from tests.storage.test_migrations import BETWEEN, FIRST, HEAD, other_url  # noqa: F401 - a fixture

DATA = Path(__file__).parents[1] / "data"
RELEASED = {"0.1.0": FIRST, "4ed48422": BETWEEN, "0.2.0": HEAD}
"""Each version with the last migration that it had."""
FULL = ("4ed48422", "0.2.0")
EVERY_TABLE = (
    "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version' ORDER BY 1"
)
QUANTITIES = (
    "throughput_bps",
    "goodput_bps",
    "rtt_ms",
    "rwnd_bytes",
    "cwnd_bytes",
    "retransmission_percent",
    "in_flight_bytes",
)
SECONDS_THEN = f"SELECT run_id, flow, {', '.join(QUANTITIES)} FROM series ORDER BY run_id, flow, bin_s"  # noqa: S608 - no input
SECONDS_NOW = "SELECT run_id, flow, quantities, packed FROM flow_series ORDER BY run_id, flow"
KEPT = {
    "campaigns": "SELECT id, name, state, source, spec, created_at FROM campaigns ORDER BY id",
    "runs": "SELECT id, campaign_id, link, condition, cycle, position, attempt, state, reason, due_at, ended_at FROM runs ORDER BY id",
    "metrics": "SELECT run_id, flow, phase, throughput_bps, goodput_bps, rtt_ms, cwnd_bytes FROM metrics ORDER BY 1, 2, 3",
    "samples": "SELECT run_id, flow, sequence, samples, encode(sha256, 'hex'), md5(parquet) FROM chunks ORDER BY 1, 2, 3, 5",
    "traces": "SELECT run_id, flow, samples, chunks, missing FROM traces ORDER BY 1, 2, 3",
    "outcomes": "SELECT run_id, flow, sender, receiver, sender_outcome->>'samples' FROM run_flows ORDER BY 1, 2",
    "agents": "SELECT id, name, secret_hash, created_at FROM agents ORDER BY id",
    "links": "SELECT id, name, receiver, senders, nominal_rate_bps FROM links ORDER BY id",
    "people": "SELECT id, username, password_hash FROM users ORDER BY id",
    "tokens": "SELECT id, name, secret_hash, scopes FROM api_tokens ORDER BY id",
}
"""What a version from before has as this one has it."""


def rows(engine: Engine) -> dict[str, list[Any]]:
    with engine.connect() as connection:
        return {name: [tuple(row) for row in connection.execute(text(query))] for name, query in KEPT.items()}


def seconds(engine: Engine) -> dict[str, list[Any]]:
    """Of every flow, by quantity, as a version from before kept them."""
    found: dict[str, list[Any]] = {}
    with engine.connect() as connection:
        for row in connection.execute(text(SECONDS_THEN)).mappings():
            for name in QUANTITIES:
                found.setdefault(f"{row['run_id']} {row['flow']} {name}", []).append(row[name])
    return found


def seconds_now(engine: Engine) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    with engine.connect() as connection:
        for row in connection.execute(text(SECONDS_NOW)).mappings():
            values = unpack_series(row["packed"], row["quantities"], QUANTITIES).tolist()
            for name, each in zip(QUANTITIES, values, strict=True):
                found[f"{row['run_id']} {row['flow']} {name}"] = [None if value != value else value for value in each]  # noqa: PLR0124 - NaN
    return found


Server = tuple[str, str, Engine]
"""The last migration of a server's version, its database's URL, and an engine on it."""


@pytest.fixture
def old_server(request: pytest.FixtureRequest, other_url: str) -> Iterator[Server]:  # noqa: F811
    """The server of the version that a test names, 0.1.0 otherwise."""
    version = getattr(request, "param", "0.1.0")
    engine = create_engine(other_url)
    with engine.begin() as connection:
        connection.connection.cursor().execute(gzip.decompress((DATA / f"server-{version}.sql.gz").read_bytes()))
    yield RELEASED[version], other_url, engine
    engine.dispose()


def test_everything_of_a_released_version_comes_to_this_one_and_back(old_server: Server) -> None:
    revision, url, engine = old_server
    config = alembic_config(url)
    assert knows(revision), "its migration is still on the way to the newest one"
    kept, before = rows(engine), seconds(engine)
    assert len(kept["samples"]) >= 4
    assert len(before) >= 2 * len(QUANTITIES)
    command.upgrade(config, "head")
    command.check(config)
    assert rows(engine) == kept
    assert seconds_now(engine) == before
    command.downgrade(config, revision)
    assert rows(engine) == kept
    assert seconds(engine) == before


def test_a_campaign_under_way_is_looked_at_after_the_upgrade(old_server: Server) -> None:
    _, url, engine = old_server
    command.upgrade(alembic_config(url), "head")
    with engine.connect() as connection:
        due = connection.execute(text("SELECT link FROM wakes")).scalars().all()
        assert due == ["dish"]
        planned = connection.execute(text("SELECT due_at, reason FROM runs WHERE state = 'planned'")).all()
        assert [(due_at < datetime.now(UTC), reason) for due_at, reason in planned] == [(True, None)]


def every_row(engine: Engine, columns: dict[str, set[str]] | None = None) -> dict[str, list[dict[str, Any]]]:
    """The rows of every table, or those columns of them alone."""
    with engine.connect() as connection:
        tables = columns or connection.scalars(text(EVERY_TABLE)).all()
        found = {table: connection.scalars(text(f"SELECT to_jsonb({table}) FROM {table}")).all() for table in tables}  # noqa: S608
    kept = {
        table: [{name: row[name] for name in (columns or {}).get(table, row)} for row in rows]
        for table, rows in found.items()
    }
    return {table: in_order(rows) for table, rows in kept.items()}


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


@pytest.mark.parametrize("old_server", FULL, indirect=True)
def test_every_row_of_a_full_server_comes_to_this_version_and_back(old_server: Server) -> None:
    revision, url, engine = old_server
    config, before = alembic_config(url), every_row(engine)
    assert not [table for table, rows in before.items() if not rows]
    columns = {table: set(rows[0]) for table, rows in before.items()}
    command.upgrade(config, "head")
    command.check(config)
    assert every_row(engine, columns) == before
    command.downgrade(config, revision)
    # Numbers of transactions, which begin again.
    without = {"events": {"xact"}, "channels": {"seen_xact", "seen_id"}} if revision == BETWEEN else {}
    columns = {table: names - without.get(table, set()) for table, names in columns.items()}
    with_those = {
        table: [{name: row[name] for name in columns[table]} for row in rows] for table, rows in before.items()
    }
    assert every_row(engine, columns) == {table: in_order(rows) for table, rows in with_those.items()}


OBJECTS = """
    SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid <> 0
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT pg_get_functiondef(p.oid) FROM pg_proc p JOIN pg_language l ON l.oid = prolang WHERE lanname = 'plpgsql'
    UNION ALL SELECT concat_ws(' ', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull, attstorage, attgenerated,
                               pg_get_expr(adbin, adrelid))
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S') AND attnum > 0 AND NOT attisdropped
"""
"""Constraints, indexes, triggers, functions and columns, a line each."""


def objects(engine: Engine) -> list[str]:
    """What the database consists of, without parentheses, of which a dump that was loaded has others."""
    with engine.connect() as connection:
        return sorted(str(each).translate(str.maketrans("", "", "()")) for each in connection.scalars(text(OBJECTS)))


@pytest.mark.parametrize("old_server", FULL, indirect=True)
def test_migrations_give_the_tables_that_a_server_had(old_server: Server) -> None:
    """The single migrations that these servers had run are replaced by those of a release."""
    revision, url, engine = old_server
    had = objects(engine)
    with engine.connect() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE; CREATE SCHEMA public"))
        connection.commit()
    command.upgrade(alembic_config(url), revision)
    assert objects(engine) == had


def has(now: Any, before: Any) -> bool:
    """Whether an answer still has everything that one from before had."""
    if isinstance(before, dict):
        return isinstance(now, dict) and all(name in now and has(now[name], value) for name, value in before.items())
    if isinstance(before, str) and isinstance(now, str) and "\n" in before:
        return has(*(list(csv.DictReader(io.StringIO(table))) for table in (now, before)))
    if isinstance(before, list):
        return isinstance(now, list) and len(now) == len(before) and all(map(has, now, before))
    return bool(now == before)


@pytest.mark.parametrize(("old_server", "version"), [(each, each) for each in FULL], indirect=["old_server"])
def test_answers_are_those_of_the_server_from_before(old_server: Server, version: str, settings: Settings) -> None:
    _, url, _ = old_server
    there = settings.model_copy(update={"database_url": SecretStr(url)})
    upgrade(there)
    before = json.loads(gzip.decompress((DATA / f"server-{version}.json.gz").read_bytes()))
    units = open_units(url, 4)
    with Lab(there, units) as lab:
        now = answers(lab)
    units.close()
    assert now.keys() == before.keys()
    assert not [path for path, answer in before.items() if not has(now[path], answer)]


@pytest.mark.verify("packages")
def test_a_full_server_has_a_row_in_every_table(lab: Lab, database_url: str) -> None:
    fill(lab)
    assert not [table for table, rows in every_row(lab.units.engine).items() if not rows]
    if version := os.environ.get("RECORD_RELEASE"):
        tools = embedded_tools()
        assert tools
        leave(lab, database_url, tools, DATA / f"server-{version}")
