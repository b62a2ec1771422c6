"""Migrations and tables say the same, forwards and backwards."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from alembic import command
from pydantic import SecretStr
from sqlalchemy import create_engine, inspect, make_url, text
from sqlalchemy.exc import IntegrityError

from downlink.codec.series import unpack_series
from downlink.domain.errors import ConflictError
from downlink.domain.results.metric import LIMITS
from downlink.process.settings import Settings
from downlink.storage.migrate import alembic_config, upgrade

BEFORE_PLACES, PLACES = "a4c90e27b61d", "b93d61f8a27c"
IMPORTED_CAMPAIGN = """
    INSERT INTO campaigns (id, name, notes, state, is_recorded, origin, source, spec, estimate, created_at, report_wanted)
    VALUES ('00000000-0000-0000-0000-000000000001', 'old', '', 'complete', false, 'imported', '', '{}', '{}', now(), 0)
"""
IMPORTED_RUN = """
    INSERT INTO runs (id, campaign_id, link, condition, cycle, position, attempt, tries, state, state_at, due_at, stop,
                      deadline_s, expected_s, base_rtt_ms, is_host_wide, import_source)
    VALUES (gen_random_uuid(), '00000000-0000-0000-0000-000000000001', 'imported', 'c' || :position, 1, :position, 1, 0,
            'complete', now(), now(), '{}', 0, 0, 0, false, '{}')
"""
THOSE_THEN = (
    "throughput_bps", "goodput_bps", "rtt_ms", "rwnd_bytes", "cwnd_bytes", "retransmission_percent", "in_flight_bytes",
)  # fmt: skip
"""The quantities of a second when seconds became arrays."""


BEFORE_QUICK = "b7e2c40d9f18"
BEFORE_ARRAYS, ARRAYS = "d3b86f1e52a9", "f2a74c9d0b16"
CAMPAIGN = """
    INSERT INTO campaigns (id, name, notes, state, source, spec, estimate, created_at, report_wanted)
    VALUES ('00000000-0000-0000-0000-000000000001', 'old', '', 'complete', '', '{}', '{}', now(), 0)
"""
RUN = """
    INSERT INTO runs (id, campaign_id, link, condition, cycle, position, attempt, tries, state, state_at, due_at, stop,
                      deadline_s, expected_s, base_rtt_ms, is_host_wide)
    VALUES ('00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000001', 'geo', 'on', 1, 1, 1, 0,
            'complete', now(), now(), '{}', 0, 0, 0, false)
"""
SECONDS = {
    "series": [
        {"flow": 1, "bin_s": 0, "throughput_bps": 1.1, "goodput_bps": 0.0, "rtt_ms": None, "in_flight_bytes": 1e300},
        {"flow": 1, "bin_s": 1, "throughput_bps": 0.1, "goodput_bps": None, "rtt_ms": 3.5, "in_flight_bytes": 2.0},
        {"flow": 2, "bin_s": 0, "throughput_bps": 7.0, "goodput_bps": 8.0, "rtt_ms": 9.0, "in_flight_bytes": 10.0},
    ],
    "limit_bins": [
        {
            "flow": 1,
            "bin_s": 0,
            "congestion_window": 0.25,
            "receive_window": 0.5,
            "send_buffer": None,
            "application": 0.0,
        },
        {
            "flow": 1,
            "bin_s": 1,
            "congestion_window": 1.0,
            "receive_window": 0.0,
            "send_buffer": 0.0,
            "application": 0.0,
        },
    ],
}


def test_tables_and_migrations_agree(database_url: str) -> None:
    command.check(alembic_config(database_url))


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


def test_migrations_go_back_and_forth(other_url: str) -> None:
    config = alembic_config(other_url)
    command.upgrade(config, "head")
    command.downgrade(config, "base")
    emptied = create_engine(other_url)
    assert inspect(emptied).get_table_names() == ["alembic_version"]
    emptied.dispose()
    command.upgrade(config, "head")
    command.check(config)


def test_tables_of_a_later_version_are_refused_in_a_sentence(other_url: str) -> None:
    engine = create_engine(other_url)
    command.upgrade(alembic_config(other_url), "head")
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'ffffffffffff'"))
    settings = Settings(database_url=SecretStr(make_url(other_url).render_as_string(hide_password=False)))
    with pytest.raises(ConflictError) as refused:
        upgrade(settings)
    assert refused.value.code == "database_newer"
    assert "restore a backup" in refused.value.message
    engine.dispose()


def test_places_of_imported_runs_move_though_each_is_unique(other_url: str) -> None:
    config = alembic_config(other_url)
    command.upgrade(config, BEFORE_PLACES)
    engine = create_engine(other_url)
    with engine.begin() as connection:
        connection.execute(text(IMPORTED_CAMPAIGN))
        for position in range(5):
            connection.execute(text(IMPORTED_RUN), {"position": position})
    for revision, places in ((PLACES, [1, 2, 3, 4, 5]), (BEFORE_PLACES, [0, 1, 2, 3, 4])):
        (command.upgrade if revision == PLACES else command.downgrade)(config, revision)
        with engine.connect() as connection:
            assert connection.execute(text("SELECT position FROM runs ORDER BY position")).scalars().all() == places
    engine.dispose()


def test_seconds_become_arrays_and_back_without_a_changed_bit(other_url: str) -> None:
    config, engine = alembic_config(other_url), create_engine(other_url)
    command.upgrade(config, BEFORE_ARRAYS)
    with engine.begin() as connection:
        for statement in (CAMPAIGN, RUN):
            connection.execute(text(statement))
        for flow in (1, 2):
            connection.execute(text("INSERT INTO limits (run_id, flow) SELECT id, :flow FROM runs"), {"flow": flow})
        for table, rows in SECONDS.items():
            for row in rows:
                names, values = ", ".join(row), ", ".join(f":{name}" for name in row)
                connection.execute(text(f"INSERT INTO {table} (run_id, {names}) SELECT id, {values} FROM runs"), row)  # noqa: S608
    command.upgrade(config, ARRAYS)
    with engine.connect() as connection:
        first, second = connection.execute(text("SELECT quantities, bins, packed FROM flow_series ORDER BY flow")).all()
        assert (first.quantities, first.bins, second.bins) == (list(THOSE_THEN), 2, 1)
        values = dict(zip(THOSE_THEN, unpack_series(first.packed, THOSE_THEN, THOSE_THEN).tolist(), strict=True))
        assert (values["throughput_bps"], values["in_flight_bytes"]) == ([1.1, 0.1], [1e300, 2.0])
        assert (values["goodput_bps"][0], math.isnan(values["goodput_bps"][1])) == (0.0, True)
        seconds = connection.execute(text("SELECT seconds FROM limits ORDER BY flow")).scalars().all()
        assert unpack_series(seconds[0], LIMITS, LIMITS)[:2].tolist() == [[0.25, 1.0], [0.5, 0.0]]
        assert seconds[1] == b""
    command.downgrade(config, BEFORE_ARRAYS)
    with engine.connect() as connection:
        for table, rows in SECONDS.items():
            found = connection.execute(text(f"SELECT * FROM {table} ORDER BY flow, bin_s")).mappings().all()  # noqa: S608
            assert [{name: row[name] for name in rows[0]} for row in found] == rows
    engine.dispose()


BEFORE_WAKES, WAKES = "e7a41c9d0b35", "e8a17c53d046"
CAMPAIGN_UNDER_WAY = """
    INSERT INTO campaigns (id, name, notes, state, origin, source, spec, estimate, created_at, report_wanted)
    VALUES ('00000000-0000-0000-0000-000000000002', 'c', '', 'running', 'measured', '', '{}', '{}', now(), 0)
"""
RUN_UNDER_WAY = """
    INSERT INTO runs (id, campaign_id, link, condition, cycle, position, attempt, tries, state, state_at, due_at, stop,
                      deadline_s, expected_s, base_rtt_ms, is_host_wide, released_at)
    VALUES (gen_random_uuid(), '00000000-0000-0000-0000-000000000002', :link, 'on', :cycle, 1, 1, 0,
            :state, now(), now(), '{}', 0, 0, 0, false, CASE WHEN :state = 'complete' THEN now() END)
"""


def test_runs_from_before_are_looked_at_by_the_first_tick(other_url: str) -> None:
    config = alembic_config(other_url)
    command.upgrade(config, BEFORE_WAKES)
    engine = create_engine(other_url)
    with engine.begin() as connection:
        connection.execute(text(CAMPAIGN_UNDER_WAY))
        for cycle, state in enumerate(("complete", "running", "planned", "planned"), 1):
            connection.execute(text(RUN_UNDER_WAY), {"link": "geo", "cycle": cycle, "state": state})
    command.upgrade(config, WAKES)
    with engine.connect() as connection:
        woken = connection.execute(text("SELECT state FROM runs WHERE wake_at <= now()")).scalars().all()
        assert (woken, connection.execute(text("SELECT link FROM wakes")).scalars().all()) == (["running"], ["geo"])
    command.downgrade(config, BEFORE_WAKES)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM runs")).scalar_one() == 4
    engine.dispose()


BEFORE_PROTOCOL, PROTOCOL = "e8a17c53d046", "f0b1d7a35c92"
AGENT = """
    INSERT INTO agents (id, name, secret_hash, version, boot_id, host, status, spool, created_at)
    VALUES (gen_random_uuid(), 'client', '', '0.1.0', 'boot', '{}', 'idle', '[]', now())
"""


def test_agents_from_before_spoke_version_1(other_url: str) -> None:
    config = alembic_config(other_url)
    command.upgrade(config, BEFORE_PROTOCOL)
    engine = create_engine(other_url)
    with engine.begin() as connection:
        connection.execute(text(AGENT))
    command.upgrade(config, PROTOCOL)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT name, protocol FROM agents")).all() == [("client", 1)]
    engine.dispose()


BEFORE_FOLDERS, FOLDERS = "f0b1d7a35c92", "a6d3f07b9c41"
SEALED_RUN = RUN_UNDER_WAY.replace(":link", "'geo'").replace(":cycle", "1").replace(":state", "'complete'")
CHUNK = """
    INSERT INTO chunks (run_id, flow, "end", sequence, sha256, samples, parquet, stored_at)
    SELECT id, 1, 'sender', 0, '', 1, 'PAR1', now() FROM runs
"""


def test_sealed_chunks_from_before_stay_in_their_rows_and_none_in_a_store_is_dropped(other_url: str) -> None:
    config, engine = alembic_config(other_url), create_engine(other_url)
    command.upgrade(config, BEFORE_FOLDERS)
    with engine.begin() as connection:
        for statement in (CAMPAIGN_UNDER_WAY, SEALED_RUN, CHUNK):
            connection.execute(text(statement))
    command.upgrade(config, FOLDERS)
    with engine.begin() as connection:
        assert connection.execute(text("SELECT parquet, folder_id FROM chunks")).all() == [(b"PAR1", None)]
        connection.execute(text("INSERT INTO trace_folders (id, url) VALUES (gen_random_uuid(), 's3://traces/lab/1')"))
        connection.execute(text("UPDATE chunks SET parquet = NULL, folder_id = (SELECT id FROM trace_folders)"))
    with pytest.raises(RuntimeError, match=r"1 chunks are in a trace store: .* `downlink move-traces`"):
        command.downgrade(config, BEFORE_FOLDERS)
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM runs"))
        assert connection.execute(text("SELECT due_at <= now() FROM trace_folders")).scalars().all() == [True]
    command.downgrade(config, BEFORE_FOLDERS)
    engine.dispose()


BEFORE_POINTS, POINTS = "a6d3f07b9c41", "a4e8c2b61d70"
TRACE = """
    INSERT INTO traces (run_id, flow, "end", missing, samples, chunks, sealed_at)
    SELECT id, 1, 'receiver', '{}', 1, 1, now() FROM runs
"""


def test_the_end_of_a_chunk_and_of_a_trace_becomes_its_point_and_back(other_url: str) -> None:
    config, engine = alembic_config(other_url), create_engine(other_url)
    command.upgrade(config, BEFORE_POINTS)
    with engine.begin() as connection:
        for statement in (CAMPAIGN_UNDER_WAY, SEALED_RUN, CHUNK, TRACE):
            connection.execute(text(statement))
    for revision, name in ((POINTS, "point"), (BEFORE_POINTS, '"end"')):
        (command.upgrade if revision == POINTS else command.downgrade)(config, revision)
        with engine.connect() as connection:
            found = f"SELECT {name} FROM chunks UNION ALL SELECT {name} FROM traces"  # noqa: S608
            assert connection.execute(text(found)).scalars().all() == ["sender", "receiver"]
    engine.dispose()


BEFORE_JOINED, JOINED = "a4e8c2b61d70", "c7e2a90d4f58"
CHUNKS_FROM_BEFORE = """
    INSERT INTO chunks (run_id, flow, point, sequence, sha256, samples, packed, parquet, stored_at)
    SELECT id, 1, 'sender', n, '', 1, CASE WHEN n = 1 THEN 'zstd'::bytea END, CASE WHEN n = 0 THEN 'PAR1'::bytea END, now()
    FROM runs, generate_series(0, 1) n
"""


def test_chunks_from_before_stay_where_they_are_and_joined_ones_do_not_go_back(other_url: str) -> None:
    config, engine = alembic_config(other_url), create_engine(other_url)
    command.upgrade(config, BEFORE_JOINED)
    with engine.begin() as connection:
        for statement in (CAMPAIGN_UNDER_WAY, SEALED_RUN, CHUNKS_FROM_BEFORE):
            connection.execute(text(statement))
    command.upgrade(config, JOINED)
    with engine.begin() as connection:
        found = connection.execute(text("SELECT packed, parquet, joined_to FROM chunks ORDER BY sequence")).all()
        assert found == [(None, b"PAR1", None), (b"zstd", None, None)]
        connection.execute(text("UPDATE chunks SET packed = NULL, joined_to = 0 WHERE sequence = 1"))
    with pytest.raises(RuntimeError, match="1 chunks share Parquet files, which earlier versions cannot read"):
        command.downgrade(config, BEFORE_JOINED)
    with engine.begin() as connection:
        connection.execute(text("UPDATE chunks SET packed = 'zstd', joined_to = NULL WHERE sequence = 1"))
    command.downgrade(config, BEFORE_JOINED)
    with engine.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM chunks")).scalar_one() == 2
    engine.dispose()


BEFORE_LINK_LOGS, LINK_LOGS = "c7b15e90d3a2", "c7d20e5a81f4"
POINT_CHUNK = """
    INSERT INTO chunks (run_id, flow, point, sequence, sha256, samples, parquet, stored_at)
    SELECT id, :flow, :point, 0, '', 1, 'PAR1', now() FROM runs
"""


def test_runs_from_before_have_no_log_of_their_link_and_going_back_takes_logs_alone(other_url: str) -> None:
    config, engine = alembic_config(other_url), create_engine(other_url)
    command.upgrade(config, BEFORE_LINK_LOGS)
    with engine.begin() as connection:
        for statement in (CAMPAIGN_UNDER_WAY, SEALED_RUN):
            connection.execute(text(statement))
        connection.execute(text(POINT_CHUNK), {"flow": 1, "point": "sender"})
    command.upgrade(config, LINK_LOGS)
    with engine.begin() as connection:
        assert connection.execute(text("SELECT link_seed, link_outcome FROM runs")).all() == [(None, None)]
        connection.execute(text(POINT_CHUNK), {"flow": 0, "point": "link"})
    command.downgrade(config, BEFORE_LINK_LOGS)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT point FROM chunks")).scalars().all() == ["sender"]
    engine.dispose()


def test_campaigns_from_before_keep_no_quick_tests(other_url: str) -> None:
    config, engine = alembic_config(other_url), create_engine(other_url)
    command.upgrade(config, BEFORE_QUICK)
    with engine.begin() as connection:
        connection.execute(text(CAMPAIGN))
    command.upgrade(config, "head")
    with engine.begin() as connection:
        assert connection.execute(text("SELECT name, quick_link FROM campaigns")).all() == [("old", None)]
        connection.execute(text("UPDATE campaigns SET quick_link = 'geo'"))
    command.downgrade(config, BEFORE_QUICK)
    with engine.begin() as connection:
        assert connection.execute(text("SELECT name FROM campaigns")).scalars().all() == ["old"]
    engine.dispose()


BEFORE_ZONES, ZONES = "c41d90b7a2e5", "c31f5a9e8d07"
LINK = """
    INSERT INTO links (id, name, orbit, operator, nominal_rate_bps, base_rtt_ms, receiver, senders, is_emulated, created_at)
    VALUES (gen_random_uuid(), 'geo', 'GEO', '', 1000000, 600, 'client', '{server}', false, now())
"""


def test_links_from_before_have_no_time_zone(other_url: str) -> None:
    config, engine = alembic_config(other_url), create_engine(other_url)
    command.upgrade(config, BEFORE_ZONES)
    with engine.begin() as connection:
        connection.execute(text(LINK))
    command.upgrade(config, ZONES)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT name, time_zone FROM links")).all() == [("geo", None)]
    command.downgrade(config, BEFORE_ZONES)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT name FROM links")).scalars().all() == ["geo"]
    engine.dispose()


BEFORE_TAGS, TAGS = "c31f5a9e8d07", "5c1f0d7e9a42"


def test_campaigns_from_before_have_no_tags(other_url: str) -> None:
    config, engine = alembic_config(other_url), create_engine(other_url)
    command.upgrade(config, BEFORE_TAGS)
    with engine.begin() as connection:
        connection.execute(text(CAMPAIGN))
    command.upgrade(config, TAGS)
    with engine.begin() as connection:
        assert connection.scalars(text("SELECT tags FROM campaigns")).all() == [[]]
    command.downgrade(config, BEFORE_TAGS)
    with engine.begin() as connection:
        assert connection.scalars(text("SELECT name FROM campaigns")).all() == ["old"]
    engine.dispose()


BEFORE_SHARES, SHARES = "7d20c4f9b6a1", "a4d17e60c93b"


def test_campaigns_from_before_are_shared_with_nobody_and_lose_nothing_on_the_way_back(other_url: str) -> None:
    config, engine = alembic_config(other_url), create_engine(other_url)
    command.upgrade(config, BEFORE_SHARES)
    with engine.begin() as connection:
        connection.execute(text(CAMPAIGN))
    command.upgrade(config, SHARES)
    share = """
        INSERT INTO shares (id, campaign_id, name, secret_hash, created_by, created_at, expires_at)
        VALUES (gen_random_uuid(), (SELECT id FROM campaigns), 'a', :secret, 'user ada', now(), now())
    """
    with engine.begin() as connection:
        assert connection.scalar(text("SELECT count(*) FROM shares")) == 0
        connection.execute(text(share), {"secret": b"one"})
        assert connection.scalars(text("SELECT opened FROM shares")).all() == [0]
    with pytest.raises(IntegrityError), engine.begin() as connection:
        connection.execute(text(share), {"secret": b"one"})
    command.downgrade(config, BEFORE_SHARES)
    with engine.begin() as connection:
        assert connection.scalars(text("SELECT name FROM campaigns")).all() == ["old"]
    engine.dispose()


BEFORE_VALUES = "d05a7be1c264"
ANSWER = """
    INSERT INTO report_answers (campaign_id, name, version, seen, body)
    VALUES ('00000000-0000-0000-0000-000000000001', :name, 0, '', '')
"""


@pytest.mark.parametrize(("answers", "wanted"), [([], 0), (["statistics"], 1), (["statistics", "values"], 0)])
def test_a_report_without_the_runs_values_is_made_again(other_url: str, answers: list[str], wanted: int) -> None:
    config, engine = alembic_config(other_url), create_engine(other_url)
    command.upgrade(config, BEFORE_VALUES)
    with engine.begin() as connection:
        connection.execute(text(CAMPAIGN))
        for name in answers:
            connection.execute(text(ANSWER), {"name": name})
    command.upgrade(config, "head")
    with engine.begin() as connection:
        assert connection.scalars(text("SELECT report_wanted FROM campaigns")).all() == [wanted]
    engine.dispose()


BEFORE_CHECKS, CHECKS = "d2a96e41b7f3", "c91e5a0d47b3"


def test_on_the_way_back_nothing_is_left_of_what_was_expected(other_url: str) -> None:
    config, engine = alembic_config(other_url), create_engine(other_url)
    command.upgrade(config, BEFORE_CHECKS)
    with engine.begin() as connection:
        connection.execute(text(CAMPAIGN))
        connection.execute(text(RUN))
    command.upgrade(config, CHECKS)
    channel = """
        INSERT INTO channels (id, name, kind, target, topics, is_own_only, failures_in_row, gone_after_min, is_enabled,
                              created_by, created_at, seen_xact, seen_id)
        VALUES (gen_random_uuid(), :name, 'chat', '', :topics, false, 3, 5, true, '', now(), 0, 0)
    """
    with engine.begin() as connection:
        assert connection.scalars(text("SELECT checks FROM runs")).all() == [None]
        for name, topics in (("both", ["unexpected", "failures"]), ("one", ["unexpected"])):
            connection.execute(text(channel), {"name": name, "topics": topics})
        for kind in ("run", "unexpected"):
            connection.execute(text("INSERT INTO events (at, kind, data) VALUES (now(), :kind, '{}')"), {"kind": kind})
    command.downgrade(config, BEFORE_CHECKS)
    with engine.begin() as connection:
        assert connection.execute(text("SELECT name, topics FROM channels")).all() == [("both", ["failures"])]
        assert connection.scalars(text("SELECT kind FROM events")).all() == ["run"]
    engine.dispose()
