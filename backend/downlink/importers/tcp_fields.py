"""Our fields out of tcp_info, by name (ndt7) and by place (raw struct)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from downlink.importers.model import Ints

BITS_PER_BYTE = 8

# Name in ndt7's TCPInfo: our name. Both use the kernel's units.
BY_NAME: Mapping[str, str] = {
    "CAState": "ca_state",
    "SndCwnd": "cwnd_segments",
    "SndSsThresh": "ssthresh_segments",
    "Unacked": "unacked_segments",
    "Sacked": "sacked_segments",
    "Lost": "lost_segments",
    "Retrans": "retrans_segments",
    "RTT": "rtt_us",
    "RTTVar": "rttvar_us",
    "MinRTT": "min_rtt_us",
    "RTO": "rto_us",
    "SndMSS": "snd_mss_bytes",
    "RcvMSS": "rcv_mss_bytes",
    "RcvRTT": "rcv_rtt_us",
    "RcvSpace": "rcv_space_bytes",
    "TotalRetrans": "total_retrans_segments",
    "BytesAcked": "acked_bytes",
    "BytesReceived": "received_bytes",
    "NotsentBytes": "notsent_bytes",
    "BusyTime": "busy_us",
    "RWndLimited": "rwnd_limited_us",
    "SndBufLimited": "sndbuf_limited_us",
    "Delivered": "delivered_segments",
    "BytesSent": "sent_bytes",
    "BytesRetrans": "retransmitted_bytes",
    "DSackDups": "dsack_dups_segments",
    "ReordSeen": "reord_seen",
    "RcvOooPack": "ooo_segments",
    "SndWnd": "snd_wnd_bytes",
}
# Bytes per second there, bits per second here.
RATES: Mapping[str, str] = {"PacingRate": "pacing_rate_bps", "DeliveryRate": "delivery_rate_bps"}

# Our name: offset and type in struct tcp_info.
BY_PLACE: Mapping[str, tuple[int, str]] = {
    "ca_state": (1, "u1"),
    "rto_us": (8, "<u4"),
    "snd_mss_bytes": (16, "<u4"),
    "rcv_mss_bytes": (20, "<u4"),
    "unacked_segments": (24, "<u4"),
    "sacked_segments": (28, "<u4"),
    "lost_segments": (32, "<u4"),
    "retrans_segments": (36, "<u4"),
    "rtt_us": (68, "<u4"),
    "rttvar_us": (72, "<u4"),
    "ssthresh_segments": (76, "<u4"),
    "cwnd_segments": (80, "<u4"),
    "rcv_rtt_us": (92, "<u4"),
    "rcv_space_bytes": (96, "<u4"),
    "total_retrans_segments": (100, "<u4"),
    "pacing_rate_bps": (104, "<i8"),
    "acked_bytes": (120, "<i8"),
    "received_bytes": (128, "<i8"),
    "notsent_bytes": (144, "<u4"),
    "min_rtt_us": (148, "<u4"),
    "delivery_rate_bps": (160, "<i8"),
    "busy_us": (168, "<i8"),
    "rwnd_limited_us": (176, "<i8"),
    "sndbuf_limited_us": (184, "<i8"),
    "delivered_segments": (192, "<u4"),
    "sent_bytes": (200, "<i8"),
    "retransmitted_bytes": (208, "<i8"),
    "dsack_dups_segments": (216, "<u4"),
    "reord_seen": (220, "<u4"),
    "ooo_segments": (224, "<u4"),
    "snd_wnd_bytes": (228, "<u4"),
    "rcv_wnd_bytes": (232, "<u4"),
}


def decode_structs(structs: list[bytes]) -> dict[str, Ints]:
    """Columns out of tcp_info structs; a field that any of them is too short for is left out. Rates become bits per second."""
    length = min(map(len, structs))
    stacked = np.frombuffer(b"".join(struct[:length] for struct in structs), np.uint8).reshape(len(structs), length)
    columns: dict[str, Ints] = {}
    for name, (offset, kind) in BY_PLACE.items():
        end = offset + np.dtype(kind).itemsize
        if end <= length:
            values = np.ascontiguousarray(stacked[:, offset:end]).view(kind)[:, 0].astype(np.int64)
            columns[name] = to_bps(values) if name.endswith("_bps") else values
    return columns


def to_bps(bytes_per_s: Ints) -> Ints:
    """Bits per second; -1 (not paced) stays -1."""
    return np.where(bytes_per_s < 0, -1, np.minimum(bytes_per_s, 2**59) * BITS_PER_BYTE)
