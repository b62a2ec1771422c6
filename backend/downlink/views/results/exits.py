"""Slow-start exits: of a run with the curves behind them, and summed up over a campaign."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from downlink.analysis import ANALYSIS_VERSION
from downlink.analysis.exits.capacity import Basis
from downlink.analysis.exits.flow import (
    ExitCurves,
    PacketPairs,
    SenderWindow,
    plot_curves,
    plot_packet_pairs,
    plot_window,
)
from downlink.analysis.exits.outcomes import ExitEstimate, Reached, TableOne, Timing, shares, table_row
from downlink.analysis.exits.sliding import ExitTimes as FlowTimes
from downlink.analysis.exits.verdict import DetectorId
from downlink.domain.doc import As, Doc
from downlink.domain.errors import InvalidError
from downlink.domain.runs.run import RunState
from downlink.judging.exits import CAPACITY, TIMES
from downlink.judging.traces import open_flow
from downlink.storage.results import judgement_store
from downlink.storage.runs import run_store
from downlink.storage.tables import Exit, Run, RunFlow, SlowStart
from downlink.storage.unit import Unit
from downlink.views.results.flows import Flows, Group, complete_flows, run_ids
from downlink.views.traces.traces import refuse_backward

CwndSource = Literal["recorded", "modelled"]
ENDLESS_US = 2**62
Span = tuple[int, int, int]
Plots = tuple[ExitCurves | None, SenderWindow | None, list[PacketPairs] | None]
Members = Sequence[tuple[SlowStart, Sequence[Exit]]]


@dataclass(frozen=True)
class TimingShares:
    early: ExitEstimate
    good: ExitEstimate
    late: ExitEstimate
    open: ExitEstimate


@dataclass(frozen=True)
class Verdict:
    """The verdict of one detector on one flow."""

    detector: str
    version: str
    detect: Annotated[int | None, Doc("HyStart's mask: 1 ACK train, 2 delay, 3 both")]
    exit_us: Annotated[int | None, Doc("Microseconds since the flow's first data byte; null when it never fired")]
    cwnd_segments: int | None
    cwnd_source: Annotated[
        CwndSource | None,
        Doc("modelled: the flow itself was no longer in slow start; what slow start would have grown on these ACKs"),
    ]
    parameters: dict[str, Any]
    reason: str
    quantities: dict[str, Any]
    is_decidable: Annotated[bool, Doc("False where the samples are too coarse for this detector")]
    timing: Annotated[Timing | None, Doc("Against capacity and first loss; null where it cannot be said")]
    is_too_late: Annotated[bool, Doc("The exit came at or after the first loss")]


@dataclass(frozen=True)
class Capacity:
    """The moment when slow start had nothing more to gain; exits are judged by it (docs/exits.md, section 2)."""

    capacity_us: Annotated[int | None, Doc("Microseconds since the flow's first data byte; null when never reached")]
    capacity_basis: Annotated[
        Basis,
        Doc("Rate x least RTT in flight, by the link's emulated or nominal rate; or 90 % of the delivery plateau"),
    ]
    capacity_rate_bps: Annotated[float | None, Doc("The link's rate, or the plateau's; null without a plateau")]
    least_rtt_us: int


@dataclass(frozen=True)
class ExitTimes:
    """One flow's times as in Kachooei 2023 (SEARCH), microseconds since its first data byte; null when it never happened
    out of slow start."""

    cg_us: Annotated[int | None, Doc("The capacity point of Kachooei 2023 (SEARCH): norm above 0.10")]
    ex_us: Annotated[int | None, Doc("SEARCH 1.0 leaves slow start")]
    dp_us: Annotated[int | None, Doc("First loss")]
    hr_us: Annotated[int | None, Doc("Headroom: dp - ex")]
    is_success: Annotated[bool, Doc("cg <= ex < dp; without a loss dp is endless")]


@dataclass(frozen=True)
class FlowExits:
    """One flow. Every time counts from its first data byte, which lies at origin_us on the clock of its samples."""

    flow: int
    cc: str | None
    first_byte_us: Annotated[int, Doc("First data byte on the samples' clock: where the series' second 0 begins")]
    origin_us: int | None
    refusal: Annotated[str | None, Doc("Why the trace could not be judged")]
    analysis_version: str
    is_current: Annotated[bool, Doc("False when an older analysis judged the flow")]
    stayed_in_slow_start: Annotated[
        bool | None, Doc("Until the first loss, or the end; null where it is not on record")
    ]
    capacity: Annotated[Capacity | None, Doc("null without an RTT")]
    times: ExitTimes | None
    verdicts: list[Verdict]
    curves: ExitCurves | None
    window: SenderWindow | None
    packet_pairs: Annotated[list[PacketPairs] | None, Doc("Rounds 1 to 5; null where rows are not ACKs")]


@dataclass(frozen=True)
class RunExits:
    run_id: UUID
    link: str
    condition: str
    state: RunState
    flows: Annotated[list[FlowExits], Doc("Those that have been judged")]


@dataclass(frozen=True)
class DetectorExits:
    """One detector over the runs of a group. exits_s holds the exits alone: those decidable that are missing never fired."""

    detector: str
    version: str
    detect: Annotated[int | None, Doc("HyStart's mask: 1 ACK train, 2 delay, 3 both")]
    decidable: int
    undecidable: int
    exits_s: Annotated[list[float], Doc("Rising")]
    shares: TimingShares | None


@dataclass(frozen=True)
class ExitGroup:
    link: str
    condition: str
    flow: int
    cc: str | None
    runs: int
    outdated: Annotated[int, Doc("Runs that an older analysis judged")]
    left_early: Annotated[int, Doc("Runs whose flow left slow start before a loss: not in the table")]
    bases: Annotated[dict[str, int], As(dict[Basis, int]), Doc("Runs by what their capacity point was judged by")]
    table: TableOne | None
    detectors: list[DetectorExits]


@dataclass(frozen=True)
class CampaignExits:
    campaign_id: UUID
    groups: list[ExitGroup]


def run_exits(unit: Unit, run_id: UUID, from_s: float, to_s: float | None, points: int) -> RunExits:
    """A run's verdicts, flow by flow, with its curves between two times after each flow's first data byte."""
    run = run_store.get_run(unit, run_id)
    span = (round(from_s * 1e6), ENDLESS_US if to_s is None else round(to_s * 1e6), points)
    refuse_backward(span[0], span[1])
    exits = {
        flow: list(rows) for flow, rows in groupby(judgement_store.rows(unit, Exit, [run_id]), key=lambda row: row.flow)
    }
    started = {row.flow: row for row in judgement_store.rows(unit, SlowStart, [run_id])}
    flows = [
        _flow(unit, run, flow, started[flow.flow], exits.get(flow.flow, ()), span)
        for flow in run_store.flows_of(unit, run_id)
        if flow.flow in started
    ]
    return RunExits(run_id, run.link, run.condition, RunState(run.state), flows)


def campaign_exits(unit: Unit, campaign_id: UUID, flows: Flows | None = None) -> CampaignExits:
    """Table I and the detectors' exits over the complete runs, for each flow of each condition on each link.

    flows: the campaign's, where they were read just now.
    """
    flows = complete_flows(unit, [campaign_id]) if flows is None else flows
    ids = run_ids(flows)
    started = {(row.run_id, row.flow): row for row in judgement_store.rows(unit, SlowStart, ids)}
    by_group = groupby(
        judgement_store.rows(unit, Exit, ids, ("reason", "quantities")), key=lambda row: (row.run_id, row.flow)
    )
    verdicts = {key: list(rows) for key, rows in by_group}
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
        None if started.capacity_basis is None else Capacity(*_values(started, CAPACITY)),
        None if started.is_success is None else ExitTimes(*_values(started, TIMES)),
        [_verdict(verdict) for verdict in verdicts],
        *plots,
    )


def _values(row: SlowStart, names: Iterable[str]) -> Iterator[Any]:
    return (getattr(row, name) for name in names)


def _verdict(row: Exit) -> Verdict:
    return Verdict(
        *_identity(row),
        row.exit_us,
        row.cwnd_segments,
        cast("CwndSource | None", row.cwnd_source),
        row.parameters,
        row.reason,
        row.quantities,
        row.is_decidable,
        Timing(row.timing) if row.timing else None,
        bool(row.is_too_late),
    )


def _identity(verdict: Exit) -> DetectorId:
    return DetectorId.of(verdict.detector, verdict.version, verdict.parameters)


def _group(group: Group, members: Members) -> ExitGroup:
    started = [row for row, _ in members]
    by_detector: dict[DetectorId, list[Exit]] = {}
    for verdict in sorted((verdict for _, verdicts in members for verdict in verdicts), key=lambda each: each.place):
        by_detector.setdefault(_identity(verdict), []).append(verdict)
    return ExitGroup(
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


def _table(started: Sequence[SlowStart]) -> TableOne | None:
    """Table I over the flows that were in slow start until their loss, as far as their traces say."""
    held = [row for row in started if row.is_success is not None and row.stayed_in_slow_start is not False]
    reached = [
        Reached(FlowTimes(row.cg_us, row.ex_us, row.dp_us), row.capacity_us, row.mean_error_ratio) for row in held
    ]
    return table_row(reached) if reached else None


def _detector(identity: DetectorId, verdicts: Sequence[Exit]) -> DetectorExits:
    timings = [Timing(verdict.timing) for verdict in verdicts if verdict.timing is not None]
    return DetectorExits(
        *identity,
        sum(verdict.is_decidable for verdict in verdicts),
        sum(not verdict.is_decidable for verdict in verdicts),
        sorted(verdict.exit_us / 1e6 for verdict in verdicts if verdict.exit_us is not None),
        TimingShares(*(shares(timings)[timing] for timing in Timing)) if timings else None,
    )
