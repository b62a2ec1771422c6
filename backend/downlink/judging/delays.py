"""One-way delays and jitter of flows that kept delivery tables."""

from __future__ import annotations

from downlink.analysis.delays import FlowDelays
from downlink.codec.sketches import pack_counts
from downlink.domain.results.blockdelay import KINDS, Why
from downlink.judging.judge import Cells, Judge, Own, Row, Rows
from downlink.judging.traces import RunTrace
from downlink.storage.tables import FlowDelay, RunFlow

VALUES = ("kind", "mean_ms", "median_ms", "p5_ms", "p95_ms", "n", "clock_error_ms", "why")
NUMBERS = ("mean_ms", "median_ms", "p5_ms", "p95_ms", "n")


def delay_rows(run: RunTrace) -> Rows:
    return {FlowDelay: [_row(flow, kind, delays) for flow, delays in run.delays.items() for kind in KINDS]}


def _row(flow: int, kind: str, delays: FlowDelays) -> Row:
    spread, counts = delays.spread(kind), delays.sketch(kind)
    numbers = {name: getattr(spread, name, None) for name in NUMBERS} | ({} if spread else {"n": 0})
    packed = pack_counts(counts.first, counts.counts) if spread else None
    own = {"flow": flow, "kind": kind, "clock_error_ms": delays.error_ms, "why": delays.why.get(kind), "sketch": packed}
    return {**own, **numbers}


def delay_cells(flow: RunFlow, own: Own) -> Cells:
    """Every kind, or one line that says that no table was kept."""
    for row in sorted(own[FlowDelay], key=lambda each: KINDS.index(each.kind)):
        yield (flow.cc, *(getattr(row, name) for name in VALUES))
    if not own[FlowDelay]:
        yield (flow.cc, *(None for _ in VALUES[:-1]), Why.NO_TABLE)


DELAYS = Judge(
    name="delays",
    tables=(FlowDelay,),
    columns=(),
    find=delay_rows,
    header=("cc", *VALUES),
    cells=delay_cells,
)
