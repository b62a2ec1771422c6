"""Orders of runs over a fitted profile, for comparison with the recorded ones: the same flows, in virtual time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from downlink.analysis.linkfit.fit import Fit
from downlink.analysis.linkfit.recordings import Acks, Recorded, acks, echoes

MOST_FLOWS = 12
"""Flows of each kind at most: more would take longer than they tell."""
FIRST_SEED = 1
CUBIC = "cubic"
FULL = "full"
ROOM = 1.05


def orders(recorded: Recorded, fit: Fit) -> list[dict[str, Any]]:
    """One for each flow, with its length. CUBIC is carried out as CUBIC; other controls are not, and what fills the link as they did
    stands for them."""
    probes = [
        {
            "kind": "probe",
            "every_ms": round(each.every_us / 1e3),
            "seconds": float(np.ptp(each.sent_us) + each.every_us) / 1e6,
        }
        for each in recorded.idle[:MOST_FLOWS]
    ]
    flows = [_flow(each, fit) for each in recorded.flows[:MOST_FLOWS] if each.seconds >= 1]
    return [{**order, "seed": FIRST_SEED + i} for i, order in enumerate([*probes, *flows])]


def _flow(flow: Acks, fit: Fit) -> dict[str, Any]:
    """Return the order of a flow with its recorded window: the largest one for CUBIC, which finds its own; the usual one for what
    stands for others."""
    known = flow.rtt_us > 0
    rate = float(fit.rates.mean_bps.value) if fit.rates else 8 * float(np.ptp(flow.delivered_bytes)) / flow.seconds
    is_cubic = flow.cc == CUBIC
    rtt_s = float(np.quantile(flow.rtt_us[known], 1.0 if is_cubic else 0.5)) / 1e6
    return {
        "kind": CUBIC if is_cubic else FULL,
        "seconds": flow.seconds,
        "has_hystart": is_cubic and flow.has_hystart,
        "window_bytes": int(min(1e9, max(20_000, ROOM * rate / 8 * rtt_s))),
    }


def emulated(records: Sequence[Mapping[str, Any]]) -> Recorded:
    """Return the runs of the orders as if they had been recorded."""
    probes, flows = [], []
    for number, record in enumerate(records):
        sender, receiver = _columns(record["sender"]), _columns(record["receiver"] or {})
        if record["order"]["kind"] == "probe":
            probes.append(echoes(str(number), sender, receiver, is_alone=True))
        elif sender:
            has_hystart = bool(record["order"]["has_hystart"])
            flows.append(acks(str(number), record["order"]["kind"], sender, int(record["first_byte_us"]), has_hystart))
    return Recorded(tuple(probes), tuple(flows))


def _columns(given: Mapping[str, Sequence[int]]) -> dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    return {name: np.array(values, np.int64) for name, values in given.items()}
