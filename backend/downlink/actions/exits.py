"""Slow-start exits: judged when a run is analysed, shown per run with the curves behind them, and summed up per campaign."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any
from uuid import UUID

from downlink.analysis import ANALYSIS_VERSION
from downlink.analysis.exits.capacity import Basis, Capacity, LinkRate
from downlink.analysis.exits.flow import (
    FlowExits,
    flow_trace,
    judge_flow,
    plot_curves,
    plot_packet_pairs,
    plot_window,
)
from downlink.analysis.exits.outcomes import Reached, Timing, shares, table_row
from downlink.analysis.exits.sliding import ExitTimes
from downlink.analysis.exits.verdict import DetectorId
from downlink.codec.parquet import Columns, trace_columns
from downlink.domain.errors import InvalidError
from downlink.domain.run import RunState
from downlink.domain.sample import End
from downlink.storage import campaigns, exits, reports, traces
from downlink.storage import runs as run_rows
from downlink.storage.tables import Exit, Run, RunFlow, SlowStart
from downlink.storage.unit import Unit

Row = dict[str, Any]
Judged = tuple[Row, list[Row]]
ENDLESS_US = 2**62
TIMES = ("cg_us", "ex_us", "dp_us", "hr_us", "is_success")
CAPACITY = ("capacity_us", "capacity_basis", "capacity_rate_bps", "least_rtt_us")


def judge_columns(flow: RunFlow, columns: Columns, rate: LinkRate | None) -> Judged:
    """One flow's row of times and its detectors' verdicts, to store. A trace that cannot be judged says why."""
    own = {"flow": flow.flow, "analysis_version": ANALYSIS_VERSION}
    try:
        judged = judge_flow(flow_trace(columns, flow.cc, first_byte_us(flow)), rate)
    except InvalidError as error:
        return {**own, **_times_row(None), **_capacity_row(None), "origin_us": None, "refusal": error.message}, []
    found = {**_times_row(judged.times), **_capacity_row(judged.capacity)}
    stayed = {"stayed_in_slow_start": judged.stayed_in_slow_start}
    return {**own, **found, **stayed, "origin_us": judged.origin_us, "refusal": None}, _verdict_rows(flow.flow, judged)


def link_rate(unit: Unit, run: Run) -> LinkRate | None:
    """The rate that a run's flow had to itself; None where nobody knows it, or where several flows shared it."""
    if run.nominal_rate_bps is None or len(run_rows.flows_of(unit, run.id)) > 1:
        return None
    return LinkRate(run.nominal_rate_bps, is_emulated=bool(run.is_emulated))


def first_byte_us(flow: RunFlow) -> int:
    """The first data byte on the clock of the sender's samples."""
    return int((flow.sender_outcome or {}).get("first_byte_us") or 0)


def sender_columns(unit: Unit, run_id: UUID, flow: int) -> Columns:
    """A flow's sealed samples at its sender, column by column; empty without any."""
    return trace_columns(list(traces.sealed_chunks(unit, run_id, flow, End.SENDER)))


def judge_run(unit: Unit, run_id: UUID) -> None:
    """Judge a run's sealed sender traces and store what was found; for runs that were analysed elsewhere."""
    rate = link_rate(unit, run_rows.get_run(unit, run_id))
    found = [(flow, sender_columns(unit, run_id, flow.flow)) for flow in run_rows.flows_of(unit, run_id)]
    store_judged(unit, run_id, [judge_columns(flow, columns, rate) for flow, columns in found if columns])


def store_judged(unit: Unit, run_id: UUID, judged: Sequence[Judged]) -> None:
    exits.replace_exits(unit, run_id, [times for times, _ in judged], [row for _, rows in judged for row in rows])


def run_exits(unit: Unit, run_id: UUID, from_s: float, to_s: float | None, points: int) -> Row:
    """A run's verdicts, flow by flow, with its curves between two times after each flow's first data byte."""
    run = run_rows.get_run(unit, run_id)
    span = (round(from_s * 1e6), ENDLESS_US if to_s is None else round(to_s * 1e6), points)
    found = {flow: list(rows) for flow, rows in groupby(exits.exit_rows(unit, [run_id]), key=lambda row: row.flow)}
    started = {row.flow: row for row in exits.slow_start_rows(unit, [run_id])}
    flows = [
        {**_flow_head(flow, started[flow.flow], found.get(flow.flow, ())), **_plots(unit, run, flow, span)}
        for flow in run_rows.flows_of(unit, run_id)
        if flow.flow in started
    ]
    return {"run_id": run_id, "link": run.link, "condition": run.condition, "state": run.state, "flows": flows}


def campaign_exits(unit: Unit, campaign_id: UUID) -> Row:
    """Table I and the detectors' exits over the complete runs, for each flow of each condition on each link."""
    campaign = campaigns.find_campaign(unit, campaign_id)
    order = {condition["name"]: place for place, condition in enumerate(campaign.spec["conditions"])}
    flows = [(run, flow) for run, flow in reports.flow_rows(unit, campaign_id) if run.state == RunState.COMPLETE]
    ids = {run.id for run, _ in flows}
    started = {(row.run_id, row.flow): row for row in exits.slow_start_rows(unit, ids)}
    verdicts = {
        key: list(rows) for key, rows in groupby(exits.exit_rows(unit, ids), key=lambda row: (row.run_id, row.flow))
    }
    groups: dict[tuple[Any, ...], list[tuple[SlowStart, list[Exit]]]] = {}
    for run, flow in sorted(flows, key=lambda each: (each[0].link, order[each[0].condition], each[1].flow)):
        if (run.id, flow.flow) in started:
            members = groups.setdefault((run.link, run.condition, flow.flow, flow.cc), [])
            members.append((started[run.id, flow.flow], verdicts.get((run.id, flow.flow), [])))
    return {"campaign_id": campaign_id, "groups": [_group(key, members) for key, members in groups.items()]}


def _times_row(times: ExitTimes | None) -> Row:
    if times is None:
        return dict.fromkeys(TIMES)
    return {**asdict(times), "hr_us": times.hr_us, "is_success": times.is_success}


def _capacity_row(capacity: Capacity | None) -> Row:
    if capacity is None:
        return dict.fromkeys(CAPACITY)
    return dict(zip(CAPACITY, (capacity.at_us, capacity.basis, capacity.rate_bps, capacity.least_rtt_us), strict=True))


def _verdict_rows(flow: int, judged: FlowExits) -> list[Row]:
    return [
        {**asdict(verdict), "flow": flow, "place": place, "timing": judged.timing(verdict)}
        for place, verdict in enumerate(judged.verdicts)
    ]


def _flow_head(flow: RunFlow, started: SlowStart, verdicts: Iterable[Exit]) -> Row:
    return {
        "flow": flow.flow,
        "cc": flow.cc,
        "first_byte_us": first_byte_us(flow),
        "origin_us": started.origin_us,
        "refusal": started.refusal,
        "analysis_version": started.analysis_version,
        "is_current": started.analysis_version == ANALYSIS_VERSION,
        "stayed_in_slow_start": started.stayed_in_slow_start,
        "capacity": None if started.capacity_basis is None else {name: getattr(started, name) for name in CAPACITY},
        "times": None if started.is_success is None else {name: getattr(started, name) for name in TIMES},
        "verdicts": [_verdict(verdict) for verdict in verdicts],
    }


def _verdict(verdict: Exit) -> Row:
    shown = (
        "exit_us", "cwnd_segments", "cwnd_source", "parameters", "reason", "quantities", "is_decidable", "timing",
    )  # fmt: skip
    return {
        **_identity(verdict)._asdict(),
        **{name: getattr(verdict, name) for name in shown},
        "is_too_late": bool(verdict.is_too_late),
    }


def _identity(verdict: Exit) -> DetectorId:
    return DetectorId.of(verdict.detector, verdict.version, verdict.parameters)


def _plots(unit: Unit, run: Run, flow: RunFlow, span: tuple[int, int, int]) -> Row:
    try:
        trace = flow_trace(sender_columns(unit, run.id, flow.flow), flow.cc, first_byte_us(flow))
    except InvalidError:
        return {"curves": None, "window": None, "packet_pairs": None}
    return {
        "curves": plot_curves(trace, *span),
        "window": plot_window(trace, *span),
        "packet_pairs": plot_packet_pairs(trace),
    }


def _group(key: tuple[Any, ...], members: Sequence[tuple[SlowStart, list[Exit]]]) -> Row:
    started = [row for row, _ in members]
    by_detector: dict[DetectorId, list[Exit]] = {}
    for verdict in sorted((verdict for _, verdicts in members for verdict in verdicts), key=lambda each: each.place):
        by_detector.setdefault(_identity(verdict), []).append(verdict)
    return {
        **dict(zip(("link", "condition", "flow", "cc"), key, strict=True)),
        "runs": len(members),
        "outdated": sum(row.analysis_version != ANALYSIS_VERSION for row in started),
        "left_early": sum(row.stayed_in_slow_start is False for row in started),
        "bases": {basis.value: n for basis in Basis if (n := sum(row.capacity_basis == basis for row in started))},
        "table": _table(started),
        "detectors": [_detector(identity, verdicts) for identity, verdicts in by_detector.items()],
    }


def _table(started: Sequence[SlowStart]) -> Row | None:
    """Table I over the flows that were in slow start until their loss, as far as their traces say."""
    held = [row for row in started if row.is_success is not None and row.stayed_in_slow_start is not False]
    reached = [Reached(ExitTimes(row.cg_us, row.ex_us, row.dp_us), row.capacity_us) for row in held]
    return asdict(table_row(reached)) if reached else None


def _detector(identity: DetectorId, verdicts: Sequence[Exit]) -> Row:
    timings = [Timing(verdict.timing) for verdict in verdicts if verdict.timing is not None]
    found: Mapping[Timing, Any] = shares(timings) if timings else {}
    return {
        **identity._asdict(),
        "decidable": sum(verdict.is_decidable for verdict in verdicts),
        "undecidable": sum(not verdict.is_decidable for verdict in verdicts),
        "exits_s": sorted(verdict.exit_us / 1e6 for verdict in verdicts if verdict.exit_us is not None),
        "shares": {timing.value: asdict(share) for timing, share in found.items()} or None,
    }
