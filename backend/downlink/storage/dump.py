"""The whole database as a file, by PostgreSQL's own programs, and from such a file into an empty database."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit
from uuid import UUID

from sqlalchemy import delete, func, select, text, update

from downlink.domain.errors import UnavailableError
from downlink.storage.kept import place
from downlink.storage.tables import Chunk, TraceFolder
from downlink.storage.unit import Unit, UnitFactory

FORMAT = ("--format=custom", "--no-owner", "--no-privileges")


@contextmanager
def one_moment(units: UnitFactory) -> Iterator[tuple[Unit, str]]:
    """A unit that sees one moment of the database, and the name by which a dump sees the same."""
    with units(is_read_only=True) as unit:
        unit.session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        yield unit, str(unit.session.scalar(select(func.pg_export_snapshot())))


def dump(url: str, snapshot: str, into: Path, tools: Path | None) -> None:
    """Write the database of this SQLAlchemy URL into a file of pg_dump's custom format. tools: folder of its programs."""
    _run("pg_dump", url, [*FORMAT, f"--snapshot={snapshot}", f"--file={into}"], [], tools)


def load(url: str, file: Path, tools: Path | None) -> None:
    """All of a dump in one transaction, or nothing."""
    options = ["--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error"]
    _run("pg_restore", url, options, [str(file)], tools)


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
    return [(folder, str(place(None, url, named))) for folder, url, *named in unit.session.execute(query)]


def move_folders(unit: Unit, root: str) -> None:
    """The rows' folders are below another root. The record of folders that no row names goes: they are the other server's to remove."""
    named = select(Chunk.folder_id).where(Chunk.folder_id.is_not(None))
    unit.session.execute(delete(TraceFolder).where(TraceFolder.id.not_in(named)))
    unit.session.execute(update(TraceFolder).values(url=func.concat(root, "/", TraceFolder.id)))


def _run(program: str, url: str, options: Sequence[str], rest: Sequence[str], tools: Path | None) -> None:
    """The password goes by the environment: a command line is seen by others."""
    parts = urlsplit(url.replace("postgresql+psycopg://", "postgresql://", 1))
    user, has_place, place_of = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    address = parts._replace(netloc=f"{name}@{place_of}" if has_place else place_of).geturl()
    env = os.environ | ({"PGPASSWORD": unquote(password)} if password else {})
    command = [str(tools / program) if tools else program, *options, f"--dbname={address}", *rest]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        message = f"{command[0]} is not installed: install PostgreSQL's client programs, of the server's version."
        raise UnavailableError("not_installed", message) from error
    if done.returncode != 0:
        raise UnavailableError("dump_failed", f"{program} failed: {done.stderr.strip()[:1000]}")
