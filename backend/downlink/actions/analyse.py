"""A sealed run's traces become series and metrics, and the run ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from typing import Any
from uuid import UUID

from downlink.actions import runs
from downlink.actions.exits import Judged, judge_columns, link_rate, store_judged
from downlink.actions.limits import Held, flow_duration_s, limit_columns, store_limits
from downlink.analysis import ANALYSIS_VERSION
from downlink.analysis.imported import counted_from_zero, imported_series
from downlink.analysis.intervals import plain
from downlink.analysis.objects import object_times_s
from downlink.analysis.phases import rate_or_nan, run_metrics
from downlink.analysis.series import FlowSeries, sender_series
from downlink.analysis.steady import time_to_steady_s
from downlink.analysis.validity import Fault, find_fault
from downlink.codec.parquet import Columns, trace_columns
from downlink.domain.campaign import Phases
from downlink.domain.metric import QUANTITIES
from downlink.domain.run import Reason, RunState
from downlink.domain.sample import End
from downlink.storage import campaigns, reports, traces
from downlink.storage import runs as rows
from downlink.storage.tables import Run, RunFlow
from downlink.storage.unit import Unit

Ends = Callable[[End], Columns]
"""The columns of one flow's trace at an end."""


@dataclass(frozen=True)
class FlowResult:
    """What one flow's traces say."""

    flow: RunFlow
    series: FlowSeries
    object_times_s: list[float]
    exits: Judged
    limits: Held | None = None


def analyse_run(unit: Unit, run_id: UUID, now: datetime) -> None:
    """Compute what the traces hold, store it, and end the run. Safe to run twice: the lock comes after the computing."""
    run = rows.get_run(unit, run_id)
    if run.needs != "analyse":
        return
    faults: list[Fault] = []
    results = _results(unit, run, faults)
    run = rows.get_run(unit, run_id, is_locked=True)
    if run.needs == "analyse":
        _store(unit, run, results)
        _end(unit, run, next(iter(faults), None), now)


def compute(unit: Unit, run: Run) -> None:
    """What a run's traces hold, computed and stored; how it ended stays as it is."""
    _store(unit, run, _results(unit, run))


def _results(unit: Unit, run: Run, faults: list[Fault] | None = None) -> list[FlowResult]:
    """What the flows' traces hold. faults: takes why they must not count, where that is asked. Each trace is read once."""
    analyse = _analyse_flow if run.import_source is None else _analyse_imported
    results = []
    for flow in rows.flows_of(unit, run.id):
        ends: Ends = cache(partial(_columns, unit, run.id, flow.flow))
        if result := analyse(unit, run, flow, ends):
            results.append(result)
        if faults is not None:
            faults.extend(_faults(flow, ends))
    return results


def _columns(unit: Unit, run_id: UUID, flow: int, end: End) -> Columns:
    return trace_columns(list(traces.sealed_chunks(unit, run_id, flow, end)))


def _analyse_flow(unit: Unit, run: Run, flow: RunFlow, ends: Ends) -> FlowResult | None:
    """None for a flow that never sent a byte, or whose sender's trace is not there."""
    columns = ends(End.SENDER)
    first_byte_us = (flow.sender_outcome or {}).get("first_byte_us")
    if first_byte_us is None or not columns:
        return None
    last_byte_us = (flow.sender_outcome or {}).get("last_byte_us")
    series = sender_series(columns, first_byte_us, flow_duration_s(run, flow), last_byte_us)
    times = _object_times(columns, first_byte_us)
    return FlowResult(
        flow, series, times, judge_columns(flow, columns, link_rate(unit, run)), limit_columns(run, flow, columns)
    )


def _analyse_imported(unit: Unit, run: Run, flow: RunFlow, ends: Ends) -> FlowResult:
    """A file's flow begins at time 0, and the receiver's end may be all there is. It has no faults: the file was checked."""
    sender, receiver = ends(End.SENDER), ends(End.RECEIVER)
    counted = counted_from_zero(sender)
    limits = limit_columns(run, flow, counted) if sender else None
    series = imported_series(sender, receiver)
    return FlowResult(
        flow, series, _object_times(counted, 0), judge_columns(flow, sender, link_rate(unit, run)), limits
    )


def _object_times(columns: Columns, first_byte_us: int) -> list[float]:
    if "acked_bytes" not in columns:
        return []
    return [float(each) for each in object_times_s(columns["elapsed_us"], columns["acked_bytes"], first_byte_us)]


def _faults(flow: RunFlow, ends: Ends) -> Iterator[Fault]:
    """Why a trace of this flow must not count, for each that must not."""
    for end in End:
        outcome = getattr(flow, f"{end}_outcome") or {}
        if outcome.get("first_byte_us") is not None and outcome.get("last_byte_us") is not None:
            dropped = outcome.get("dropped_samples") or 0
            if fault := find_fault(ends(end), outcome["first_byte_us"], outcome["last_byte_us"], dropped):
                yield Fault(fault.reason, f"Flow {flow.flow} at the {end}: {fault.detail}")


def _store(unit: Unit, run: Run, results: list[FlowResult]) -> None:
    phases = Phases(**campaigns.find_campaign(unit, run.campaign_id).spec["phases"])
    run.analysis_version = ANALYSIS_VERSION
    found = run_metrics(
        [result.series for result in results],
        [result.flow.start_s for result in results],
        phases,
        rate_or_nan(run.nominal_rate_bps),
    )
    reports.replace_series(unit, run.id, [row for result in results for row in _bins(result)])
    metrics = [
        {"flow": result.flow.flow, "phase": phase, **values}
        for result, by_phase in zip(results, found, strict=True)
        for phase, values in by_phase.items()
    ]
    reports.replace_metrics(unit, run.id, metrics)
    store_judged(unit, run.id, [result.exits for result in results])
    store_limits(unit, run.id, [result.limits for result in results if result.limits])
    for result, by_phase in zip(results, found, strict=True):
        steady_bps = by_phase["steady"]["throughput_bps"]
        throughput = result.series.column("throughput_bps")
        result.flow.time_to_steady_s = None if steady_bps is None else plain(time_to_steady_s(throughput, steady_bps))
        result.flow.object_times_s = result.object_times_s


def _bins(result: FlowResult) -> Iterator[dict[str, Any]]:
    for bin_s, values in enumerate(plain(result.series.values.T)):
        yield {"flow": result.flow.flow, "bin_s": bin_s, **dict(zip(QUANTITIES, values, strict=True))}


def _end(unit: Unit, run: Run, fault: Fault | None, now: datetime) -> None:
    """As it was condemned to; else by what is missing, or wrong with the traces; else complete."""
    missing = {(trace.flow, trace.end): trace.missing for trace in traces.traces_of(unit, run.id) if trace.missing}
    if run.verdict:
        runs.finish(unit, run, RunState(run.verdict), now, run.reason, run.detail)
    elif missing:
        told = "; ".join(
            f"flow {flow} at the {end}: {_some(numbers)}" for (flow, end), numbers in sorted(missing.items())
        )
        runs.finish(unit, run, RunState.INCOMPLETE, now, Reason.UPLOAD_TIMEOUT, f"Chunks are missing: {told}.")
    elif fault:
        runs.finish(unit, run, RunState.FAILED, now, fault.reason, fault.detail)
    else:
        runs.finish(unit, run, RunState.COMPLETE, now, *_remark(unit, run))


def _some(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:10])) + (f" and {len(numbers) - 10} more" if len(numbers) > 10 else "")


def _remark(unit: Unit, run: Run) -> tuple[str | None, str | None]:
    """A complete run's measurement stands even where a host was not restored; that must be seen all the same."""
    unrestored = [host.agent for host in rows.hosts_of(unit, run.id) if host.is_restored is False]
    if not unrestored:
        return None, None
    return (
        Reason.NOT_RESTORED,
        f"Measured in full, but {' and '.join(unrestored)} could not be restored to its earlier settings.",
    )
