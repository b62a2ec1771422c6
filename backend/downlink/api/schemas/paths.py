"""Paths over satellites."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Body, Name, Shape
from downlink.constellation.summary import PathSummary
from downlink.domain.moment import Moment


class PathBody(Body):
    """A ready-made path of some length."""

    ready: Name = Field(description="Name of a ready-made path: `GET /paths/ready`")
    hours: float = Field(default=24, ge=0.01, le=24, description="Length of the trace")


class ReadyPath(Shape):
    """List the built-in paths."""

    name: str
    what: str
    constellation: str = Field(description="Its code (docs/paths.md)")
    stations: list[str]
    least_elevation_deg: float


class SatellitePath(Shape):
    """A path that was asked for on this server."""

    id: UUID
    ready: str
    duration_us: int
    state: Literal["queued", "making", "ready", "failed"]
    reason: str | None = Field(description="Why it failed")
    done_us: int = Field(description="How much of the trace has its routes")
    created_at: Moment
    ended_at: Moment | None
    size_bytes: int | None
    header: dict[str, Any] | None = Field(
        description="Every number it was made with (docs/paths.md section 2.1), once ready"
    )
    summary: PathSummary | None


class SatellitePathList(Shape):
    items: list[SatellitePath]
    total: int
