"""The disk guard: nothing more is accepted before a disk of the server, or the database's, is full."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import structlog
from fastapi import Request

from downlink.domain.errors import UnavailableError
from downlink.process.settings import Settings
from downlink.storage.server_counts import database_bytes
from downlink.storage.unit import UnitFactory

LOOK_EVERY_S = 5.0
"""Time in which all agents together upload some hundred megabytes: less than is kept free."""
RETRY_S = 60
MIB, GIB = 2**20, 2**30
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Disk:
    """folder: on it. least_bytes: that stay free. None free: it cannot be read."""

    folder: str
    free_bytes: int | None
    total_bytes: int
    least_bytes: int

    @property
    def is_short(self) -> bool:
        return self.free_bytes is None or self.free_bytes < self.least_bytes


@dataclass(frozen=True, slots=True)
class RoomFound:
    """reason: why nothing is accepted; None: there is room. database_bytes: None where its size is not bounded."""

    disks: tuple[Disk, ...] = ()
    database_bytes: int | None = None
    database_most_bytes: int | None = None
    reason: str | None = None


class Room:
    """The free space, measured every few seconds at most. Safe to use from several threads."""

    def __init__(self, settings: Settings, units: UnitFactory, clock: Callable[[], float] = time.monotonic) -> None:
        self._folders = settings.disk_folders
        self._least_bytes = settings.least_free_mib * MIB
        self._most_bytes = settings.database_most_gib and settings.database_most_gib * GIB
        self._units = units
        self._clock = clock
        self._lock = Lock()
        self._found = RoomFound()
        self._until = -1.0

    def look(self) -> RoomFound:
        with self._lock:
            if self._clock() >= self._until:
                before, self._found = self._found, self._read()
                self._until = self._clock() + LOOK_EVERY_S
                if (before.reason is None) != (self._found.reason is None):
                    log.warning("room_changed", is_accepting=self._found.reason is None, reason=self._found.reason)
            return self._found

    def check(self) -> None:
        """UnavailableError `disk_full` where nothing more is accepted; what is sent may be sent again later."""
        if reason := self.look().reason:
            message = f"The server accepts nothing more: {reason}. Keep it and send it again later."
            raise UnavailableError("disk_full", message, {"retry_after_s": RETRY_S})

    def _read(self) -> RoomFound:
        disks = tuple(_disk(folder, self._least_bytes) for folder in self._folders)
        size = self._database_bytes()
        return RoomFound(disks, size, self._most_bytes, next(_reasons(disks, size, self._most_bytes), None))

    def _database_bytes(self) -> int | None:
        """Return the last known size if the database does not answer: it refuses by itself then."""
        if self._most_bytes is None:
            return None
        try:
            with self._units(is_read_only=True) as unit:
                return database_bytes(unit)
        except UnavailableError:
            return self._found.database_bytes


def _disk(folder: Path, least_bytes: int) -> Disk:
    try:
        volume = os.statvfs(folder)
    except OSError:
        return Disk(str(folder), None, 0, least_bytes)
    return Disk(str(folder), volume.f_bavail * volume.f_frsize, volume.f_blocks * volume.f_frsize, least_bytes)


def _reasons(disks: tuple[Disk, ...], size: int | None, most: int | None) -> Iterator[str]:
    for disk in disks:
        if disk.free_bytes is None:
            yield f"the disk of {disk.folder} cannot be read"
        elif disk.is_short:
            yield f"{disk.free_bytes // MIB} MiB are free at {disk.folder}, and {disk.least_bytes // MIB} are to stay free"
    if size is not None and most is not None and size >= most:
        yield f"the database has {size / GIB:.1f} GiB, and {most / GIB:.1f} are allowed"


def room_of(request: Request) -> Room:
    room: Room = request.app.state.room
    return room
