"""The server's reports about itself."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from downlink.api.schemas.base import Shape


class Disk(Shape):
    folder: str
    free_bytes: int | None = Field(description="Null where it cannot be read")
    total_bytes: int
    least_bytes: int = Field(description="With less than this free nothing more is accepted")


class Room(Shape):
    """The free space that DOWNLINK_DISKS and DOWNLINK_DATABASE_MOST_GIB have watched."""

    disks: list[Disk]
    database_bytes: int | None = Field(description="Null where its size is not bounded")
    database_most_bytes: int | None
    reason: str | None = Field(
        description="Why samples and imports are refused (507) until there is room; null: they are accepted"
    )


class Service(Shape):
    """is_conducting: due runs are started and deadlines watched. ticked_at: when that was done last."""

    is_conducting: bool
    ticked_at: datetime | None
    room: Room
