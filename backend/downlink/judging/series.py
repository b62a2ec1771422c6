"""A flow's one-second series, and its means over the phases of its run."""

from __future__ import annotations

from downlink.analysis import probes
from downlink.analysis.phases import rate_or_nan, run_metrics
from downlink.analysis.series import USED_FIELDS
from downlink.codec.series import pack_series, unpack_series
from downlink.domain.results.metric import METRICS as METRIC_NAMES
from downlink.domain.results.metric import QUANTITIES
from downlink.judging.judge import Cells, Judge, Own, Rows
from downlink.judging.traces import FlowTrace, RunTrace
from downlink.storage.tables import Metric, RunFlow, StoredSeries


def series_row(each: FlowTrace) -> dict[str, object]:
    series = each.series
    own = {"flow": each.flow.flow, "bins": series.bins}
    return {**own, "quantities": list(QUANTITIES), "packed": pack_series(series.values)}


def series_cells(_flow: RunFlow, own: Own) -> Cells:
    """Every second, or one line that has none."""
    for row in own[StoredSeries]:
        values = unpack_series(row.packed, row.quantities, QUANTITIES)
        yield from ((bin_s, *seconds) for bin_s, seconds in enumerate(values.T.tolist()))
        if row.bins:
            return
    yield (None,) * (1 + len(QUANTITIES))


def metric_rows(run: RunTrace) -> Rows:
    metrics = run_metrics(
        [each.series for each in run.judged],
        [each.flow.start_s for each in run.judged],
        run.phases,
        rate_or_nan(run.run.nominal_rate_bps),
        [run.delays.get(each.flow.flow) for each in run.judged],
    )
    flows = zip(run.judged, metrics, strict=True)
    return {
        Metric: [
            {"flow": each.flow.flow, "phase": phase, **values}
            for each, by_phase in flows
            for phase, values in by_phase.items()
        ]
    }


def metric_cells(flow: RunFlow, own: Own) -> Cells:
    """Every phase, or one line that has none."""
    head = (flow.asked_cc, flow.cc, flow.time_to_steady_s)
    for row in own[Metric] or (None,):
        yield (*head, row and row.phase, *(getattr(row, name, None) for name in METRIC_NAMES))


SERIES = Judge(
    name="series",
    tables=(StoredSeries,),
    columns=(*USED_FIELDS, probes.RTT_FIELD),
    find=lambda run: {StoredSeries: [series_row(each) for each in run.judged]},
    header=("cc", "bin_s", *QUANTITIES),
    cells=lambda flow, own: ((flow.cc, *line) for line in series_cells(flow, own)),
)
METRICS = Judge(
    name="metrics",
    tables=(Metric,),
    columns=(*USED_FIELDS, probes.RTT_FIELD),
    find=metric_rows,
    header=("asked_cc", "actual_cc", "time_to_steady_s", "phase", *METRIC_NAMES),
    cells=metric_cells,
)
