"""Imported flows: counters begin at 0 with the connection, and each quantity comes from the best source there is."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.imported_series import counted_from_zero, imported_series

Columns = dict[str, NDArray[np.int64]]
SECOND = 1_000_000


def columns(**lists: list[int]) -> Columns:
    return {name: np.array(values, dtype=np.int64) for name, values in lists.items()}


def shown(sender: Columns, receiver: Columns, quantity: str) -> list[float | None]:
    return [None if math.isnan(value) else value for value in imported_series(sender, receiver).column(quantity)]


def test_a_late_first_sample_is_preceded_by_a_start_at_zero() -> None:
    late = counted_from_zero(columns(elapsed_us=[5, 9], acked_bytes=[100, 200], rtt_us=[7, 8]))
    assert {name: values.tolist() for name, values in late.items()} == {
        "elapsed_us": [0, 5, 9],
        "acked_bytes": [0, 100, 200],
        "rtt_us": [7, 7, 8],
    }
    prompt = columns(elapsed_us=[0, 9], acked_bytes=[100, 200])
    assert counted_from_zero(prompt) == prompt


def test_what_the_kernel_counted_goes_before_what_a_program_did() -> None:
    sender = columns(
        elapsed_us=[SECOND, 2 * SECOND], acked_bytes=[100, 300], app_bytes=[1000, 2000], rtt_us=[50_000, 60_000]
    )
    receiver = columns(elapsed_us=[SECOND, 2 * SECOND], app_bytes=[90, 280])
    assert shown(sender, receiver, "goodput_bps") == [800, 1600]
    assert shown(sender, receiver, "throughput_bps") == [800, 1600]
    # The sample of 1 s lies in second 1; nothing was sampled in second 0.
    assert shown(sender, receiver, "rtt_ms") == [None, 50]


def test_a_sender_that_only_wrote_leaves_goodput_to_the_receiver() -> None:
    sender = columns(elapsed_us=[SECOND, 2 * SECOND], app_bytes=[1000, 2000])
    receiver = columns(elapsed_us=[SECOND, 2 * SECOND], app_bytes=[500, 1500])
    assert shown(sender, receiver, "goodput_bps") == shown(sender, receiver, "throughput_bps") == [4000, 8000]
    assert shown(sender, {}, "throughput_bps") == [8000, 8000]
    assert shown(sender, {}, "goodput_bps") == [None, None]
    for unknown in ("cwnd_bytes", "retransmission_percent", "in_flight_bytes", "rwnd_bytes", "rtt_ms"):
        assert shown(sender, receiver, unknown) == [None, None]


def test_a_receiver_alone_tells_goodput_and_its_window() -> None:
    receiver = columns(elapsed_us=[0, SECOND, 2 * SECOND], received_bytes=[0, 125, 375], rcv_wnd_bytes=[10, 20, 30])
    assert shown({}, receiver, "goodput_bps") == shown({}, receiver, "throughput_bps") == [1000, 2000]
    assert shown({}, receiver, "rwnd_bytes") == [10, 20]


def test_samples_far_apart_are_gaps() -> None:
    sparse = columns(elapsed_us=[10 * SECOND, 20 * SECOND], app_bytes=[100, 200])
    # 100 bytes in 10 s: known for the seconds that hold a sample, or the start.
    assert shown(sparse, {}, "throughput_bps") == [80] + [None] * 9 + [80] + [None] * 9


def test_acks_bring_their_own_rtt_and_those_without_one_do_not_count() -> None:
    acks = columns(elapsed_us=[0, 10, SECOND], acked_bytes=[1, 2, 3], ack_rtt_us=[40_000, -1, 50_000])
    assert shown(acks, {}, "rtt_ms") == [40]
