"""Input of a fit: echoes of probe flows, and acknowledgements of TCP flows. The log of an emulated link is not used: a real link has
none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

PROBE_FIELDS = ("elapsed_us", "probe_number", "probe_rtt_us")
ACK_FIELDS = ("elapsed_us", "delivered_segments", "acked_bytes", "ack_rtt_us", "lost_total_segments", "snd_mss_bytes")
HEADER_BYTES = 52
"""Bytes that the link carries besides a segment's payload, as an IPv4 packet with timestamps; also those of a pure
acknowledgement."""


@dataclass(frozen=True)
class Echoes:
    """A probe flow. sent_us rises; rtt_us is -1 where nothing came back; came: which of them reached the receiver, None where
    nobody knows. is_alone: no data went over the link meanwhile."""

    run: str
    sent_us: Ints
    rtt_us: Ints
    came: NDArray[np.bool_] | None
    is_alone: bool

    @property
    def every_us(self) -> float:
        return float(np.median(np.diff(self.sent_us))) if len(self.sent_us) > 1 else 0.0

    @property
    def answered(self) -> NDArray[np.bool_]:
        return self.rtt_us >= 0


@dataclass(frozen=True)
class Acks:
    """A TCP flow that had its link to itself, a value for each acknowledgement. time_us counts from the first data byte;
    delivered_bytes are payload that arrived, whether in order or not; lost_segments: marked lost so far; rtt_us: -1 for none.
    has_hystart: says something of CUBIC alone. is_limited: the application, not the link, held it back; None where nobody knows."""

    run: str
    cc: str
    time_us: Ints
    delivered_bytes: Ints
    rtt_us: Ints
    lost_segments: Ints
    mss_bytes: int
    has_hystart: bool = True
    is_limited: NDArray[np.bool_] | None = None

    @property
    def seconds(self) -> float:
        return float(self.time_us[-1] / 1e6) if len(self.time_us) else 0.0

    @property
    def packet_bytes(self) -> int:
        return self.mss_bytes + HEADER_BYTES


def echoes(run: str, sender: Mapping[str, Ints], receiver: Mapping[str, Ints], is_alone: bool) -> Echoes:
    """Read the traces of a probe flow; receiver: empty where it is missing."""
    came = np.isin(sender["probe_number"], receiver["probe_number"]) if "probe_number" in receiver else None
    return Echoes(run, sender["elapsed_us"], sender["probe_rtt_us"], came, is_alone)


def acks(run: str, cc: str, sender: Mapping[str, Ints], first_byte_us: int, has_hystart: bool = True) -> Acks:
    """Read a per-ACK trace. Out-of-order deliveries count where the kernel reported them."""
    mss = int(np.median(sender["snd_mss_bytes"])) if "snd_mss_bytes" in sender else 1448
    delivered = sender["delivered_segments"] * mss if "delivered_segments" in sender else sender["acked_bytes"]
    zeros = np.zeros(len(delivered), np.int64)
    return Acks(
        run, cc, sender["elapsed_us"] - first_byte_us, np.asarray(delivered, np.int64), sender["ack_rtt_us"],
        sender.get("lost_total_segments", zeros), mss, has_hystart, _limited(sender),
    )  # fmt: skip


def _limited(sender: Mapping[str, Ints]) -> NDArray[np.bool_] | None:
    flags = sender.get("app_limited", sender.get("delivery_rate_app_limited"))
    return None if flags is None else np.asarray(flags > 0)


@dataclass(frozen=True)
class Recorded:
    """All flows that a fit is made of."""

    probes: tuple[Echoes, ...]
    flows: tuple[Acks, ...]

    @property
    def idle(self) -> tuple[Echoes, ...]:
        return tuple(each for each in self.probes if each.is_alone and each.answered.sum() >= 2)

    @property
    def runs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*(each.run for each in self.probes), *(each.run for each in self.flows)]))
