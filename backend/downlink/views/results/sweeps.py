"""Sweeps with how far they are and what came out, and what can be swept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from downlink.analysis.exits.sweep import SWEEPABLE
from downlink.analysis.exits.sweep_parameters import Sweepable, sweepable
from downlink.storage.campaigns import campaign_store
from downlink.storage.results import sweep_store
from downlink.storage.tables import Sweep
from downlink.storage.unit import Unit


@dataclass(frozen=True)
class SweptDetector:
    detector: str
    version: str
    parameters: list[Sweepable]


@dataclass(frozen=True)
class SweepShown:
    """grid: parameter to values. cells: as stored, None until complete. done, total: traces."""

    id: UUID
    campaign_id: UUID
    detector: str
    version: str
    grid: dict[str, Any]
    state: str
    reason: str | None
    created_at: datetime
    ended_at: datetime | None
    cells: list[Any] | None
    done: int
    total: int


def what_can_be_swept() -> list[SweptDetector]:
    """Every detector and version with its parameters."""
    return [SweptDetector(*names, list(sweepable(parameters))) for names, parameters in SWEEPABLE.items()]


def one_sweep(unit: Unit, sweep_id: UUID) -> SweepShown:
    """NotFoundError when there is none."""
    return _shown(unit, [sweep_store.get_sweep(unit, sweep_id)])[0]


def list_sweeps(unit: Unit, campaign_id: UUID, limit: int, offset: int) -> tuple[list[SweepShown], int]:
    """Newest first, and how many there are in all."""
    campaign_store.find_campaign(unit, campaign_id)
    found, total = sweep_store.list_sweeps(unit, campaign_id, limit, offset)
    return _shown(unit, found), total


def _shown(unit: Unit, sweeps: Sequence[Sweep]) -> list[SweepShown]:
    counts = sweep_store.progress(unit, [each.id for each in sweeps])
    return [_one(each, *counts.get(each.id, (0, 0))) for each in sweeps]


def _one(row: Sweep, done: int, total: int) -> SweepShown:
    asked = (row.id, row.campaign_id, row.detector, row.version, row.grid)
    return SweepShown(*asked, row.state, row.reason, row.created_at, row.ended_at, row.cells, done, total)
