"""Sweeps with how far they are and what came out, and what can be swept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from downlink.analysis.exits.outcomes import ExitEstimate
from downlink.analysis.exits.sweep import SWEEPABLE
from downlink.analysis.exits.sweep_parameters import SweptParameter, sweepable
from downlink.domain.doc import Doc
from downlink.domain.moment import Moment
from downlink.storage import tables
from downlink.storage.campaigns import campaign_store
from downlink.storage.results import sweep_store
from downlink.storage.unit import Unit
from downlink.views.results.exits import TimingShares

SweepStateName = Literal["queued", "running", "complete", "failed"]


@dataclass(frozen=True)
class SweptDetector:
    detector: str
    version: str
    parameters: list[SweptParameter]


@dataclass(frozen=True)
class SweepCell:
    """One parameter set over all traces."""

    parameters: dict[str, float]
    n: Annotated[int, Doc("Traces on which this set could decide")]
    shares: Annotated[
        TimingShares | None, Doc("Of these traces; good: from capacity on and before the first loss; null for none")
    ]
    headroom_s: Annotated[float | None, Doc("Median time from a good exit to the first loss")]


@dataclass(frozen=True)
class Sweep:
    id: UUID
    campaign_id: UUID
    detector: str
    version: str
    grid: dict[str, list[float]]
    state: SweepStateName
    reason: Annotated[str | None, Doc("Why it failed")]
    created_at: Moment
    ended_at: Moment | None
    cells: Annotated[list[SweepCell] | None, Doc("null until complete")]
    done: int
    total: Annotated[int, Doc("Traces")]


@dataclass(frozen=True)
class SweepList:
    items: list[Sweep]
    total: int


def what_can_be_swept() -> list[SweptDetector]:
    """Every detector and version with its parameters."""
    return [SweptDetector(*names, list(sweepable(parameters))) for names, parameters in SWEEPABLE.items()]


def one_sweep(unit: Unit, sweep_id: UUID) -> Sweep:
    """NotFoundError when there is none."""
    return _shown(unit, [sweep_store.get_sweep(unit, sweep_id)])[0]


def list_sweeps(unit: Unit, campaign_id: UUID, limit: int, offset: int) -> SweepList:
    """Newest first, and how many there are in all."""
    campaign_store.find_campaign(unit, campaign_id)
    sweeps, total = sweep_store.list_sweeps(unit, campaign_id, limit, offset)
    return SweepList(_shown(unit, sweeps), total)


def _shown(unit: Unit, sweeps: Sequence[tables.Sweep]) -> list[Sweep]:
    counts = sweep_store.progress(unit, [each.id for each in sweeps])
    return [_one(each, *counts.get(each.id, (0, 0))) for each in sweeps]


def _one(row: tables.Sweep, done: int, total: int) -> Sweep:
    asked = (row.id, row.campaign_id, row.detector, row.version, row.grid)
    cells = None if row.cells is None else [_cell(**each) for each in row.cells]
    return Sweep(*asked, cast(SweepStateName, row.state), row.reason, row.created_at, row.ended_at, cells, done, total)


def _cell(shares: Mapping[str, Any] | None, **own: Any) -> SweepCell:
    """Return a cell from its stored form: shares by timing."""
    by_timing = (
        None if shares is None else TimingShares(**{timing: ExitEstimate(**share) for timing, share in shares.items()})
    )
    return SweepCell(shares=by_timing, **own)
