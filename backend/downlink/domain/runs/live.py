"""Live values of a running flow: its sender's own statements, a second apart. They are never a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

LEAST_APART_S = 0.5
"""Time between what one sender says; what comes sooner is passed over."""
GONE_AFTER_S = 3
"""A flow that its own sender leaves out for so long, while it speaks of the run, has ended."""


def live_flows(
    before: Mapping[str, Any], elapsed_s: float, looks: Iterable[Mapping[str, int]], own: frozenset[int]
) -> dict[str, Any]:
    """Flow to what it does now, `before` with the newer looks of one sender in it; its rate is that since its look before.

    before: as this gave it, {} at first. looks: {flow, acked_bytes, rtt_us, cwnd_bytes}. own: the flows that this sender sends;
    what other senders were heard to say is left as it is.
    """
    flows = dict(before)
    for look in looks:
        last = before.get(str(look["flow"]))
        if look["flow"] not in own or (last and elapsed_s - last["elapsed_s"] < LEAST_APART_S):
            continue
        apart_s = elapsed_s - (last["elapsed_s"] if last else 0)
        grown = look["acked_bytes"] - (last["acked_bytes"] if last else 0)
        flows[str(look["flow"])] = {
            "flow": look["flow"],
            "elapsed_s": elapsed_s,
            "acked_bytes": look["acked_bytes"],
            "throughput_bps": max(0.0, 8 * grown / apart_s) if last and apart_s > 0 else None,
            "rtt_ms": look["rtt_us"] / 1000,
            "cwnd_bytes": look["cwnd_bytes"],
        }
    return {name: _heard(flow, elapsed_s) if flow["flow"] in own else flow for name, flow in flows.items()}


def _heard(flow: Mapping[str, Any], elapsed_s: float) -> dict[str, Any]:
    return {**flow, "heard_s": elapsed_s, "has_ended": elapsed_s - flow["elapsed_s"] > GONE_AFTER_S}


def left_flows(before: Mapping[str, Any], own: frozenset[int]) -> dict[str, Any]:
    """The same after the sender of `own` has left the transfer: its flows have ended, whatever others still send."""
    return {
        name: {**flow, "has_ended": flow["flow"] in own or flow.get("has_ended", False)}
        for name, flow in before.items()
    }


def shown(flows: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the live values of the flows for pages, in the order of their numbers, without the counts that rates are made of."""
    ordered = sorted(flows.values(), key=lambda flow: int(flow["flow"]))
    return [{key: value for key, value in flow.items() if key != "acked_bytes"} for flow in ordered]
