"""Migrations and tables say the same, forwards and backwards."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from pydantic import SecretStr
from sqlalchemy import Engine, create_engine, inspect, make_url, text

from downlink.codec.series import unpack_series
from downlink.domain.errors import ConflictError
from downlink.domain.results.metric import LIMITS
from downlink.process.settings import Settings
from downlink.storage.migrate import alembic_config, is_replaced, knows, upgrade

FIRST, BETWEEN, HEAD = "e52d80c6f4b1", "b83d5f10c6e2", "b28e61da04f7"
"""The last migrations of version 0.1.0, of commit 4ed48422 and of version 0.2.0."""
CAMPAIGN = """
    INSERT INTO campaigns (id, name, notes, state, is_recorded, origin, source, spec, estimate, created_at, report_wanted)
    VALUES ('00000000-0000-0000-0000-000000000001', 'old', '', 'running', false, :origin, '', '{}', '{}', now(), 0)
"""
RUN = """
    INSERT INTO runs (id, campaign_id, link, condition, cycle, position, attempt, tries, state, state_at, due_at, stop,
                      deadline_s, expected_s, base_rtt_ms, is_host_wide, released_at, import_source)
    VALUES (gen_random_uuid(), '00000000-0000-0000-0000-000000000001', 'geo', 'on', 1, :position, 1, 0, :state, now(), now(), '{}',
            0, 0, 0, false, CASE WHEN :state = 'complete' THEN now() END, CASE WHEN :is_imported THEN '{}'::jsonb END)
"""
LINK = """
    INSERT INTO links (id, name, orbit, operator, nominal_rate_bps, base_rtt_ms, receiver, senders, is_emulated, created_at)
    VALUES (gen_random_uuid(), 'geo', 'GEO', '', 1000000, 600, 'client', '{server}', true, now())
"""
AGENT = """
    INSERT INTO agents (id, name, secret_hash, version, boot_id, host, status, spool, created_at)
    VALUES (gen_random_uuid(), 'client', '', '0.1.0', 'boot', '{}', 'idle', '[]', now())
"""
USER = "INSERT INTO users (id, username, password_hash, created_at) VALUES (gen_random_uuid(), :name, '', :at)"
CHUNK = """
    INSERT INTO chunks (run_id, flow, {point}, sequence, sha256, samples, packed, parquet, stored_at)
    SELECT id, :flow, :point, :sequence, '', 1, CASE WHEN :sequence = 1 THEN 'zstd'::bytea END,
           CASE WHEN :sequence = 0 THEN 'PAR1'::bytea END, now() FROM runs
"""
TRACE = """
    INSERT INTO traces (run_id, flow, "end", missing, samples, chunks, sealed_at) SELECT id, 1, 'receiver', '{}', 1, 1, now() FROM runs
"""
EXIT = """
    INSERT INTO exits (run_id, flow, place, detector, version, parameters, reason, quantities, is_decidable)
    SELECT id, 1, :place, 'hystart', '1', '{}', '', cast(:quantities AS jsonb), true FROM runs
"""
QUANTITIES = (
    "throughput_bps", "goodput_bps", "rtt_ms", "rwnd_bytes", "cwnd_bytes", "retransmission_percent", "in_flight_bytes",
)  # fmt: skip
"""The quantities of a second in version 0.1.0."""
SECONDS: dict[str, list[dict[str, Any]]] = {
    "series": [
        {"flow": 1, "bin_s": 0, "throughput_bps": 1.1, "goodput_bps": 0.0, "rtt_ms": None, "in_flight_bytes": 1e300},
        {"flow": 1, "bin_s": 1, "throughput_bps": 0.1, "goodput_bps": None, "rtt_ms": 3.5, "in_flight_bytes": 2.0},
        {"flow": 2, "bin_s": 0, "throughput_bps": 7.0, "goodput_bps": 8.0, "rtt_ms": 9.0, "in_flight_bytes": 10.0},
    ],
    "limit_bins": [
        {"flow": 1, "bin_s": 0, "congestion_window": 0.25, "receive_window": 0.5, "send_buffer": None, "application": 0.0},
        {"flow": 1, "bin_s": 1, "congestion_window": 1.0, "receive_window": 0.0, "send_buffer": 0.0, "application": 0.0},
    ],
}  # fmt: skip


class Old:
    """A database of version 0.1.0 that a test fills, upgrades and takes back."""

    def __init__(self, url: str) -> None:
        self.config, self.engine = alembic_config(url), create_engine(url)
        command.upgrade(self.config, FIRST)

    def run(self, statement: str, **values: object) -> None:
        with self.engine.begin() as connection:
            connection.execute(text(statement), values)

    def rows(self, query: str) -> list[tuple[object, ...]]:
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(query))]

    def campaign(self, *states: str, is_imported: bool = False) -> None:
        """A campaign with a run in each of these states, in positions from 0 if it is imported."""
        self.run(CAMPAIGN, origin="imported" if is_imported else "measured")
        for position, state in enumerate(states, 0 if is_imported else 1):
            self.run(RUN, position=position, state=state, is_imported=is_imported)

    def upgrade(self, revision: str = "head") -> None:
        command.upgrade(self.config, revision)

    def downgrade(self) -> None:
        command.downgrade(self.config, FIRST)


@pytest.fixture
def other_url(database_url: str) -> Iterator[str]:
    """An empty database of its own."""
    name = f"{make_url(database_url).database}_back"
    engine = create_engine(database_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    yield make_url(database_url).set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    engine.dispose()


@pytest.fixture
def old(other_url: str) -> Iterator[Old]:
    made = Old(other_url)
    yield made
    made.engine.dispose()


def test_tables_and_migrations_agree(database_url: str) -> None:
    command.check(alembic_config(database_url))


def test_migrations_go_back_and_forth(other_url: str) -> None:
    config = alembic_config(other_url)
    command.upgrade(config, "head")
    command.downgrade(config, "base")
    emptied = create_engine(other_url)
    assert inspect(emptied).get_table_names() == ["alembic_version"]
    emptied.dispose()
    command.upgrade(config, "head")
    command.check(config)


def at_revision(url: str, revision: str) -> Settings:
    """Settings of a database that says it has the tables of this revision."""
    command.upgrade(alembic_config(url), "head")
    engine: Engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    engine.dispose()
    return Settings(database_url=SecretStr(url))


def test_tables_of_a_later_version_are_refused_in_a_sentence(other_url: str) -> None:
    with pytest.raises(ConflictError) as refused:
        upgrade(at_revision(other_url, "ffffffffffff"))
    assert refused.value.code == "database_newer"
    assert "restore a backup" in refused.value.message


def test_tables_of_an_unreleased_version_are_refused_with_the_commit_that_migrates_them(other_url: str) -> None:
    at_revision(other_url, "d05a7be1c264")
    command_line = [sys.executable, "-m", "downlink.main", "migrate"]
    env = {**os.environ, "DOWNLINK_DATABASE_URL": other_url}
    ended = subprocess.run(command_line, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (5, "")
    assert ended.stderr == (
        "downlink: This database has tables of an unreleased version (migration d05a7be1c264). Check out commit 8c820127 of Downlink "
        "and type `downlink migrate` there (`make up` for a `.demo` folder). Then start this version again.\n"
    )


def test_each_starting_point_is_known_and_each_replaced_migration_is_named_once() -> None:
    script = ScriptDirectory.from_config(alembic_config(""))
    replaced = [each for found in script.walk_revisions() for each in getattr(found.module, "replaces", ())]
    assert (script.get_heads(), len(replaced)) == ([HEAD], len(set(replaced)))
    assert all(knows(each) and not is_replaced(each) for each in (FIRST, BETWEEN, HEAD))
    assert all(is_replaced(each) and not knows(each) for each in replaced)
    assert not is_replaced("ffffffffffff")


def test_positions_of_imported_runs_count_from_1(old: Old) -> None:
    old.campaign(*["complete"] * 5, is_imported=True)
    old.upgrade()
    assert old.rows("SELECT position FROM runs ORDER BY 1") == [(1,), (2,), (3,), (4,), (5,)]
    old.downgrade()
    assert old.rows("SELECT position FROM runs ORDER BY 1") == [(0,), (1,), (2,), (3,), (4,)]


def test_seconds_become_arrays_and_back_without_a_changed_bit(old: Old) -> None:
    old.campaign("complete")
    for flow in (1, 2):
        old.run("INSERT INTO limits (run_id, flow) SELECT id, :flow FROM runs", flow=flow)
    for table, rows in SECONDS.items():
        for row in rows:
            names, values = ", ".join(row), ", ".join(f":{name}" for name in row)
            old.run(f"INSERT INTO {table} (run_id, {names}) SELECT id, {values} FROM runs", **row)  # noqa: S608
    old.upgrade()
    with old.engine.connect() as connection:
        first, second = connection.execute(text("SELECT quantities, bins, packed FROM flow_series ORDER BY flow")).all()
        assert (first.quantities, first.bins, second.bins) == (list(QUANTITIES), 2, 1)
        arrays = dict(zip(QUANTITIES, unpack_series(first.packed, QUANTITIES, QUANTITIES).tolist(), strict=True))
        assert (arrays["throughput_bps"], arrays["in_flight_bytes"]) == ([1.1, 0.1], [1e300, 2.0])
        assert (arrays["goodput_bps"][0], math.isnan(arrays["goodput_bps"][1])) == (0.0, True)
        seconds = connection.execute(text("SELECT seconds FROM limits ORDER BY flow")).scalars().all()
        assert unpack_series(seconds[0], LIMITS, LIMITS)[:2].tolist() == [[0.25, 1.0], [0.5, 0.0]]
        assert seconds[1] == b""
    old.downgrade()
    with old.engine.connect() as connection:
        for table, rows in SECONDS.items():
            found = connection.execute(text(f"SELECT * FROM {table} ORDER BY flow, bin_s")).mappings().all()  # noqa: S608
            assert [{name: row[name] for name in rows[0]} for row in found] == rows


def test_runs_under_way_are_looked_at_by_the_first_tick(old: Old) -> None:
    old.campaign("complete", "running", "planned", "planned")
    old.upgrade()
    assert old.rows("SELECT state FROM runs WHERE wake_at <= now()") == [("running",)]
    assert old.rows("SELECT link FROM wakes") == [("geo",)]
    old.downgrade()
    assert old.rows("SELECT count(*) FROM runs") == [(4,)]


def test_marks_of_exits_become_columns(old: Old) -> None:
    old.campaign("complete")
    for place, quantities in enumerate(('{"is_too_late": true, "x": 1}', '{"cwnd_source": "kernel"}')):
        old.run(EXIT, place=place, quantities=quantities)
    old.upgrade()
    marks = old.rows("SELECT is_too_late, cwnd_source, quantities FROM exits ORDER BY place")
    assert marks == [(True, None, {"x": 1}), (False, "kernel", {})]


def test_what_version_0_1_0_did_not_know_has_its_defaults(old: Old) -> None:
    old.run(USER, name="later", at="2026-02-01Z")
    old.run(USER, name="first", at="2026-01-01Z")
    old.run(LINK)
    old.run(AGENT)
    old.campaign("planned")
    old.upgrade()
    assert old.rows("SELECT tags, quick_link, username FROM campaigns JOIN users ON users.id = owner_id") == [
        ([], None, "first")
    ]
    assert old.rows("SELECT time_zone, reset_day, relays, username FROM links JOIN users ON users.id = owner_id") == [
        (None, 1, [], "first")
    ]
    assert old.rows("SELECT protocol, paused_by FROM agents") == [(1, None)]
    assert old.rows("SELECT is_emulated, link_seed, lease FROM runs") == [(True, None, None)]
    assert old.rows("SELECT DISTINCT role FROM users") == [("admin",)]
    old.downgrade()
    assert old.rows("SELECT name, is_recorded FROM campaigns") == [("old", False)]


def test_a_flows_bytes_are_what_its_ends_counted(old: Old) -> None:
    old.campaign("complete")
    flow = """INSERT INTO run_flows (run_id, flow, sender, receiver, asked_cc, cc_options, start_s, sender_outcome, receiver_outcome)
              SELECT id, 1, 'a', 'b', 'cubic', '{}', 0, '{"app_bytes": 7}', '{"app_bytes": 5}' FROM runs"""
    old.run(flow)
    for revision in (BETWEEN, HEAD):
        old.upgrade(revision)
        assert old.rows("SELECT carried_bytes FROM run_flows") == [(7,)]
    old.run("UPDATE run_flows SET most_bytes = 6")
    assert old.rows("SELECT carried_bytes FROM run_flows") == [(5,)]


def test_ends_of_chunks_and_traces_become_points_and_back_without_logs_of_links(old: Old) -> None:
    old.campaign("complete")
    for sequence in (0, 1):
        old.run(CHUNK.format(point='"end"'), flow=1, point="sender", sequence=sequence)
    old.run(TRACE)
    old.upgrade()
    assert old.rows("SELECT packed, parquet, folder_id, joined_to FROM chunks ORDER BY sequence") == [
        (None, b"PAR1", None, None),
        (b"zstd", None, None, None),
    ]
    assert old.rows("SELECT point FROM chunks UNION ALL SELECT point FROM traces") == [
        ("sender",),
        ("sender",),
        ("receiver",),
    ]
    old.run(CHUNK.format(point="point"), flow=0, point="link", sequence=0)
    for kind in ("run", "unexpected"):
        old.run("INSERT INTO events (at, kind, data) VALUES (now(), :kind, '{}')", kind=kind)
    old.downgrade()
    assert old.rows('SELECT "end", sequence FROM chunks ORDER BY 2') == [("sender", 0), ("sender", 1)]
    assert old.rows("SELECT kind FROM events") == [("run",)]


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (
            "parquet = NULL, folder_id = (SELECT id FROM trace_folders)",
            "1 chunks are in a trace store: .* `downlink move-traces`",
        ),
        ("parquet = NULL, joined_to = 0", "1 chunks share Parquet files, which earlier versions cannot read"),
    ],
)
def test_chunks_that_version_0_1_0_cannot_read_do_not_go_back(old: Old, change: str, refusal: str) -> None:
    old.campaign("complete")
    old.run(CHUNK.format(point='"end"'), flow=1, point="sender", sequence=0)
    old.upgrade()
    old.run("INSERT INTO trace_folders (id, url) VALUES (gen_random_uuid(), 's3://traces/lab/1')")
    old.run(f"UPDATE chunks SET {change}")  # noqa: S608
    with pytest.raises(RuntimeError, match=refusal):
        old.downgrade()
    old.run("DELETE FROM runs")
    assert old.rows("SELECT due_at <= now() FROM trace_folders") == [(True if "folder_id" in change else None,)]
    old.downgrade()
