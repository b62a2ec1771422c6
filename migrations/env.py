"""Runs migrations over the database that `downlink migrate` names; `alembic -x url=…` names one by hand."""

from __future__ import annotations

from alembic import context
from sqlalchemy import create_engine, text

from downlink.storage.tables import Table

MIGRATION_LOCK = 7_266_402_415


def main() -> None:
    url = context.config.attributes.get("database_url") or context.get_x_argument(as_dictionary=True)["url"]
    engine = create_engine(url)
    with engine.begin() as connection:
        # Two migrators at once would both create the tables.
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        context.configure(connection=connection, target_metadata=Table.metadata, compare_type=True)
        context.run_migrations()
    engine.dispose()


main()
