from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.analysis.linklog import CAUSES, HopLog, Interruption, drawn_link, interruptions, waits_ms
from downlink.domain.traces.sample import link_fields
from tests.fixtures.scripted_agent import draw_link


def log(rows: int) -> dict[str, Any]:
    return draw_link(np.arange(rows, dtype=np.int64) * 10_000)


def test_causes_are_those_of_the_documented_list() -> None:
    named = [f"{cause}_bytes" for cause in CAUSES]
    assert [name.removeprefix("down_") for name in link_fields() if name.startswith("down_")][-len(CAUSES) :] == named


def test_a_short_log_is_drawn_row_by_row() -> None:
    drawn = drawn_link(log(401))
    assert (len(drawn.time_s), drawn.time_s[:2], drawn.end_s) == (400, [0.0, 0.01], 4.0)
    down = drawn.ways.down
    assert down.rate_bps[7] == 160e6
    assert down.delay_ms[7] == 276.0
    assert down.waiting_bytes[:3] == [0, 10_000, 20_000]
    assert down.delivered_bps[100] == pytest.approx(72e6)  # of 80 Mb/s a tenth waits
    assert [at for at, out in zip(drawn.time_s, down.outage_s, strict=True) if out] == [1.49, 2.99]
    assert drawn.ways.up.rate_bps == [1e6] * 400


def test_each_change_of_the_path_has_its_moment() -> None:
    columns = log(401)
    assert drawn_link(columns).path_changes_s == []
    columns["down_path"] = np.where(np.arange(401) < 150, 7, np.where(np.arange(401) < 151, 8, 9))
    assert drawn_link(columns, 3).path_changes_s == [1.5, 1.51], "none is lost in a step of a second"
    del columns["down_path"]
    assert drawn_link(columns).path_changes_s == []


@given(st.integers(2, 3_000), st.integers(1, 500))
def test_a_thinned_log_keeps_sums_and_peaks(rows: int, most: int) -> None:
    columns = log(rows)
    drawn = drawn_link(columns, most)
    down = drawn.ways.down
    assert 1 <= len(drawn.time_s) <= most
    assert drawn.end_s == pytest.approx((rows - 1) / 100)
    assert sum(down.lost_bytes.queue_full) == columns["down_queue_full_bytes"][-1]
    assert sum(down.outage_s) == pytest.approx(columns["down_outage_us"][-1] / 1e6)
    assert max(down.waiting_bytes) == max(columns["down_waiting_bytes"][:-1])
    lasts_s = np.diff([*drawn.time_s, drawn.end_s])
    assert np.dot(down.delivered_bps, lasts_s) / 8 == pytest.approx(columns["down_delivered_bytes"][-1])


def test_interruptions_are_stretches_in_which_their_counters_rise() -> None:
    columns = log(201) | {"up_gap_us": np.clip(np.arange(201) - 50, 0, 7) * 10_000}
    assert interruptions(columns) == [
        Interruption("handover", "up", 500_000, 570_000),
        Interruption("outage", "down", 1_490_000, 1_500_000),
    ]
    held_to_the_end = log(3) | {"down_outage_us": np.array([0, 1, 2])}
    assert interruptions(held_to_the_end) == [Interruption("outage", "down", 0, 20_000)]


@pytest.mark.parametrize("rows", [0, 1])
def test_a_log_without_time_draws_nothing(rows: int) -> None:
    drawn = drawn_link(log(rows))
    assert (drawn.time_s, drawn.ways.down.waiting_bytes) == ([], [])
    assert drawn.ways.up.lost_bytes.outage == []
    assert interruptions(log(rows)) == []


def hop(rate_bps: np.ndarray[Any, Any]) -> HopLog:
    """Rows each 10 ms; the rate holds from a row to the next one."""
    time_us = np.arange(len(rate_bps), dtype=np.int64) * 10_000
    room = np.concatenate(([0.0], np.cumsum(rate_bps[:-1] * 0.01 / 8)))
    return HopLog(time_us, room, room)


def test_a_wait_is_what_waits_over_the_rate_and_gaps_count() -> None:
    waiting = np.where(np.arange(401) < 200, 50_000, 0)  # at a byte a microsecond
    waits = waits_ms(hop(np.full(401, 8e6)), waiting)
    assert waits[:200] == pytest.approx(50.0)
    assert waits[200:] == pytest.approx(0.0)
    rate = np.full(401, 8e6)
    rate[100:110] = 0  # 100 ms
    only = np.where(np.arange(401) == 99, 50_000, 0)
    assert waits_ms(hop(rate), only)[99] == pytest.approx(150.0)
    assert waits_ms(hop(rate), 0 * only) == pytest.approx(0.0)


def test_a_queue_that_outlasts_the_log_is_not_known() -> None:
    waits = waits_ms(hop(np.full(101, 8e6)), np.full(101, 500_000))
    assert waits[:51] == pytest.approx(500.0)
    assert np.isnan(waits[51:]).all()
