"""Stored rows of a campaign's complete runs as the arrays that statistics are made of, and the statistics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np

from downlink.analysis.binning import Floats
from downlink.analysis.linkgroups import LinkRecord
from downlink.analysis.phases import rate_or_nan
from downlink.analysis.report import FlowRecord, Report, build_report
from downlink.codec.series import unpack_series
from downlink.domain.campaigns.campaign import Phases
from downlink.domain.results.metric import LINKED, LOST, METRICS, QUANTITIES
from downlink.storage.campaigns import campaign_store
from downlink.storage.results import judgement_store
from downlink.storage.tables import Campaign, FlowLoss, LinkPhase, Metric, Run, RunFlow, StoredSeries
from downlink.storage.unit import Unit
from downlink.views.results.flows import complete_flows, places_of, run_ids

Made = tuple[Report, list[FlowRecord]]


def build(unit: Unit, campaign: Campaign) -> Report:
    """The statistics over the campaign's complete runs, from their stored series and metrics."""
    return report_and_records(unit, campaign)[0]


def report_and_records(unit: Unit, campaign: Campaign) -> Made:
    """The statistics, and the flows that they are made of."""
    spec, flows = campaign_store.campaign_of(campaign), complete_flows(unit, [campaign.id], with_object_times=True)
    ids = run_ids(flows)
    series = {(row.run_id, row.flow): values_of(row) for row in judgement_store.rows(unit, StoredSeries, ids)}
    metrics = {(row.run_id, row.flow, row.phase): row for row in judgement_store.rows(unit, Metric, ids)}
    members = [member for group in flows.values() for member in group]
    planned = sorted((run for run, _ in members), key=lambda run: (run.due_at, run.cycle, run.position, run.attempt))
    group_of = places_of(flows)
    records = [_record(run, group_of[run.id], flow, series, metrics, spec.phases) for run, flow in members]
    report = build_report(
        records,
        conditions=[condition.name for condition in spec.conditions],
        phases=spec.phases,
        primary=spec.primary_metrics,
        nominal_rate_bps={
            group_of[run.id]: rate_or_nan(run.nominal_rate_bps) for run in planned
        },  # the last one says it
        seed=spec.timetable.seed,
        logged=_logged(unit, planned, group_of, spec.phases),
    )
    return report, records


def _logged(unit: Unit, complete: Sequence[Run], group_of: Mapping[UUID, str], phases: Phases) -> list[LinkRecord]:
    """Return the records of the complete runs whose emulated link was logged."""
    of_run = {run.id: run for run in complete}
    stored = {(row.run_id, row.phase): row for row in judgement_store.rows(unit, LinkPhase, of_run)}
    losses: dict[UUID, dict[int, Floats]] = defaultdict(dict)
    for row in judgement_store.rows(unit, FlowLoss, of_run):
        losses[row.run_id][row.flow] = _floats(row, LOST)
    return [
        LinkRecord(
            run=str(run_id),
            link=group_of[run_id],
            condition=run.condition,
            cycle=run.cycle,
            phases=np.stack([_floats(stored.get((run_id, phase)), LINKED) for phase in phases.names]),
            losses=losses[run_id],
        )
        for run_id, run in of_run.items()
        if (run_id, phases.names[0]) in stored
    ]


def _floats(row: object, names: Sequence[str]) -> Floats:
    return np.array([getattr(row, name, None) for name in names], dtype=np.float64)


def _record(
    run: Run, group: str, flow: RunFlow, series: Mapping[Any, Floats], metrics: Mapping[Any, Metric], phases: Phases
) -> FlowRecord:
    """A flow without a series (its run was shorter than a second) has empty ones."""
    rows = [metrics.get((run.id, flow.flow, phase)) for phase in phases.names]
    return FlowRecord(
        run=str(run.id),
        link=group,
        condition=run.condition,
        cycle=run.cycle,
        flow=flow.flow,
        cc=flow.cc,
        series=series.get((run.id, flow.flow), no_bins()),
        metrics=np.stack([_floats(row, METRICS) for row in rows]),
        is_implausible=bool(run.implausible),
        object_times={name: np.asarray(times, dtype=np.float64) for name, times in _object_times(flow)},
    )


def _object_times(flow: RunFlow) -> Iterator[tuple[str, Floats | list[float]]]:
    """Yield the known transfer times, by their names in the report. An imported flow does not say when it was asked for."""
    if flow.object_times_s is None:
        return
    yield "object_times", flow.object_times_s
    if flow.received_times_s is None or flow.first_byte_us is None:
        return
    yield "requested_object_times", np.asarray(flow.object_times_s) + (flow.first_byte_us / 1e6 - flow.start_s)
    yield "received_object_times", flow.received_times_s


def values_of(row: StoredSeries) -> Floats:
    return unpack_series(row.packed, row.quantities, QUANTITIES)


def no_bins() -> Floats:
    return np.zeros((len(QUANTITIES), 0))
