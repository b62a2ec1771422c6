"""Detection of proxies that end a flow's TCP on the path."""

from __future__ import annotations

from downlink.analysis.proxy import SENDER_FIELDS, Known, proxy_signs
from downlink.domain.runs.outcome import FlowOutcome
from downlink.judging.judge import Cells, Judge, Own, Row, Rows
from downlink.judging.traces import FlowTrace, RunTrace
from downlink.storage.tables import FlowProxy, RunFlow

VALUES = (
    "path", "near", "ack_lead_ms", "clock_error_ms", "sender_handshake_ms", "receiver_handshake_ms", "probe_rtt_ms",
    "base_rtt_ms", "sender_window_bytes", "receiver_window_bytes",
)  # fmt: skip


def proxy_rows(run: RunTrace) -> Rows:
    """Judge the run's TCP flows; an imported flow has only one end."""
    probe_ms = _probe_rtt_ms(run)
    return {FlowProxy: [_judge(each, run, probe_ms) for each in run.tcp if not each.is_imported and each.receiver]}


def _judge(each: FlowTrace, run: RunTrace, probe_ms: float | None) -> Row:
    known = Known(
        clock_error_ms=run.clock_error_ms(each.flow),
        sender_handshake_ms=_handshake_ms(each.flow.sender_outcome),
        receiver_handshake_ms=_handshake_ms(each.flow.receiver_outcome),
        probe_rtt_ms=probe_ms,
        base_rtt_ms=run.run.base_rtt_ms,
    )
    signs = proxy_signs(each.counted, each.receiver, known)
    shown = {name: getattr(known, name, None) for name in VALUES} | {
        name: getattr(signs, name) for name in VALUES if hasattr(signs, name)
    }
    return {"flow": each.flow.flow, **shown}


def _handshake_ms(outcome: FlowOutcome | None) -> float | None:
    rtt_us = outcome and outcome.handshake_rtt_us
    return None if rtt_us is None else rtt_us / 1e3


def _probe_rtt_ms(run: RunTrace) -> float | None:
    """The least round trip of the run's probe flows."""
    rtts_ms = [
        int(answered.min())
        for each in run.judged
        if each.flow.is_probe and "probe_rtt_us" in each.sender
        for answered in [each.sender["probe_rtt_us"][each.sender["probe_rtt_us"] > 0]]
        if len(answered)
    ]
    return min(rtts_ms) / 1e3 if rtts_ms else None


def proxy_cells(flow: RunFlow, own: Own) -> Cells:
    row = next(iter(own[FlowProxy]), None)
    yield (flow.cc, *(getattr(row, name, None) for name in VALUES))


PROXY = Judge(
    name="proxies",
    tables=(FlowProxy,),
    columns=SENDER_FIELDS,
    find=proxy_rows,
    header=("cc", *VALUES),
    cells=proxy_cells,
)
