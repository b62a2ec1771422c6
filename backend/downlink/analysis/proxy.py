"""Detection of a proxy that ends TCP on the path and continues with a connection of its own (a performance-enhancing proxy).

Two signs decide, a third is shown beside them (docs/method.md, section 8):

- **Acknowledgements.** Without a proxy no byte is acknowledged before the far end has it. Where the sender's kernel has bytes
  acknowledged earlier than the receiver's has them, by more than both clocks may be wrong, something else has acknowledged them.
- **Handshakes.** Without a proxy both ends measure the same path. Where one end's handshake is far quicker than the path can be,
  something nearer has answered it.
- **Windows.** Without a proxy the sender gets the receiver's own window.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

MARKS = 200
"""Amounts of bytes that are compared at most, evenly over the flow."""
QUICK = 1 / 3
"""A handshake of less than this part of the path's least round trip was not answered by the far end."""
FULL = 2 / 3
"""One of at least this part was."""
SENDER_FIELDS = ("elapsed_us", "acked_bytes", "snd_wnd_bytes")
RECEIVER_FIELDS = ("elapsed_us", "received_bytes", "rcv_wnd_bytes")


class Path(StrEnum):
    """SPLIT: a proxy ends TCP on the way. WHOLE: one connection from end to end. UNKNOWN: the signs do not say."""

    SPLIT = "split"
    WHOLE = "whole"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Known:
    """Facts about a flow beside its samples; None for unknown ones.

    clock_error_ms: by how much the clocks of both ends may differ in the run, their errors added up. probe_rtt_ms: the least of a
    probe flow in the same run. base_rtt_ms: what the link is said to have.
    """

    clock_error_ms: float | None
    sender_handshake_ms: float | None
    receiver_handshake_ms: float | None
    probe_rtt_ms: float | None
    base_rtt_ms: float | None


@dataclass(frozen=True, slots=True)
class Signs:
    """path: the verdict. near: the end whose handshake was too quick, or both.

    ack_lead_ms: how long before the receiver had its bytes the sender saw them acknowledged, at least, in the median over the flow;
    below zero after it. sender_window_bytes, receiver_window_bytes: the largest window that the sender got, and the receiver's.
    """

    path: Path
    near: str | None
    ack_lead_ms: float | None
    sender_window_bytes: int | None
    receiver_window_bytes: int | None


def proxy_signs(sender: Mapping[str, Ints], receiver: Mapping[str, Ints], known: Known) -> Signs:
    lead_ms = ack_lead_ms(sender, receiver)
    near = quick_end(known)
    is_early = lead_ms is not None and known.clock_error_ms is not None and lead_ms > known.clock_error_ms
    path = Path.UNKNOWN
    if is_early or near:
        path = Path.SPLIT
    elif _is_full(known):
        path = Path.WHOLE
    return Signs(path, near, lead_ms, _largest(sender, "snd_wnd_bytes"), _largest(receiver, "rcv_wnd_bytes"))


def ack_lead_ms(sender: Mapping[str, Ints], receiver: Mapping[str, Ints]) -> float | None:
    """The median of what is certain at each mark: a sample in which the receiver still lacked the bytes, less the first one in
    which the sender had them acknowledged. Polling makes it less than it was, never more."""
    if "acked_bytes" not in sender or "received_bytes" not in receiver:
        return None
    acked, received = sender["acked_bytes"], receiver["received_bytes"]
    if len(acked) == 0 or len(received) == 0:
        return None
    first_us, lacking_us = sender["elapsed_us"], receiver["elapsed_us"]
    rises = np.flatnonzero(np.diff(acked, prepend=0) > 0)
    rises = rises[acked[rises] <= received[-1]]
    if len(rises) == 0:
        return None
    marks = rises[np.unique(np.linspace(0, len(rises) - 1, min(MARKS, len(rises))).astype(np.int64))]
    there = np.searchsorted(received, acked[marks])  # the first sample that has them
    is_seen = there > 0
    if not is_seen.any():
        return None
    leads_us = lacking_us[there[is_seen] - 1] - first_us[marks[is_seen]]
    return float(np.median(leads_us)) / 1e3


def quick_end(known: Known) -> str | None:
    """The end whose handshake was answered by something nearer than the far end, or `both`.

    A probe's round trip is the path's own. Without probes both of the other end's handshake and the link's base RTT must be longer:
    each alone may be wrong.
    """
    handshakes = {"sender": known.sender_handshake_ms, "receiver": known.receiver_handshake_ms}
    quick = []
    for end, own_ms in handshakes.items():
        others = [value for name, value in handshakes.items() if name != end]
        least = [known.probe_rtt_ms] if known.probe_rtt_ms is not None else [*others, known.base_rtt_ms]
        if own_ms is not None and all(each is not None and own_ms < QUICK * each for each in least):
            quick.append(end)
    return "both" if len(quick) == len(handshakes) else next(iter(quick), None)


def _is_full(known: Known) -> bool:
    """Return whether both handshakes went all the way."""
    least_ms = known.probe_rtt_ms if known.probe_rtt_ms is not None else known.base_rtt_ms
    both = (known.sender_handshake_ms, known.receiver_handshake_ms)
    return least_ms is not None and all(each is not None and each >= FULL * least_ms for each in both)


def _largest(columns: Mapping[str, Ints], name: str) -> int | None:
    return int(columns[name].max()) if name in columns and len(columns[name]) else None
