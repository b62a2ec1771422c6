"""Migrations and tables say the same, forwards and backwards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from alembic import command
from sqlalchemy import create_engine, inspect, make_url, text

from downlink.storage.migrate import alembic_config

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
