"""Everything that a server keeps, copied into a folder, and back into an empty database.

`database.dump` is PostgreSQL's, `traces/FOLDER/…` are the objects of the trace store, and `manifest.json` has the checksums of
both. A folder gets its name when all of it is written: one without a manifest is no backup.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from uuid import UUID

from downlink.domain.errors import ConflictError, InvalidError, NotFoundError
from downlink.storage import dump
from downlink.storage.migrate import COMMIT_BETWEEN, is_replaced, knows
from downlink.storage.traces.objects import Folder
from downlink.storage.unit import UnitFactory

KIND = "downlink backup 1"
MANIFEST, DATABASE, TRACES = "manifest.json", "database.dump", "traces"


@dataclass(frozen=True, slots=True)
class Backup:
    """The manifest of a backup. migration: of its tables. sha256: by path within the folder. lost: objects that rows name and the
    store did not have."""

    made_at: str
    migration: str
    database_bytes: int
    sha256: Mapping[str, str]
    lost: tuple[str, ...] = ()
    kind: str = field(default=KIND)

    @property
    def objects(self) -> int:
        return len(self.sha256) - 1


def back_up(units: UnitFactory, url: str, into: Path, now: datetime, tools: Path | None = None) -> Backup:
    """Copy one moment of the database, and then the objects that its rows name. url: of the database.

    ConflictError where the folder exists, InvalidError where it cannot be written. What a failed copy wrote is removed. An object
    that goes meanwhile, with its campaign, is in `lost`.
    """
    try:
        if into.exists():
            raise ConflictError("backup_exists", f"{into} exists already; name a new folder.")
        with _whole(into) as folder:
            return _copy(units, url, folder, now, tools)
    except OSError as error:
        message = f"{into} cannot be written: {error.strerror}. Name a folder where you may write, on a disk with room."
        raise InvalidError("backup_unwritable", message) from error


@contextmanager
def _whole(into: Path) -> Iterator[Path]:
    """A folder beside it, only the owner's, that takes its name once all is written; on a failure nothing is left."""
    new = [each for each in into.parents if not each.exists()]
    beside: Path | None = None
    try:
        into.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{into.name}-", dir=into.parent))
        yield beside
        beside.rename(into)
    except BaseException:
        if beside:
            shutil.rmtree(beside, ignore_errors=True)
        with suppress(OSError):
            for each in new:
                each.rmdir()
        raise


def _copy(units: UnitFactory, url: str, into: Path, now: datetime, tools: Path | None) -> Backup:
    with dump.one_moment(units) as (unit, snapshot):
        dump.dump(url, snapshot, into / DATABASE, tools)
        migration, named = dump.migration(unit), dump.objects(unit)
    sums, lost = {DATABASE: _sum(into / DATABASE)}, []
    for folder, position in named:
        path = f"{TRACES}/{folder}/{position.partition(f'{folder}/')[2]}"
        try:
            content = next(units.store.contents([position]))
        except NotFoundError:
            lost.append(position)
            continue
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        (into / path).write_bytes(content)
        sums[path] = hashlib.sha256(content).hexdigest()
    made = Backup(now.isoformat(), migration, (into / DATABASE).stat().st_size, sums, tuple(lost))
    (into / MANIFEST).write_text(json.dumps(asdict(made), indent=1))
    return made


def restore_backup(units: UnitFactory, url: str, folder: Path, tools: Path | None = None) -> Backup:
    """Put a backup into an empty database, and its objects where this server keeps traces.

    Everything is checked first. InvalidError for a folder that is no whole backup or is of a later or an unreleased version,
    ConflictError for a database that has tables.
    """
    backup = _read(folder)
    with units(is_read_only=True) as unit:
        if not dump.is_empty(unit):
            message = "This database has tables already; name an empty one with DOWNLINK_DATABASE_URL."
            raise ConflictError("database_not_empty", message)
    if backup.objects and units.store.root is None:
        message = "This backup has objects of a trace store: set DOWNLINK_TRACE_STORE to where they are to be kept."
        raise InvalidError("trace_store_needed", message)
    for opened, name, content in _objects(units, folder, backup):
        opened.put(name, content)
    dump.load(url, folder / DATABASE, tools)
    if units.store.root is not None:
        with units() as unit:
            dump.move_folders(unit, units.store.root)
    return backup


def _objects(units: UnitFactory, folder: Path, backup: Backup) -> Iterator[tuple[Folder, str, bytes]]:
    """Each with the folder of the store that it goes to, which is finished before the next one."""
    opened: Folder | None = None
    for path in sorted(each for each in backup.sha256 if each != DATABASE):
        _, name_of, name = path.split("/", 2)
        if opened is None or str(opened.id) != name_of:
            if opened:
                opened.finish()
            opened = Folder(units.store, UUID(name_of), f"{units.store.root}/{name_of}")
        yield opened, name, (folder / path).read_bytes()
    if opened:
        opened.finish()


def _read(folder: Path) -> Backup:
    """A whole backup that this version can take."""
    try:
        backup = Backup(**json.loads((folder / MANIFEST).read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise InvalidError("backup_broken", f"{folder} is no whole backup: {MANIFEST} cannot be read.") from error
    if is_replaced(backup.migration):
        message = (
            f"{folder} was made by an unreleased version. Check out commit {COMMIT_BETWEEN} of Downlink and restore it there; "
            "this version takes over the database."
        )
        raise InvalidError("backup_unreleased", message)
    if backup.kind != KIND or not knows(backup.migration):
        message = f"{folder} was made by a later version; install that one, or a later one, to restore it."
        raise InvalidError("backup_too_new", message)
    for path, wanted in backup.sha256.items():
        if not (folder / path).is_file() or _sum(folder / path) != wanted:
            raise InvalidError("backup_broken", f"{folder}/{path} is not as it was written; take another copy.")
    return backup


def _sum(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
