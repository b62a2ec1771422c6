"""What the benchmarks of these tests run on: the database of the test process, emptied."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import text

from bench.database import Database, Opened
from downlink.storage.tables import Table
from downlink.storage.unit import open_units


@pytest.fixture
def opened(database_url: str, tmp_path: Path) -> Opened:
    homes = (tmp_path / f"home-{number}" for number in count())

    @contextmanager
    def emptied() -> Iterator[Database]:
        units = open_units(database_url, 4)
        names = ", ".join(table.name for table in Table.metadata.sorted_tables)
        with units.engine.begin() as connection:
            # Not DELETE: a benchmark weighs what a table takes on disk.
            connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY"))
        home = next(homes)
        home.mkdir()
        yield Database(home, database_url, units)
        units.close()

    return emptied
