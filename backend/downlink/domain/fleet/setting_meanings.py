"""Meanings of the host settings, in one sentence each, for people who plan a campaign.

After Linux 6.x: Documentation/networking/ip-sysctl.rst, net/ipv4/tcp_cubic.c, ip-route(8).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "net.ipv4.tcp_rmem": "Receive buffer of a connection in bytes. About half of the most can be offered as window",
        "net.ipv4.tcp_wmem": "Send buffer of a connection in bytes. It holds what waits and what is not acknowledged yet",
        "net.ipv4.tcp_mem": "Memory of all TCP connections in pages: below the first no limit, above the last none more is given",
        "net.ipv4.tcp_moderate_rcvbuf": "1: the receive buffer grows with what the application reads (autotuning). 0: it keeps its start",
        "net.ipv4.tcp_no_metrics_save": "1: no slow-start threshold or RTT of an earlier connection is used again",
        "net.ipv4.tcp_slow_start_after_idle": "1: the congestion window shrinks after a pause. 0: it is kept",
        "net.ipv4.tcp_window_scaling": "1: windows above 64 kB may be offered. 0: none above, as before RFC 7323",
        "net.ipv4.tcp_sack": "1: receivers say which later bytes have arrived (selective acknowledgements)",
        "net.ipv4.tcp_timestamps": "1: segments carry times, from which RTT is read, offset by connection. 2: without offset. 0: none",
        "net.ipv4.tcp_ecn": "Explicit congestion notification. 0: off. 1: asked for. 2: only answered. 3 to 5: AccECN, newer kernels",
        "net.core.rmem_max": "The largest receive buffer that a program may ask for itself, in bytes",
        "net.core.wmem_max": "The largest send buffer that a program may ask for itself, in bytes",
        "net.core.default_qdisc": "Queueing discipline of new network devices, such as fq, fq_codel or pfifo_fast",
        "tcp_cubic.hystart": "1: HyStart may end Cubic's slow start before a loss. 0: it may not",
        "tcp_cubic.hystart_detect": "Which of HyStart's detectors may end slow start. 1: ACK train. 2: delay. 3: both",
        "tcp_cubic.hystart_low_window": "HyStart waits until the congestion window has so many segments",
        "tcp_cubic.hystart_ack_delta_us": "ACKs that are no further apart, in microseconds, belong to one train",
        "tcp_cubic.beta": "What Cubic keeps of its window after a loss, out of 1,024; 717 is 0.7",
        "tcp_cubic.fast_convergence": "1: Cubic gives way to new flows faster, when its window is smaller than at the loss before",
        "tcp_cubic.tcp_friendliness": "1: Cubic is at no time slower than Reno would be",
        "tcp_cubic.initial_ssthresh": "Slow start ends at this window in segments. 0: no threshold at first",
        "route.initcwnd": "Congestion window at the start in segments, on the route to the other host",
        "route.initrwnd": "Receive window at the start in segments, on the route to the other host",
    }
)
