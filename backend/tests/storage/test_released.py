"""A server of each released version comes to this one's tables with everything that is in it, and back.

`data/server-VERSION.sql.gz` is what pg_dump wrote of a server of that version, by its own program: a recorded campaign of two runs with
its samples, and a campaign under way. Version 0.1.0 is the first; a release adds its own.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Engine, create_engine, text

from downlink.codec.series import unpack_series
from downlink.storage.migrate import alembic_config, knows
from tests.storage.test_migrations import other_url  # noqa: F401 - a fixture

DATA = Path(__file__).parents[1] / "data"
RELEASED = {"0.1.0": "e52d80c6f4b1"}
"""Each version with the last migration that it had."""
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


@pytest.fixture(params=sorted(RELEASED))
def old_server(request: pytest.FixtureRequest, other_url: str) -> Iterator[tuple[str, str, Engine]]:  # noqa: F811
    dump = gzip.decompress((DATA / f"server-{request.param}.sql.gz").read_bytes()).decode()
    engine = create_engine(other_url)
    with engine.begin() as connection:
        connection.connection.cursor().execute(dump.encode())
    yield RELEASED[request.param], other_url, engine
    engine.dispose()


def test_everything_of_a_released_version_comes_to_this_one_and_back(old_server: tuple[str, str, Engine]) -> None:
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


def test_a_campaign_under_way_is_looked_at_after_the_upgrade(old_server: tuple[str, str, Engine]) -> None:
    _, url, engine = old_server
    command.upgrade(alembic_config(url), "head")
    with engine.connect() as connection:
        due = connection.execute(text("SELECT link FROM wakes")).scalars().all()
        assert due == ["dish"]
        planned = connection.execute(text("SELECT due_at, reason FROM runs WHERE state = 'planned'")).all()
        assert [(due_at < datetime.now(UTC), reason) for due_at, reason in planned] == [(True, None)]
