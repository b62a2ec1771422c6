"""Detectors that ran in the kernel, as the agent's own controls, against their replay over the same flow (tests/data/exits/README.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from downlink.analysis.exits.best import judge_best
from downlink.analysis.exits.flow import judge_flow
from downlink.analysis.exits.hystartpp import judge_hystartpp
from downlink.analysis.exits.meansd import judge_meansd
from downlink.analysis.exits.observation import judge_first_loss, judge_observed_exit
from downlink.analysis.exits.search import judge_search_31, judge_search_40
from downlink.analysis.exits.trace import INFINITE_SSTHRESH_SEGMENTS, AckTrace, trace_from_fields
from downlink.analysis.exits.verdict import Verdict
from downlink.codec.parquet import Columns, parquet_to_columns

DATA = Path(__file__).parents[2] / "data" / "exits"


def columns(name: str) -> Columns:
    return parquet_to_columns((DATA / f"own-{name}.parquet").read_bytes())


def recorded(name: str) -> AckTrace:
    return trace_from_fields(columns(name), is_per_ack=True, congestion_control="cubic")


@pytest.mark.parametrize("name", ["best", "hspp", "search-1.0", "search-3.1", "search-4.0", "meansd"])
def test_the_control_and_not_a_loss_ended_slow_start(name: str) -> None:
    assert judge_first_loss(recorded(name)).exit_us is None
    assert judge_observed_exit(recorded(name)).exit_us is not None


@pytest.mark.parametrize(
    ("name", "judge"),
    [
        ("search-3.1", judge_search_31),
        ("search-4.0", judge_search_40),
        ("hspp", judge_hystartpp),
        ("meansd", judge_meansd),
    ],
)
def test_the_replay_decides_at_the_ack_at_which_the_kernel_did(name: str, judge: Callable[[AckTrace], Verdict]) -> None:
    assert judge(recorded(name)).exit_us == judge_observed_exit(recorded(name)).exit_us


def test_search_1_0_decides_at_the_ack_at_which_the_curve_of_paper_002_does() -> None:
    trace = recorded("search-1.0")
    times = judge_flow(trace).times
    assert times is not None
    assert times.ex_us == judge_observed_exit(trace).exit_us


def test_best_sets_the_threshold_at_the_same_ack_and_slow_start_goes_on_until_the_window_is_there() -> None:
    trace, replayed = recorded("best"), judge_best(recorded("best"))
    assert trace.ssthresh_segments is not None
    set_row = int(np.flatnonzero(trace.ssthresh_segments < INFINITE_SSTHRESH_SEGMENTS)[0])
    assert replayed.quantities["ssthresh_set_us"] == trace.time_us[set_row]
    assert replayed.quantities["ssthresh_segments"] == trace.ssthresh_segments[set_row]
    assert trace.cwnd_segments is not None
    assert trace.cwnd_segments[set_row] < trace.ssthresh_segments[set_row]
    observed = judge_observed_exit(trace)
    assert observed.cwnd_segments is not None
    assert replayed.quantities["ssthresh_set_us"] < replayed.exit_us == observed.exit_us
    assert observed.cwnd_segments >= observed.quantities["ssthresh_segments"]


def test_hystartpp_enters_conservative_slow_start_at_the_same_ack() -> None:
    trace, states = recorded("hspp"), columns("hspp")["detector_state"]
    entered_us = trace.time_us[np.flatnonzero(np.diff(states) == 1)[0] + 1]
    assert judge_hystartpp(trace).quantities["css_entered_us"] == [entered_us]
