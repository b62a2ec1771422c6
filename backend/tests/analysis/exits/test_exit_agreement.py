"""Vectorised detectors against the same rules walked ACK by ACK, on untidy random flows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from downlink.analysis.exits.hystart import HyStart, Kernel, judge_hystart
from downlink.analysis.exits.hystartpp import judge_hystartpp
from downlink.analysis.exits.meansd import MeanDeviation, judge_meansd
from downlink.analysis.exits.search import Search31, Search40, judge_search_31, judge_search_40
from downlink.analysis.exits.trace import AckTrace
from tests.fixtures.exit_reference import hystart_exit, hystartpp_moves, meansd_exit, search_31_exit, search_40_exit
from tests.fixtures.exit_traces import random_trace

seeds = st.integers(0, 2**32)
rtts_us = st.sampled_from([1_000, 8_000, 40_000, 600_000])


@given(seeds, rtts_us, st.sampled_from([5, 20, 35]), st.sampled_from([1, 2, 65_535]), st.booleans())
def test_search_31_decides_as_ack_by_ack(seed: int, rtt_us: int, threshold: int, alpha: int, by_app: bool) -> None:
    trace = random_trace(seed, min_rtt_us=rtt_us)
    asked = Search31(threshold_percent=threshold, alpha=alpha, resets_when_app_limited=by_app)
    assert judge_search_31(trace, asked).exit_us == search_31_exit(trace, threshold, alpha, by_app=by_app)


@given(seeds, rtts_us, st.sampled_from([5, 26]))
def test_search_40_decides_as_ack_by_ack(seed: int, rtt_us: int, threshold: int) -> None:
    trace = random_trace(seed, min_rtt_us=rtt_us)
    assert judge_search_40(trace, Search40(threshold_percent=threshold)).exit_us == search_40_exit(trace, threshold)


@given(seeds, rtts_us, st.sampled_from(list(Kernel)), st.sampled_from([1, 2, 3]), st.booleans())
def test_hystart_decides_as_ack_by_ack(seed: int, rtt_us: int, kernel: Kernel, detect: int, is_paced: bool) -> None:
    trace = random_trace(seed, min_rtt_us=rtt_us)
    verdict = judge_hystart(trace, HyStart(kernel, detect, is_paced=is_paced))
    found = hystart_exit(trace, kernel.value, detect, is_paced=is_paced)
    assert (verdict.exit_us, verdict.quantities.get("signal")) == (found or (None, None))


@given(seeds, rtts_us)
def test_hystartpp_moves_as_ack_by_ack(seed: int, rtt_us: int) -> None:
    trace = random_trace(seed, min_rtt_us=rtt_us, rows=1_500)
    verdict, moves = judge_hystartpp(trace), hystartpp_moves(trace)
    assert verdict.quantities["css_entered_us"] == [at for to, at in moves if to == "css"]
    assert verdict.quantities["slow_start_resumed_us"] == [at for to, at in moves if to == "ss"]
    assert verdict.exit_us == next((at for to, at in moves if to == "ca"), None)


@given(seeds, rtts_us, st.sampled_from([0, 5, 10, 20, 40]))
def test_mean_and_deviation_decide_as_ack_by_ack(seed: int, rtt_us: int, k_tenths: int) -> None:
    trace = random_trace(seed, min_rtt_us=rtt_us)
    assert judge_meansd(trace, MeanDeviation(k_tenths)).exit_us == meansd_exit(trace, k_tenths)


def test_mean_and_deviation_leave_and_stay_among_these() -> None:
    found = {judge_meansd(random_trace(seed), MeanDeviation(5)).exit_us is None for seed in range(40)}
    assert found == {True, False}


def exits(trace: AckTrace) -> list[int | None]:
    verdicts = [
        judge_search_31(trace, Search31(threshold_percent=10)),
        judge_search_40(trace, Search40(threshold_percent=10)),
    ]
    return [
        v.exit_us
        for v in [*verdicts, judge_hystart(trace), judge_hystart(trace, HyStart(Kernel.V5_10)), judge_hystartpp(trace)]
    ]


def test_random_flows_reach_every_kind_of_decision() -> None:
    """The agreement above would be empty if the flows never led anywhere."""
    found = np.array([[at is not None for at in exits(random_trace(seed, rows=1_500))] for seed in range(60)])
    assert np.all(found.any(axis=0))
    signals = {judge_hystart(random_trace(seed)).quantities.get("signal") for seed in range(60)}
    assert {"train", "delay"} <= signals
    resumed = [
        judge_hystartpp(random_trace(seed, rows=1_500)).quantities["slow_start_resumed_us"] for seed in range(60)
    ]
    assert any(resumed)


def test_an_exit_that_a_loss_forestalled_keeps_its_time_and_is_called_too_late() -> None:
    cut_off = 0
    for seed in range(40):
        trace, free = random_trace(seed, with_losses=True), random_trace(seed)
        verdict, without = judge_hystart(trace), judge_hystart(free)
        assert verdict.exit_us == without.exit_us
        if trace.loss_row is None or without.exit_us is None or without.exit_us < trace.time_us[trace.loss_row]:
            assert not verdict.is_too_late
            continue
        cut_off += 1
        assert verdict.is_too_late
        assert "first loss" in verdict.reason
    assert cut_off > 0
