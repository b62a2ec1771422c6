"""Slow-start exits: of a run with the curves behind them, and summed up over a campaign."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

from downlink.analysis import ANALYSIS_VERSION
from downlink.analysis.exits.capacity import Basis
from downlink.analysis.exits.flow import (
    PlottedCurves,
    PlottedPairs,
    PlottedWindow,
    plot_curves,
    plot_packet_pairs,
    plot_window,
)
from downlink.analysis.exits.outcomes import Interval, Reached, TableRow, Timing, shares, table_row
from downlink.analysis.exits.sliding import ExitTimes
from downlink.analysis.exits.verdict import DetectorId
from downlink.domain.errors import InvalidError
from downlink.judging.exits import CAPACITY, TIMES
from downlink.judging.traces import open_flow
from downlink.storage.results import judgement_store
from downlink.storage.runs import run_store
from downlink.storage.tables import Exit, Run, RunFlow, SlowStart
from downlink.storage.unit import Unit
from downlink.views.results.flows import Flows, Group, complete_flows, run_ids
from downlink.views.traces.traces import refuse_backward

ENDLESS_US = 2**62
Span = tuple[int, int, int]
Plots = tuple[PlottedCurves | None, PlottedWindow | None, list[PlottedPairs] | None]
Members = Sequence[tuple[SlowStart, Sequence[Exit]]]


@dataclass(frozen=True)
class VerdictShown:
    detector: str
    version: str
    detect: int | None
    exit_us: int | None
    cwnd_segments: int | None
    cwnd_source: str | None
    parameters: dict[str, Any]
    reason: str
    quantities: dict[str, Any]
    is_decidable: bool
    timing: str | None
    is_too_late: bool


@dataclass(frozen=True)
class CapacityShown:
    capacity_us: int | None
    capacity_basis: str
    capacity_rate_bps: float | None
    least_rtt_us: int


@dataclass(frozen=True)
class TimesShown:
    cg_us: int | None
    ex_us: int | None
    dp_us: int | None
    hr_us: int | None
    is_success: bool


@dataclass(frozen=True)
class FlowExits:
    """One flow. curves, window, packet_pairs: for a plot, null where its trace has none."""

    flow: int
    cc: str
    first_byte_us: int
    origin_us: int | None
    refusal: str | None
    analysis_version: str
    is_current: bool
    stayed_in_slow_start: bool | None
    capacity: CapacityShown | None
    times: TimesShown | None
    verdicts: list[VerdictShown]
    curves: PlottedCurves | None
    window: PlottedWindow | None
    packet_pairs: list[PlottedPairs] | None


@dataclass(frozen=True)
class RunExits:
    run_id: UUID
    link: str
    condition: str
    state: str
    flows: list[FlowExits]


@dataclass(frozen=True)
class DetectorExits:
    """One detector over the runs of a group. exits_s: rising."""

    detector: str
    version: str
    detect: int | None
    decidable: int
    undecidable: int
    exits_s: list[float]
    shares: dict[str, Interval] | None


@dataclass(frozen=True)
class GroupExits:
    """outdated: runs that an older analysis judged. bases: runs by what their capacity point was judged by."""

    link: str
    condition: str
    flow: int
    cc: str
    runs: int
    outdated: int
    left_early: int
    bases: dict[str, int]
    table: TableRow | None
    detectors: list[DetectorExits]


@dataclass(frozen=True)
class CampaignExits:
    campaign_id: UUID
    groups: list[GroupExits]


def run_exits(unit: Unit, run_id: UUID, from_s: float, to_s: float | None, points: int) -> RunExits:
    """A run's verdicts, flow by flow, with its curves between two times after each flow's first data byte."""
    run = run_store.get_run(unit, run_id)
    span = (round(from_s * 1e6), ENDLESS_US if to_s is None else round(to_s * 1e6), points)
    refuse_backward(span[0], span[1])
    found = {
        flow: list(rows) for flow, rows in groupby(judgement_store.rows(unit, Exit, [run_id]), key=lambda row: row.flow)
    }
    started = {row.flow: row for row in judgement_store.rows(unit, SlowStart, [run_id])}
    flows = [
        _flow(unit, run, flow, started[flow.flow], found.get(flow.flow, ()), span)
        for flow in run_store.flows_of(unit, run_id)
        if flow.flow in started
    ]
    return RunExits(run_id, run.link, run.condition, run.state, flows)


def campaign_exits(unit: Unit, campaign_id: UUID, flows: Flows | None = None) -> CampaignExits:
    """Table I and the detectors' exits over the complete runs, for each flow of each condition on each link.

    flows: the campaign's, where they were read just now.
    """
    flows = complete_flows(unit, [campaign_id]) if flows is None else flows
    ids = run_ids(flows)
    started = {(row.run_id, row.flow): row for row in judgement_store.rows(unit, SlowStart, ids)}
    found = groupby(
        judgement_store.rows(unit, Exit, ids, ("reason", "quantities")), key=lambda row: (row.run_id, row.flow)
    )
    verdicts = {key: list(rows) for key, rows in found}
    groups = []
    for group, members in flows.items():
        keys = [(run.id, flow.flow) for run, flow in members if (run.id, flow.flow) in started]
        if keys:
            groups.append(_group(group, [(started[key], verdicts.get(key, [])) for key in keys]))
    return CampaignExits(campaign_id, groups)


def _flow(unit: Unit, run: Run, flow: RunFlow, started: SlowStart, verdicts: Iterable[Exit], span: Span) -> FlowExits:
    trace = open_flow(unit, run, flow)
    plots: Plots = (None, None, None)
    with suppress(InvalidError):
        acks = trace.acks
        plots = (plot_curves(acks, *span), plot_window(acks, *span), plot_packet_pairs(acks))
    return FlowExits(
        flow.flow,
        flow.cc,
        trace.first_byte_us,
        started.origin_us,
        started.refusal,
        started.analysis_version,
        started.analysis_version == ANALYSIS_VERSION,
        started.stayed_in_slow_start,
        None if started.capacity_basis is None else CapacityShown(*_values(started, CAPACITY)),
        None if started.is_success is None else TimesShown(*_values(started, TIMES)),
        [_verdict(verdict) for verdict in verdicts],
        *plots,
    )


def _values(row: SlowStart, names: Iterable[str]) -> Iterator[Any]:
    return (getattr(row, name) for name in names)


def _verdict(row: Exit) -> VerdictShown:
    return VerdictShown(
        *_identity(row),
        row.exit_us,
        row.cwnd_segments,
        row.cwnd_source,
        row.parameters,
        row.reason,
        row.quantities,
        row.is_decidable,
        row.timing,
        bool(row.is_too_late),
    )


def _identity(verdict: Exit) -> DetectorId:
    return DetectorId.of(verdict.detector, verdict.version, verdict.parameters)


def _group(group: Group, members: Members) -> GroupExits:
    started = [row for row, _ in members]
    by_detector: dict[DetectorId, list[Exit]] = {}
    for verdict in sorted((verdict for _, verdicts in members for verdict in verdicts), key=lambda each: each.place):
        by_detector.setdefault(_identity(verdict), []).append(verdict)
    return GroupExits(
        group.link,
        group.condition,
        group.flow,
        group.cc,
        len(members),
        sum(row.analysis_version != ANALYSIS_VERSION for row in started),
        sum(row.stayed_in_slow_start is False for row in started),
        {basis.value: n for basis in Basis if (n := sum(row.capacity_basis == basis for row in started))},
        _table(started),
        [_detector(identity, verdicts) for identity, verdicts in by_detector.items()],
    )


def _table(started: Sequence[SlowStart]) -> TableRow | None:
    """Table I over the flows that were in slow start until their loss, as far as their traces say."""
    held = [row for row in started if row.is_success is not None and row.stayed_in_slow_start is not False]
    reached = [
        Reached(ExitTimes(row.cg_us, row.ex_us, row.dp_us), row.capacity_us, row.mean_error_ratio) for row in held
    ]
    return table_row(reached) if reached else None


def _detector(identity: DetectorId, verdicts: Sequence[Exit]) -> DetectorExits:
    timings = [Timing(verdict.timing) for verdict in verdicts if verdict.timing is not None]
    return DetectorExits(
        *identity,
        sum(verdict.is_decidable for verdict in verdicts),
        sum(not verdict.is_decidable for verdict in verdicts),
        sorted(verdict.exit_us / 1e6 for verdict in verdicts if verdict.exit_us is not None),
        {timing.value: share for timing, share in shares(timings).items()} if timings else None,
    )
