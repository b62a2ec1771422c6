"""Migrations and tables say the same, forwards and backwards."""

from __future__ import annotations

from alembic import command
from sqlalchemy import create_engine, inspect, make_url, text

from downlink.storage.migrate import alembic_config


def test_tables_and_migrations_agree(database_url: str) -> None:
    command.check(alembic_config(database_url))


def test_migrations_go_back_and_forth(database_url: str) -> None:
    name = f"{make_url(database_url).database}_back"
    engine = create_engine(database_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    other = make_url(database_url).set(database=name).render_as_string(hide_password=False)
    try:
        config = alembic_config(other)
        command.upgrade(config, "head")
        command.downgrade(config, "base")
        emptied = create_engine(other)
        assert inspect(emptied).get_table_names() == ["alembic_version"]
        emptied.dispose()
        command.upgrade(config, "head")
        command.check(config)
    finally:
        with engine.connect() as connection:
            connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
        engine.dispose()
