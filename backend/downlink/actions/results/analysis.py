"""A sealed run's traces are judged, and the run ends."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from downlink.actions.runs import progress
from downlink.actions.runs.expectations import note_checks
from downlink.analysis import ANALYSIS_VERSION
from downlink.analysis.intervals import plain
from downlink.analysis.objects import object_times_s, received_times_s
from downlink.analysis.steady import time_to_steady_s
from downlink.analysis.validity import TraceFault, find_fault
from downlink.domain.campaigns.flow_plan import TCP
from downlink.domain.results.plausible import RATE_TOLERANCE, Measured, implausible
from downlink.domain.runs.run import HostPhase, Reason, RunState
from downlink.domain.runs.way import way_of
from downlink.domain.traces.missing import gone, is_final, missing_sentence, told_by
from downlink.domain.traces.point import ENDS, NO_FLOW, TABLES, Point
from downlink.judging import JUDGES, Judge
from downlink.judging.traces import FlowTrace, RunTrace, open_run
from downlink.storage.links import link_store
from downlink.storage.results import judgement_store as judged
from downlink.storage.results.judgement_store import Found
from downlink.storage.runs import run_store
from downlink.storage.tables import FlowProxy, Metric, Run, RunFlow
from downlink.storage.traces import trace_store
from downlink.storage.unit import Unit


def analyse_run(unit: Unit, run_id: UUID, now: datetime) -> None:
    """Compute what the traces hold, store it, and end the run. Safe to run twice: the lock comes after the computing."""
    run = run_store.get_run(unit, run_id)
    if run.needs != "analyse":
        return
    opened = open_run(unit, run)
    judged = judge_run(opened)
    faults = [] if run.import_source else list(_faults(opened.flows))  # an imported file was checked
    run = run_store.get_run(unit, run_id, is_locked=True)
    if run.needs == "analyse":
        store(unit, [judged])
        run.way = _way(unit, run)
        _end(unit, run, next(iter(faults), None), now)
        note_checks(unit, run, judged.found, now)


def judge(opened: RunTrace, judges: Iterable[Judge] = JUDGES) -> Found:
    """The rows of every judge, by table."""
    return {table: own for each in judges for table, own in each.found(opened).items()}


@dataclass(frozen=True)
class Judged:
    """The results of a run to be stored; they hold no samples. flows: each with its columns."""

    run: Run
    found: Found
    flows: Sequence[tuple[RunFlow, Mapping[str, object]]]
    measured: Sequence[Measured]


def judge_run(opened: RunTrace) -> Judged:
    rows = judge(opened)
    steady_bps = {row["flow"]: row["throughput_bps"] for row in rows[Metric] if row["phase"] == "steady"}
    columns = [(each.flow, _flow_columns(each, steady_bps[each.flow.flow])) for each in opened.judged]
    return Judged(opened.run, rows, columns, _measured(opened, rows))


def _measured(opened: RunTrace, rows: Found) -> list[Measured]:
    """Return the values of each flow with data that a link may not be able to give."""
    overall = {row["flow"]: row for row in rows[Metric] if row["phase"] == "overall"}
    paths = {row["flow"]: row["path"] for row in rows[FlowProxy]}
    return [
        Measured(
            flow=each.flow.flow,
            receiver=each.flow.receiver,
            rate_bps=overall[each.flow.flow]["goodput_bps"] or overall[each.flow.flow]["throughput_bps"],
            least_rtt_ms=_least_rtt_ms(each),
            path=paths.get(each.flow.flow),
            is_end_to_end=each.flow.kind == TCP,
        )
        for each in opened.judged
        if each.flow.flow in overall and not each.flow.is_probe
    ]


def _least_rtt_ms(each: FlowTrace) -> float | None:
    if "rtt_us" not in each.sender:
        return None
    known = each.sender["rtt_us"][each.sender["rtt_us"] > 0]
    return float(known.min()) / 1e3 if len(known) else None


def _flow_columns(each: FlowTrace, steady_bps: float | None) -> Mapping[str, object]:
    throughput = each.series.column("throughput_bps")
    return {
        "time_to_steady_s": None if steady_bps is None else plain(time_to_steady_s(throughput, steady_bps)),
        "object_times_s": _object_times(each),
        "received_times_s": _received_times(each),
    }


def store(unit: Unit, results: Sequence[Judged]) -> None:
    """Set what is judged of these runs; how they ended stays as it is."""
    tables = [table for each in JUDGES for table in each.tables]
    rows = {table: [row for each in results for row in each.found[table]] for table in tables}
    judged.replace(unit, [each.run.id for each in results], rows)
    given = link_store.what_they_give(unit, {each.run.link for each in results})
    for each in results:
        each.run.analysis_version = ANALYSIS_VERSION
        each.run.implausible = _implausible(each, given.get(each.run.link)) or None
        for flow, columns in each.flows:
            for name, value in columns.items():
                setattr(flow, name, value)


def _implausible(judged: Judged, gives: link_store.Gives | None) -> list[str]:
    orbit, tolerance = gives or (None, RATE_TOLERANCE)
    return implausible(judged.measured, judged.run.nominal_rate_bps, orbit, tolerance)


def _object_times(each: FlowTrace) -> list[float]:
    if "acked_bytes" not in each.counted:
        return []
    columns = each.counted
    return list(object_times_s(columns["elapsed_us"], columns["acked_bytes"], each.first_byte_us).tolist())


def _received_times(each: FlowTrace) -> list[float]:
    """An imported file does not say when its receiver dialled."""
    if each.is_imported or "received_bytes" not in each.receiver:
        return []
    columns = each.receiver
    start_us = round(each.flow.start_s * 1e6)
    return list(received_times_s(columns["elapsed_us"], columns["received_bytes"], start_us).tolist())


def _way(unit: Unit, run: Run) -> dict[str, Any] | None:
    """Return the network path of the flows, as both ends reported it; None where neither did, or the run was imported."""
    flows = run_store.flows_of(unit, run.id)
    ends = [
        (end, agent, outcome)
        for flow in flows
        for end, agent, outcome in (
            ("receiver", flow.receiver, flow.receiver_outcome),
            ("sender", flow.sender, flow.sender_outcome),
        )
    ]
    way = way_of(ends)
    return way.to_dict() if way.is_known else None


def _faults(flows: Iterable[FlowTrace]) -> Iterator[TraceFault]:
    """Yield the fault of each trace that must not count."""
    for each in flows:
        for point in ENDS:
            outcome = each.flow.outcomes.get(point)
            if outcome and outcome.first_byte_us is not None and outcome.last_byte_us is not None:
                dropped = outcome.dropped_samples or 0  # agents that do not report it only poll
                columns = each.sender if point == Point.SENDER else each.receiver
                if fault := find_fault(columns, outcome.first_byte_us, outcome.last_byte_us, dropped):
                    yield TraceFault(fault.reason, f"Flow {each.flow.flow} at the {point}: {fault.detail}")


def _end(unit: Unit, run: Run, fault: TraceFault | None, now: datetime) -> None:
    """End the run as it was condemned; else by what is missing, or wrong with the traces; else as complete."""
    missing = {
        (trace.flow, trace.point): trace.missing for trace in trace_store.traces_of(unit, run.id) if trace.missing
    }
    if run.verdict:
        progress.finish(unit, run, RunState(run.verdict), now, run.reason, run.detail)
    elif missing:
        hosts = run_store.hosts_of(unit, run.id)
        told = [each for host in hosts for each in told_by(host.agent, host.missing)]
        told += gone(missing, _keepers(unit, run, {host.agent for host in hosts if host.phase == HostPhase.UPLOADED}))
        reason = Reason.SAMPLES_LOST if is_final(missing, told) else Reason.UPLOAD_TIMEOUT
        progress.finish(unit, run, RunState.INCOMPLETE, now, reason, missing_sentence(missing, told))
    elif fault:
        progress.finish(unit, run, RunState.FAILED, now, fault.reason, fault.detail)
    else:
        progress.finish(unit, run, RunState.COMPLETE, now, *_remark(unit, run))


def _keepers(unit: Unit, run: Run, agents: Collection[str]) -> dict[tuple[int, str], str]:
    """The agent that keeps each trace, of these agents."""
    keepers = {
        (flow.flow, str(point)): agent
        for flow in run_store.flows_of(unit, run.id)
        for point in (*flow.points, *TABLES)
        for agent in agents
        if (at := flow.point_of(agent)) and at == (flow.keeper_of(point) if point in TABLES else point)
    }
    beside = run.link_outcome and run.link_outcome.agent
    return {**keepers, **({(NO_FLOW, str(Point.LINK)): beside} if beside and beside in agents else {})}


def _remark(unit: Unit, run: Run) -> tuple[str | None, str | None]:
    """A complete run's measurement remains valid even where a host was not restored, or an emulated link's log breaks off; that must be
    seen all the same."""
    unrestored = [host.agent for host in run_store.hosts_of(unit, run.id) if host.is_restored is False]
    if not unrestored and (broken := run.link_outcome and run.link_outcome.detail):
        return Reason.LINK_CONTROL_FAILED, f"Measured in full, but {broken}."
    if not unrestored:
        return None, None
    return (
        Reason.NOT_RESTORED,
        f"Measured in full, but {' and '.join(unrestored)} could not be restored to its earlier settings.",
    )
