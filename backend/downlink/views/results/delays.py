"""Delays of blocks over a campaign's complete runs: pooled, for each flow of each condition on each link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from downlink.analysis.intervals import plain
from downlink.analysis.sketch import Sketch, pool, quantiles
from downlink.codec.sketches import unpack_counts
from downlink.domain.doc import Doc
from downlink.domain.results.blockdelay import KINDS, SENTENCES, DelayKind, Why
from downlink.storage.results import judgement_store
from downlink.storage.tables import FlowDelay
from downlink.storage.unit import Unit
from downlink.views.results.flows import Flows, Group, complete_flows, run_ids

POINTS = 101
SHARES = tuple(place / (POINTS - 1) for place in range(POINTS))
"""Shares of the blocks, from the least to the largest, at which quantiles are given."""


@dataclass(frozen=True)
class LeftOut:
    """Complete runs without a value."""

    why: Why
    sentence: str
    runs: int


@dataclass(frozen=True)
class PooledDelay:
    """One kind of delay over all blocks of the runs that have it. Quantiles are within 0.5 % of the blocks' own, the mean is theirs."""

    kind: DelayKind
    runs: Annotated[int, Doc("Those that have it")]
    n: Annotated[int, Doc("Their blocks of which both ends have a row; of jitter, pairs of seconds in a row")]
    mean_ms: float | None
    p5_ms: float | None
    median_ms: float | None
    p95_ms: float | None
    quantiles_ms: Annotated[list[float], Doc("At each of shares; empty where no run has a value")]
    clock_error_ms: Annotated[
        float | None, Doc("By how much the clocks of both ends may differ, in the worst of these runs; 0 on one host")
    ]
    left_out: list[LeftOut]


@dataclass(frozen=True)
class DelayGroup:
    """One flow of one condition on one link, over its complete runs."""

    link: str
    condition: str
    flow: int
    cc: str
    runs: int
    delays: list[PooledDelay]


@dataclass(frozen=True)
class CampaignDelays:
    campaign_id: UUID
    shares: Annotated[list[float], Doc("Of all blocks, 0 to 1: where quantiles are given")]
    groups: Annotated[list[DelayGroup], Doc("Empty where no run kept a delivery table")]


def campaign_delays(unit: Unit, campaign_id: UUID, flows: Flows | None = None) -> CampaignDelays:
    """Made of each run's sketches: no table is read. flows: the campaign's, where they were read just now."""
    flows = complete_flows(unit, [campaign_id]) if flows is None else flows
    stored = {(row.run_id, row.flow, row.kind): row for row in judgement_store.rows(unit, FlowDelay, run_ids(flows))}
    of_data = {
        group: [(run.id, flow.flow) for run, flow in members]
        for group, members in flows.items()
        if not any(flow.is_probe for _, flow in members)
    }
    groups = [_group(group, members, stored) for group, members in of_data.items()] if stored else []
    return CampaignDelays(campaign_id, list(SHARES), groups)


def _group(group: Group, members: Sequence[tuple[UUID, int]], stored: Mapping[Any, FlowDelay]) -> DelayGroup:
    delays = [_pooled(kind, [stored.get((*member, kind)) for member in members]) for kind in KINDS]
    return DelayGroup(group.link, group.condition, group.flow, group.cc, len(members), delays)


def _pooled(kind: DelayKind, rows: Sequence[FlowDelay | None]) -> PooledDelay:
    known = [(row, Sketch(*unpack_counts(row.sketch))) for row in rows if row is not None and row.sketch is not None]
    whole = pool([counts for _, counts in known])
    # A run's mean is that of its blocks, and its sketch says how many they are: this is the mean of all blocks, not of bins.
    mean_ms = sum((row.mean_ms or 0.0) * counts.total for row, counts in known) / whole.total if known else None
    p5, median, p95 = plain(quantiles(whole, (0.05, 0.5, 0.95)))
    errors = [row.clock_error_ms for row, _ in known if row.clock_error_ms is not None]
    return PooledDelay(
        kind=kind,
        runs=len(known),
        n=sum(row.n for row, _ in known),
        mean_ms=mean_ms,
        p5_ms=p5,
        median_ms=median,
        p95_ms=p95,
        quantiles_ms=quantiles(whole, SHARES).tolist() if known else [],
        clock_error_ms=max(errors, default=None),
        left_out=_left_out(rows),
    )


def _left_out(rows: Sequence[FlowDelay | None]) -> list[LeftOut]:
    reasons = Counter(Why.NO_TABLE if row is None else row.why for row in rows)
    return [LeftOut(why, SENTENCES[why], reasons[why]) for why in Why if why in reasons]
