"""A PostgreSQL of a benchmark's own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pydantic import SecretStr

from downlink.settings import Settings
from downlink.stack.process import Supervisor
from downlink.stack.servers import start_postgres
from downlink.storage.migrate import upgrade
from downlink.storage.unit import UnitFactory, open_units


class Database(NamedTuple):
    """home: a folder that goes with it."""

    home: Path
    url: str
    units: UnitFactory


@contextmanager
def database() -> Iterator[Database]:
    """With the tables of today and no rows; gone at the end."""
    with tempfile.TemporaryDirectory(prefix="downlink-bench-") as folder, Supervisor(Path(folder)) as supervisor:
        home = Path(folder)
        url = start_postgres(supervisor, home / "postgres")
        upgrade(Settings(database_url=SecretStr(url)))
        units = open_units(url, 2)
        yield Database(home, url, units)
        units.close()
