"""The end of a flow's slow start, and the decision of each detector."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import orjson

from downlink.analysis import ANALYSIS_VERSION
from downlink.analysis.exits.capacity import Capacity
from downlink.analysis.exits.flow import FlowExits, judge_flow
from downlink.analysis.exits.sliding import ExitTimes
from downlink.analysis.exits.trace import USED_FIELDS
from downlink.domain.errors import InvalidError
from downlink.judging.judge import Cells, Judge, Own, Row, Rows
from downlink.judging.traces import FlowTrace, RunTrace
from downlink.storage.tables import Exit, RunFlow, SlowStart

TIMES = ("cg_us", "ex_us", "dp_us", "hr_us", "is_success")
CAPACITY = ("capacity_us", "capacity_basis", "capacity_rate_bps", "least_rtt_us")
STARTED = (*CAPACITY, "stayed_in_slow_start", *TIMES, "mean_error_ratio")
VERDICT = ("detector", "version", "exit_us", "cwnd_segments", "cwnd_source", "is_decidable", "is_too_late", "timing")


def exit_rows(run: RunTrace) -> Rows:
    judged = [_judge(each) for each in run.tcp]
    return {SlowStart: [times for times, _ in judged], Exit: [row for _, verdicts in judged for row in verdicts]}


def _judge(each: FlowTrace) -> tuple[Row, list[Row]]:
    """A flow's row of times and its detectors' verdicts. A trace that cannot be judged says why."""
    own = {"flow": each.flow.flow, "analysis_version": ANALYSIS_VERSION}
    try:
        judged = judge_flow(each.acks, each.rate)
    except InvalidError as error:
        return {**own, **_times(None), **_capacity(None), "origin_us": None, "refusal": error.message}, []
    row = {**own, **_times(judged.times), **_capacity(judged.capacity), "origin_us": judged.origin_us, "refusal": None}
    facts = {"stayed_in_slow_start": judged.stayed_in_slow_start, "mean_error_ratio": judged.mean_error_ratio}
    return {**row, **facts}, _verdicts(each.flow.flow, judged)


def _times(times: ExitTimes | None) -> Row:
    if times is None:
        return dict.fromkeys(TIMES)
    return {**asdict(times), "hr_us": times.hr_us, "is_success": times.is_success}


def _capacity(capacity: Capacity | None) -> Row:
    if capacity is None:
        return dict.fromkeys(CAPACITY)
    return dict(zip(CAPACITY, (capacity.at_us, capacity.basis, capacity.rate_bps, capacity.least_rtt_us), strict=True))


def _verdicts(flow: int, judged: FlowExits) -> list[Row]:
    return [
        {**vars(verdict), "flow": flow, "place": rank, "timing": judged.timing(verdict)}
        for rank, verdict in enumerate(judged.verdicts)
    ]


def exit_cells(flow: RunFlow, own: Own) -> Cells:
    """Every detector, or one line that says why there is none."""
    started = next(iter(own[SlowStart]), None)
    head = (flow.cc, *(getattr(started, name, None) for name in STARTED))
    for row in own[Exit]:
        texts = (row.reason, _json(row.parameters), _json(row.quantities))
        yield (*head, *(getattr(row, name) for name in VERDICT), *texts)
    if not own[Exit]:
        yield (*head, *(None for _ in VERDICT), getattr(started, "refusal", None), None, None)


def _json(value: dict[str, Any]) -> str:
    return orjson.dumps(value).decode()


EXITS = Judge(
    name="exits",
    tables=(SlowStart, Exit),
    columns=USED_FIELDS,
    find=exit_rows,
    header=("cc", *STARTED, *VERDICT, "verdict", "parameters", "quantities"),
    cells=exit_cells,
)
