"""The whole database as a file, by PostgreSQL's own programs, and from such a file into an empty database."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import unquote, urlsplit
from uuid import UUID

from sqlalchemy import delete, func, select, text, update

from downlink.domain.errors import UnavailableError
from downlink.storage.tables import Chunk, TraceFolder
from downlink.storage.traces.part_store import location
from downlink.storage.unit import Unit, UnitFactory

FORMAT = ("--format=custom", "--no-owner", "--no-privileges")
TIMEOUT = b"SET transaction_timeout = 0;\n"  # unknown to servers before PostgreSQL 17


@contextmanager
def one_moment(units: UnitFactory) -> Iterator[tuple[Unit, str]]:
    """A unit that sees one moment of the database, and the snapshot's name, with which a dump sees the same."""
    with units(is_read_only=True) as unit:
        unit.session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        yield unit, str(unit.session.scalar(select(func.pg_export_snapshot())))


@dataclass(frozen=True, slots=True)
class Program:
    """One of PostgreSQL's programs under way. said: a file with its messages, so that it never waits for a reader."""

    name: str
    process: subprocess.Popen[bytes]
    said: IO[bytes]

    def check(self) -> None:
        """Wait for its end. UnavailableError, with what it said, unless that is a success."""
        if self.process.wait() != 0:
            self.said.seek(0)
            said = self.said.read(1000).decode(errors="replace").strip()
            raise UnavailableError("dump_failed", f"{self.name} failed: {said}")


def dump(url: str, snapshot: str, into: Path, tools: Path | None) -> None:
    """Write the database of this SQLAlchemy URL into a file of pg_dump's custom format. tools: folder of its programs."""
    address, env = _address(url)
    options = [*FORMAT, f"--snapshot={snapshot}", f"--file={into}", f"--dbname={address}"]
    with _started("pg_dump", options, tools, env=env) as dumping:
        dumping.check()


def load(url: str, file: Path, tools: Path | None) -> None:
    """All of a dump in one transaction, or nothing, with a log of events that readers here can go on from.

    By a script and psql: pg_restore cannot leave out the setting that servers before its version refuse.
    """
    address, env = _address(url)
    script = ["--no-owner", "--no-privileges", "--file=-", str(file)]
    psql = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null", f"--dbname={address}"]
    with (
        _started("pg_restore", script, tools, stdout=subprocess.PIPE) as restoring,
        _started("psql", psql, tools, env=env, stdin=subprocess.PIPE) as loading,
    ):
        with suppress(BrokenPipeError):  # psql ended with an error, which is read below
            _feed(restoring, loading)
        loading.check()


def _feed(restoring: Program, loading: Program) -> None:
    """The script, to be committed only when it is whole: psql rolls back what ends without COMMIT."""
    with cast("IO[bytes]", restoring.process.stdout) as script, cast("IO[bytes]", loading.process.stdin) as into:
        into.write(b"BEGIN;\n")
        for line in script:
            if line != TIMEOUT:
                into.write(line)
            if line.startswith(b"CREATE"):  # the settings are above it
                break
        shutil.copyfileobj(script, into, 1 << 20)
        restoring.check()
        into.write(b"COMMIT;\n")


def migration(unit: Unit) -> str:
    """The revision that the tables have."""
    return str(unit.session.scalar(text("SELECT version_num FROM alembic_version")))


def is_empty(unit: Unit) -> bool:
    tables = text(
        "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    )
    return bool(unit.session.scalar(tables) == 0)


def objects(unit: Unit) -> list[tuple[UUID, str]]:
    """Folder and URL of each object that a row names."""
    part = (Chunk.run_id, Chunk.flow, Chunk.point, Chunk.sequence)
    query = (
        select(TraceFolder.id, TraceFolder.url, *part).join(Chunk, Chunk.folder_id == TraceFolder.id).order_by(*part)
    )
    return [(folder, str(location(None, url, named))) for folder, url, *named in unit.session.execute(query)]


def move_folders(unit: Unit, root: str) -> None:
    """The rows' folders are below another root. The record of folders that no row names goes: they are the other server's to remove."""
    named = select(Chunk.folder_id).where(Chunk.folder_id.is_not(None))
    unit.session.execute(delete(TraceFolder).where(TraceFolder.id.not_in(named)))
    unit.session.execute(update(TraceFolder).values(url=func.concat(root, "/", TraceFolder.id)))


def _address(url: str) -> tuple[str, dict[str, str]]:
    """The database's address for PostgreSQL's programs, and their environment.

    The password goes by the environment: a command line is seen by others.
    """
    parts = urlsplit(url.replace("postgresql+psycopg://", "postgresql://", 1))
    user, has_place, place_of = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    address = parts._replace(netloc=f"{name}@{place_of}" if has_place else place_of).geturl()
    return address, os.environ | ({"PGPASSWORD": unquote(password)} if password else {})


@contextmanager
def _started(name: str, options: Sequence[str], tools: Path | None, **kwargs: Any) -> Iterator[Program]:
    """Start a program, which ends with the block at the latest."""
    command = [str(tools / name) if tools else name, *options]
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(command, stderr=said, **kwargs)
        except FileNotFoundError as error:
            message = f"{command[0]} is not installed: install PostgreSQL's client programs, of the server's version."
            raise UnavailableError("not_installed", message) from error
        try:
            yield Program(name, process, said)
        finally:
            process.kill()
            process.wait()
