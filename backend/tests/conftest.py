"""Real PostgreSQL and Valkey for every test that asks: one server for a test process, a database made by the migrations.

TEST_SERVERS=debian has Debian's programs do it instead of the embedded ones. DOWNLINK_DATABASE_URL and DOWNLINK_REDIS_URL name
servers that run; databases are made beside the one that is named.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from pydantic import SecretStr
from sqlalchemy import create_engine, make_url, text

import downlink.api.app
from downlink.process.settings import Settings
from downlink.stack.process import Supervisor
from downlink.stack.servers import start_postgres, start_valkey
from downlink.storage.migrate import upgrade
from downlink.storage.tables import Table
from downlink.storage.unit import UnitFactory
from tests.fixtures import asleep, cheap_passwords, proofs
from tests.fixtures.debian_servers import postgres_tools, redis_server
from tests.fixtures.engines import KeptEngines
from tests.fixtures.lab import Lab
from tests.fixtures.s3_server import S3Server

# What a command prints is read from its output: the log of a server in the same process keeps out of it.
structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))


pytest_addoption = proofs.add_options
pytest_configure = proofs.configure
is_awake = pytest.fixture(autouse=True)(asleep.is_awake)
cheap_hashes = pytest.fixture(scope="session", autouse=True)(cheap_passwords.cheap_hashes)
real_hashes = pytest.fixture(cheap_passwords.real_hashes)


def pytest_report_header() -> list[str]:
    return list(proofs.header())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    proofs.select(config, items)


def pytest_runtest_setup(item: pytest.Item) -> None:
    proofs.keep_to_time(item)


@pytest.fixture(scope="session")
def supervisor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supervisor]:
    with Supervisor(tmp_path_factory.mktemp("servers")) as running:
        yield running


@pytest.fixture(scope="session")
def server_url(supervisor: Supervisor) -> str:
    return os.environ.get("DOWNLINK_DATABASE_URL") or start_postgres(
        supervisor, supervisor.home / "postgres", tools=postgres_tools()
    )


@pytest.fixture(scope="session")
def redis_url(supervisor: Supervisor) -> str:
    return os.environ.get("DOWNLINK_REDIS_URL") or start_valkey(
        supervisor, supervisor.home / "valkey", server=redis_server()
    )


@pytest.fixture(scope="session")
def database_url(server_url: str, worker_id: str) -> Iterator[str]:
    """A database of this test process alone, its tables made by the migrations."""
    name = f"downlink_test_{worker_id}_{os.getpid()}"
    engine = create_engine(server_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
        connection.execute(text(f'ALTER DATABASE "{name}" SET synchronous_commit = off'))  # nothing here must survive
    url = make_url(server_url).set(database=name).render_as_string(hide_password=False)
    upgrade(Settings(database_url=SecretStr(url)))
    yield url
    with engine.connect() as connection:
        connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    engine.dispose()


@pytest.fixture(scope="session")
def worker_id(request: pytest.FixtureRequest) -> str:
    """As pytest-xdist names the process; one name when it is not in use."""
    return getattr(request.config, "workerinput", {}).get("workerid", "main")


EMPTIED = "; ".join(str(table.delete()) for table in reversed(Table.metadata.sorted_tables))


@pytest.fixture(scope="session")
def kept(database_url: str) -> Iterator[KeptEngines]:
    """The engines of this process's database, for tests and for every application that they make."""
    engines = KeptEngines(database_url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(downlink.api.app, "open_units", engines.open)
        yield engines
    engines.close()


@pytest.fixture
def units(kept: KeptEngines, database_url: str) -> Iterator[UnitFactory]:
    """Units on an empty database."""
    opened = kept.open(database_url, 8)
    with opened.engine.begin() as connection:
        # One message for all of them, and faster than TRUNCATE for a few rows.
        connection.execute(text(EMPTIED))
        # Numbered rows begin at 1 again: recorded answers hold their numbers.
        connection.execute(text("SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'"))
    yield opened
    opened.close()


@pytest.fixture
def settings(database_url: str, redis_url: str, tmp_path: Path) -> Settings:
    return Settings(
        database_url=SecretStr(database_url),
        redis_url=SecretStr(redis_url),
        base_url="http://testserver",
        dashboard_dir=_dashboard(tmp_path),
    )


def _dashboard(folder: Path) -> Path:
    (folder / "assets").mkdir()
    (folder / "index.html").write_text("<!doctype html><title>Downlink</title>")
    (folder / "assets" / "app-1a2b.js").write_text("export {}")
    return folder


@pytest.fixture
def lab(units: UnitFactory, settings: Settings) -> Iterator[Lab]:
    with Lab(settings, units) as opened:
        yield opened


@pytest.fixture
def s3(tmp_path: Path) -> Iterator[S3Server]:
    """A real store of objects, empty."""
    with Supervisor(tmp_path / "s3") as supervisor:
        server = S3Server(supervisor, tmp_path)
        server.start()
        yield server
