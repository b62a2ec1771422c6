"""The limits of a flow, second by second, and the buffers advised for its path."""

from __future__ import annotations

from downlink.analysis.intervals import plain
from downlink.analysis.limits import USED_FIELDS, judge_limits
from downlink.codec.series import pack_series, unpack_series
from downlink.domain.results.metric import LIMITS as NAMES
from downlink.judging.judge import Cells, Judge, Own, Row, Rows
from downlink.judging.traces import FlowTrace, RunTrace
from downlink.storage.tables import FlowLimit, RunFlow

ADVICE = ("bdp_bytes", "is_lower_bound", "max_bytes")


def limit_rows(run: RunTrace) -> Rows:
    return {FlowLimit: [_judge(each, run.run.nominal_rate_bps) for each in run.tcp if each.sender]}


def _judge(each: FlowTrace, nominal_rate_bps: int | None) -> Row:
    rate_bps = float(nominal_rate_bps or 0)
    limits = judge_limits(each.counted, each.first_byte_us, each.duration_s, rate_bps, is_full=each.has_full_segments)
    mean = limits.series.mean
    shares = dict(zip(NAMES, [None] * len(NAMES) if mean is None else plain(mean), strict=True))
    advice = {name: getattr(limits.advice, name, None) for name in ADVICE}
    return {"flow": each.flow.flow, **shares, **advice, "seconds": pack_series(limits.series.shares)}


def limit_cells(flow: RunFlow, own: Own) -> Cells:
    """Every second, or one line that has none."""
    held = next(iter(own[FlowLimit]), None)
    head = (flow.cc, *(getattr(held, name, None) for name in ADVICE))
    seconds = unpack_series(held.seconds, NAMES, NAMES).T.tolist() if held else []
    for bin_s, shares in enumerate(seconds):
        yield (*head, bin_s, *shares)
    if not seconds:
        yield (*head, None, *(None for _ in NAMES))


LIMITS = Judge(
    name="limits",
    tables=(FlowLimit,),
    columns=USED_FIELDS,
    find=limit_rows,
    header=("cc", *ADVICE, "bin_s", *(f"{name}_ratio" for name in NAMES)),
    cells=limit_cells,
)
