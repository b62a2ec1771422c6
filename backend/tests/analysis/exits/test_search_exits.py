"""SEARCH by hand: bins of 35 ms (first RTT 100 ms), one ACK at the end of each bin unless a test says otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.analysis.exits.bins import bin_spans
from downlink.analysis.exits.search import Search31, Search40, judge_search_31, judge_search_40
from downlink.analysis.exits.trace import AckTrace
from tests.fixtures.exit_traces import make_trace, random_trace

BIN_US = 35_000


def flow(per_bin_bytes: list[int], *, start_bytes: int = 0, late_us: int = 0) -> AckTrace:
    """Row k closes bin k, late_us after its end; its RTT is two bins (the first one's is 100 ms, which sets the bin)."""
    time_us = np.arange(len(per_bin_bytes) + 1) * BIN_US
    time_us[1:] += late_us
    acked_bytes = start_bytes + np.concatenate(([0], np.cumsum(per_bin_bytes)))
    rtt_us = np.full(len(time_us), 2 * BIN_US)
    rtt_us[0] = 100_000
    return make_trace(time_us, acked_bytes, rtt_us, acked_bytes + 10_000)


def test_even_deliveries_exit_as_soon_as_a_window_lies_one_rtt_back() -> None:
    verdict = judge_search_31(flow([1_000] * 20))
    assert (verdict.exit_us, verdict.quantities["bin_index"]) == (12 * BIN_US, 12)
    assert verdict.quantities["norm_percent"] == 50


def test_the_threshold_itself_is_an_exit() -> None:
    # Earlier window 1,000 bytes, so that 1,300 now is exactly 35 % below its double.
    assert judge_search_31(flow([100] * 10 + [250, 250])).exit_us == 12 * BIN_US
    assert judge_search_31(flow([100] * 10 + [250, 251])).exit_us is None


def test_sixteen_bit_bins_lose_low_bits_and_exit_where_exact_bytes_would_not() -> None:
    assert judge_search_31(flow([100] * 10 + [250, 251], start_bytes=65_000)).exit_us == 12 * BIN_US


def test_a_row_exactly_on_the_end_closes_the_bin_in_31_and_not_in_40() -> None:
    spans_31 = list(bin_spans(flow([100] * 3), Search31().clock))
    spans_40 = list(bin_spans(flow([100] * 3), Search40().clock))
    assert spans_31[0].indices.tolist() == [0, 1, 2, 3]
    # A strict clock finds bin 1 closed only with the ACK at the end of bin 2, and then both at once.
    assert spans_40[0].indices.tolist() == [0, 2, 3]
    assert next(bin_spans(flow([100] * 3, late_us=1), Search40().clock)).indices.tolist() == [0, 1, 2, 3]


def test_deliveries_that_more_than_double_never_exit() -> None:
    assert judge_search_31(flow([100 * 2**k for k in range(20)])).exit_us is None


def test_the_fraction_of_a_bin_reaches_toward_older_bins() -> None:
    trace = flow([1_000] * 11 + [0] * 3)
    rtt_us = np.where(np.arange(trace.rows) == 0, 100_000, 2 * BIN_US + BIN_US // 2)
    late = make_trace(trace.time_us, trace.acked_bytes, rtt_us)
    # Bin 12, one RTT back is 9.5 in the middle of bins 10 and 9: 0.5 x 10,000 + 0.5 x (B(9) - 0); the flow's first bin held nothing.
    verdict = judge_search_31(late)
    assert (verdict.exit_us, verdict.quantities["earlier_bytes"]) == (12 * BIN_US, 9_500)


@pytest.mark.parametrize(("missed", "resets"), [(4, 0), (5, 1)])
def test_more_than_two_rtts_of_missed_bins_reset(missed: int, resets: int) -> None:
    # An initial RTT holds 2 bins, alpha is 2: up to 4 bins may pass at once.
    time_us = np.array([0, 1, 2, 2 + missed, 3 + missed]) * BIN_US
    verdict = judge_search_31(make_trace(time_us, np.arange(5) * 100, 100_000))
    assert verdict.quantities["resets"] == resets


def test_a_long_silence_learns_the_rtt_anew() -> None:
    time_us = np.array([0, BIN_US, 13 * BIN_US, 13 * BIN_US + 70_000])
    trace = make_trace(time_us, np.arange(4) * 100, np.array([100_000, 100_000, 200_000, 200_000]))
    assert [span.bin_us for span in bin_spans(trace, Search31().clock)] == [BIN_US, 70_000]


def test_bins_that_passed_without_a_row_keep_the_value_before_them() -> None:
    time_us = np.array([0, 1, 4]) * BIN_US
    span = next(bin_spans(make_trace(time_us, [100, 200, 300], 100_000), Search31().clock))
    assert span.at(np.array([100, 200, 300]), np.arange(-1, 5)).tolist() == [0, 100, 200, 200, 200, 300]


def test_inflated_rtts_disable_the_test() -> None:
    trace = flow([1_000] * 40)
    rtt_us = np.where(np.arange(trace.rows) == 0, 100_000, 14 * BIN_US)
    assert judge_search_31(make_trace(trace.time_us, trace.acked_bytes, rtt_us)).exit_us is None
    assert (
        judge_search_31(make_trace(trace.time_us, trace.acked_bytes, np.minimum(rtt_us, 14 * BIN_US - 1))).exit_us
        is not None
    )


def test_search_40_compares_with_what_was_sent() -> None:
    sent = np.concatenate(([0], np.cumsum([1_000] * 30)))
    acked = np.concatenate(([0], np.cumsum([1_000] * 15 + [500] * 15)))
    trace = make_trace(np.arange(31) * BIN_US + 1, acked, np.where(np.arange(31) == 0, 100_000, 2 * BIN_US), sent)
    verdict = judge_search_40(trace)
    # 26 % are missing once six of the ten current bins delivered half: (10,000 - 7,000) / 10,000.
    assert (verdict.quantities["norm_percent"], verdict.quantities["current_bytes"]) == (30, 7_000)


def test_polled_rows_decide_only_when_ten_fit_into_a_bin() -> None:
    def polled(step_us: int) -> AckTrace:
        time_us = np.arange(0, 700_000, step_us)
        return make_trace(time_us, time_us, 100_000, time_us, is_per_ack=False)

    assert judge_search_31(polled(3_500)).exit_us is not None
    verdict = judge_search_31(polled(3_600))
    assert not verdict.is_decidable
    assert verdict.reason.startswith("not decidable at this sampling: rows come every 3.6 ms")


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_slower_time_moves_the_exit_in_proportion(seed: int, factor: int) -> None:
    trace = random_trace(seed, min_rtt_us=40_000)
    rtt_us = np.where(trace.rtt_us < 0, -1, trace.rtt_us * factor)
    slower = make_trace(trace.time_us * factor, trace.acked_bytes, rtt_us, trace.snd_nxt_bytes)
    for judge in (judge_search_31, judge_search_40):
        exit_us = judge(trace).exit_us
        assert judge(slower).exit_us == (None if exit_us is None else exit_us * factor)


@given(st.integers(0, 2**32), st.integers(0, 2**40))
def test_the_source_s_clock_does_not_matter(seed: int, shift_us: int) -> None:
    trace = random_trace(seed)
    shifted = make_trace(trace.time_us + shift_us, trace.acked_bytes, trace.rtt_us, trace.snd_nxt_bytes)
    assert shifted.origin_us == shift_us + int(trace.time_us[0])
    assert judge_search_31(shifted) == judge_search_31(trace)


@given(st.integers(0, 2**32))
def test_merging_acks_that_close_no_bin_changes_nothing(seed: int) -> None:
    trace = random_trace(seed)
    closing = np.concatenate([span.rows for span in bin_spans(trace, Search31().clock)])
    some = np.random.default_rng(seed).random(trace.rows) < 0.3
    kept = np.union1d(closing, np.flatnonzero(some))
    merged = make_trace(trace.time_us[kept], trace.acked_bytes[kept], trace.rtt_us[kept])
    before, after = judge_search_31(trace), judge_search_31(merged)
    offset_us = int(trace.time_us[kept[0]])
    assert after.exit_us == (None if before.exit_us is None else before.exit_us - offset_us)
