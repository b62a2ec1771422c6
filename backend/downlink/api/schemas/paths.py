"""Paths over satellites."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Body, Moment, Name, Shape


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


class PathSpread(Shape):
    least: float
    median: float
    most: float


class PathSummary(Shape):
    """delay_ms: one way, each second. rate_bps and loss_ratio: of the hops with the ground. null: there is no path at all."""

    delay_ms: PathSpread | None
    hops: PathSpread | None
    rate_bps: PathSpread | None
    loss_ratio: PathSpread | None
    path_changes: int
    changes_per_minute: float
    ground_changes_per_minute: float
    unreachable_s: float


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


class PathPoint(Shape):
    at_us: int
    delay_ms: float | None = Field(description="One way; null where there is no path")
    hops: int


class PathStay(Shape):
    """A path between two changes; hops is 0 where there is none."""

    from_us: int
    to_us: int
    hops: int


class PathPlace(Shape):
    """A station, or the point below a satellite by geocentric latitude."""

    node: int = Field(description="Satellite from 0, station -1 and below")
    name: str | None = Field(description="Of a station")
    latitude_deg: float
    longitude_deg: float
    height_km: float


class PathWindow(Shape):
    """A stretch of a path, for a drawing: points are evenly spaced, places those of the path at `at_us` in its order."""

    from_us: int
    to_us: int
    at_us: int
    points: list[PathPoint]
    stays: list[PathStay]
    places: list[PathPlace]
