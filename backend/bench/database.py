"""The database of a benchmark, and what benchmarks do with it alike."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

from pydantic import SecretStr
from sqlalchemy import text

from downlink.process.settings import Settings
from downlink.stack.process import Supervisor
from downlink.stack.servers import start_postgres
from downlink.storage.migrate import upgrade
from downlink.storage.unit import UnitFactory, open_units


class Database(NamedTuple):
    """home: a folder that goes with it."""

    home: Path
    url: str
    units: UnitFactory


Opened = Callable[[], AbstractContextManager[Database]]


@contextmanager
def database() -> Iterator[Database]:
    """A PostgreSQL of its own, with the tables of today and no rows; gone at the end."""
    with tempfile.TemporaryDirectory(prefix="downlink-bench-") as folder, Supervisor(Path(folder)) as supervisor:
        home = Path(folder)
        url = start_postgres(supervisor, home / "postgres")
        upgrade(Settings(database_url=SecretStr(url)))
        units = open_units(url, 4)
        yield Database(home, url, units)
        units.close()


def vacuum(units: UnitFactory) -> None:
    """Vacuum and analyse, as PostgreSQL does by itself within a minute."""
    with units.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))


def copied_runs(changes: Mapping[str, str], source: str) -> str:
    """SQL that inserts a copy of the only run, or of any, for each row of `source`; changes: column to its SQL."""
    changed = ", ".join(f"'{name}', {value}" for name, value in changes.items())
    return f"""
        INSERT INTO runs SELECT (jsonb_populate_record(one, jsonb_build_object({changed}))).*
        FROM (SELECT runs AS one FROM runs LIMIT 1) AS first, {source}
    """  # noqa: S608 - written in benchmarks
