"""Whether TCP is ended on the way, by its acknowledgements, handshakes and windows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.analysis.proxy import Ints, Known, Path, ack_lead_ms, proxy_signs

RATE_BYTES_MS = 5_000
NOTHING = Known(None, None, None, None, None)


def sampled(lag_ms: float, field: str, every_ms: int, seconds: int = 4, ahead_ms: float = 0) -> dict[str, Ints]:
    """A steady flow whose bytes are at this end so long after they were sent; ahead_ms: of its clock."""
    at_ms = np.arange(0, seconds * 1000, every_ms)
    there = np.maximum(0, (at_ms - lag_ms) * RATE_BYTES_MS).astype(np.int64)
    return {"elapsed_us": ((at_ms + ahead_ms) * 1000).astype(np.int64), field: there}


def ends(ack_ms: float, arrival_ms: float, ahead_ms: float = 0) -> tuple[dict[str, Ints], dict[str, Ints]]:
    sender = sampled(ack_ms, "acked_bytes", 5, ahead_ms=ahead_ms)
    return sender, sampled(arrival_ms, "received_bytes", 10)


def known(**values: float | None) -> Known:
    return Known(**{**dict.fromkeys(Known.__slots__), **values})


def test_bytes_that_are_acknowledged_before_they_arrive_were_acknowledged_by_a_proxy() -> None:
    sender, receiver = ends(ack_ms=12, arrival_ms=290)
    found = proxy_signs(sender, receiver, known(clock_error_ms=30.0))
    assert found.path is Path.SPLIT
    assert found.ack_lead_ms == pytest.approx(278, abs=15)
    assert found.ack_lead_ms <= 278, "polling makes it less, never more"


def test_clocks_that_may_differ_by_more_than_the_lead_decide_nothing() -> None:
    sender, receiver = ends(ack_ms=12, arrival_ms=290)
    assert proxy_signs(sender, receiver, known(clock_error_ms=300.0)).path is Path.UNKNOWN
    assert proxy_signs(sender, receiver, NOTHING).path is Path.UNKNOWN


@given(down_ms=st.floats(0, 400), up_ms=st.floats(0, 400), error_ms=st.floats(0.1, 100), off=st.floats(-1, 1))
def test_one_connection_is_never_taken_for_two(down_ms: float, up_ms: float, error_ms: float, off: float) -> None:
    """Whatever the delays of both ways, and clocks that differ by as much as their errors allow."""
    sender, receiver = ends(ack_ms=down_ms + up_ms, arrival_ms=down_ms, ahead_ms=off * error_ms)
    rtt_ms = down_ms + up_ms
    handshakes = {"sender_handshake_ms": rtt_ms, "receiver_handshake_ms": rtt_ms, "base_rtt_ms": rtt_ms}
    assert proxy_signs(sender, receiver, known(clock_error_ms=error_ms, **handshakes)).path is not Path.SPLIT


@pytest.mark.parametrize(
    ("values", "path", "near"),
    [
        ({"sender_handshake_ms": 10, "receiver_handshake_ms": 590, "base_rtt_ms": 600}, Path.SPLIT, "sender"),
        ({"sender_handshake_ms": 590, "receiver_handshake_ms": 2, "base_rtt_ms": 600}, Path.SPLIT, "receiver"),
        ({"sender_handshake_ms": 600, "receiver_handshake_ms": 620, "base_rtt_ms": 600}, Path.WHOLE, None),
        # Somebody has said too large a base RTT, or a handshake met a queue: neither alone is a proxy.
        ({"sender_handshake_ms": 50, "receiver_handshake_ms": 52, "base_rtt_ms": 600}, Path.UNKNOWN, None),
        ({"sender_handshake_ms": 40, "receiver_handshake_ms": 400, "base_rtt_ms": 40}, Path.WHOLE, None),
        ({"sender_handshake_ms": None, "receiver_handshake_ms": 590, "base_rtt_ms": 600}, Path.UNKNOWN, None),
        # A probe knows the path itself.
        ({"sender_handshake_ms": 10, "receiver_handshake_ms": 12, "probe_rtt_ms": 40, "base_rtt_ms": 12}, Path.SPLIT, "both"),
        ({"sender_handshake_ms": 10, "receiver_handshake_ms": 33, "probe_rtt_ms": 40, "base_rtt_ms": 12}, Path.SPLIT, "sender"),
        ({"sender_handshake_ms": 41, "receiver_handshake_ms": 44, "probe_rtt_ms": 40}, Path.WHOLE, None),
    ],
)  # fmt: skip
def test_handshakes_that_were_answered_too_soon(values: dict[str, float], path: Path, near: str | None) -> None:
    found = proxy_signs({}, {}, known(**values))
    assert (found.path, found.near) == (path, near)


def test_the_windows_of_both_ends_are_shown() -> None:
    sender, receiver = ends(ack_ms=600, arrival_ms=300)
    sender["snd_wnd_bytes"] = np.array([65_536, 4_000_000])
    receiver["rcv_wnd_bytes"] = np.array([65_536, 16_000_000])
    found = proxy_signs(sender, receiver, NOTHING)
    assert (found.sender_window_bytes, found.receiver_window_bytes) == (4_000_000, 16_000_000)


@pytest.mark.parametrize(
    "lacking", [{}, {"elapsed_us": np.array([], np.int64), "received_bytes": np.array([], np.int64)}]
)
def test_a_trace_that_is_not_there_says_nothing(lacking: dict[str, Ints]) -> None:
    sender, receiver = ends(ack_ms=12, arrival_ms=290)
    assert ack_lead_ms(sender, lacking) is None
    assert ack_lead_ms({}, receiver) is None
    silent = {**receiver, "received_bytes": np.zeros_like(receiver["received_bytes"])}
    assert ack_lead_ms(sender, silent) is None
