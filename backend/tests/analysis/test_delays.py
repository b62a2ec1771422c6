"""One-way delays and jitter of delivery tables whose truth is known."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.analysis.binning import Ints
from downlink.analysis.delays import Clock, End, FlowDelays, common_clock, flow_delays, rows_stand_for
from downlink.analysis.sketch import quantiles
from downlink.domain.results.blockdelay import IN_ORDER, IN_ORDER_JITTER, JITTER, KINDS, ONE_WAY, SENTENCES, Why

SAME = Clock(0, 0.0)
Tables = tuple[dict[str, Ints], dict[str, Ints]]


def tables(sent_us: list[int], one_way_us: list[int], wait_us: list[int], ahead_us: int = 0) -> Tables:
    """Blocks from 0 on. ahead_us: of the receiver's clock."""
    block, left = np.arange(len(sent_us)), np.array(sent_us)
    there = left + np.array(one_way_us) + ahead_us
    return (
        {"elapsed_us": left, "block": block, "sent_at_us": left},
        {"elapsed_us": there, "block": block, "arrived_at_us": there, "delivered_at_us": there + np.array(wait_us)},
    )


def steady(seconds: int, by_second_us: list[int]) -> Tables:
    """Ten blocks a second, whose delay changes from second to second."""
    sent = [100_000 * each for each in range(10 * seconds)]
    return tables(sent, [by_second_us[each // 10] for each in range(10 * seconds)], [0] * 10 * seconds)


def mean_ms(found: FlowDelays, kind: str) -> float | None:
    spread = found.spread(kind)
    return spread and spread.mean_ms


ROWS = st.lists(
    st.tuples(st.integers(0, 9_000_000), st.integers(0, 900_000), st.integers(0, 500_000)), min_size=1, max_size=60
)


@given(ROWS, st.integers(-(10**9), 10**9), st.randoms())
def test_delays_are_of_blocks_whatever_the_order_of_rows_and_the_clocks_zeros(
    rows: list[tuple[int, int, int]], ahead_us: int, random: object
) -> None:
    """One clock whose zeros are apart; the truth comes from the drawn delays, with the standard library."""
    sent_us, one_way_us, wait_us = (list(each) for each in zip(*rows, strict=True))
    sent, delivered = tables(sent_us, one_way_us, wait_us, ahead_us)
    order = list(range(len(rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    sent = {name: values[order] for name, values in sent.items()}
    found = flow_delays(sent, delivered, Clock(-ahead_us, 0.0), 0)
    for kind, truth_us in (
        (ONE_WAY, one_way_us),
        (IN_ORDER, [a + b for a, b in zip(one_way_us, wait_us, strict=True)]),
    ):
        spread = found.spread(kind)
        assert spread is not None
        ranked = sorted(truth_us)
        assert spread.mean_ms == pytest.approx(statistics.fmean(truth_us) / 1e3, abs=1e-6)
        assert spread.median_ms == ranked[math.ceil(0.5 * len(ranked)) - 1] / 1e3
        assert spread.p95_ms == ranked[math.ceil(round(0.95 * len(ranked), 9)) - 1] / 1e3
        assert spread.n == len(rows)


@given(
    st.lists(st.tuples(st.integers(0, 400_000), st.integers(0, 900_000)), min_size=1, max_size=60), st.integers(0, 59)
)
def test_messages_count_from_their_offer(rows: list[tuple[int, int]], soonest: int) -> None:
    """Some wait at the sender before they leave, at least one does not."""
    waited_us, one_way_us = (list(each) for each in zip(*rows, strict=True))
    waited_us[soonest % len(rows)] = 0
    sent_us = [70_000 + 5_000 * each + wait for each, wait in enumerate(waited_us)]
    halves = tables(sent_us, one_way_us, [0] * len(rows))
    truth_ms = statistics.fmean(a + b for a, b in zip(waited_us, one_way_us, strict=True)) / 1e3
    assert mean_ms(flow_delays(*halves, SAME, 0, 5_000), ONE_WAY) == pytest.approx(truth_ms, abs=1e-6)
    assert mean_ms(flow_delays(*halves, SAME, 0), ONE_WAY) == pytest.approx(
        statistics.fmean(one_way_us) / 1e3, abs=1e-6
    )


def test_a_message_counts_in_the_second_of_its_offer() -> None:
    sent, there = tables([0, 900_000, 1_900_000], [10_000] * 3, [0] * 3)
    assert list(flow_delays(sent, there, SAME, 0, 500_000).second) == [0, 0, 1]
    assert list(flow_delays(sent, there, SAME, 0).second) == [0, 0, 1]
    assert list(flow_delays(*tables([0, 1_200_000], [10_000] * 2, [0] * 2), SAME, 0, 500_000).second) == [0, 0]


def test_jitter_is_the_change_of_the_mean_from_second_to_second() -> None:
    found = flow_delays(*steady(4, [80_000, 85_000, 85_000, 70_000]), SAME, 0)
    jitter = found.spread(JITTER)
    assert jitter is not None
    assert (jitter.mean_ms, jitter.median_ms, jitter.p95_ms, jitter.n) == (pytest.approx(20 / 3), 5, 15, 3)
    assert mean_ms(found, IN_ORDER_JITTER) == pytest.approx(20 / 3)


def test_a_second_without_blocks_ends_a_pair() -> None:
    sent, delivered = steady(4, [80_000, 90_000, 1, 60_000])
    is_there = sent["block"] // 10 != 2
    sent = {name: values[is_there] for name, values in sent.items()}
    found = flow_delays(sent, delivered, SAME, 0)
    jitter = found.spread(JITTER)
    assert jitter is not None
    assert (jitter.mean_ms, jitter.n) == (10, 1)


def test_seconds_count_from_the_first_data_byte() -> None:
    sent, delivered = steady(2, [80_000, 90_000])
    late = flow_delays(sent, delivered, SAME, 0)
    shifted = {name: values + 700_000 * (name.endswith("_us")) for name, values in sent.items()}
    there = {name: values + 700_000 * (name.endswith("_us")) for name, values in delivered.items()}
    assert mean_ms(flow_delays(shifted, there, SAME, 700_000), JITTER) == mean_ms(late, JITTER) == 10


def test_blocks_of_one_half_alone_have_no_delay() -> None:
    sent, delivered = steady(1, [80_000])
    sent = {name: values[::4] for name, values in sent.items()}
    found = flow_delays(sent, delivered, SAME, 0).spread(ONE_WAY)
    assert found is not None
    assert found.n == 3


@given(st.lists(st.integers(0, 400_000), min_size=5, max_size=40), st.floats(-4.9, 4.9))
def test_an_offset_within_the_errors_moves_delays_by_no_more_and_jitter_not_at_all(
    one_way_us: list[int], offset_ms: float
) -> None:
    one_way_us = [50_000 + each for each in one_way_us]
    sent_us = [150_000 * each for each in range(len(one_way_us))]
    nothing, off_us = [0] * len(sent_us), round(1e3 * offset_ms)
    truth = flow_delays(*tables(sent_us, one_way_us, nothing), SAME, 0)
    seen = flow_delays(*tables(sent_us, one_way_us, nothing, off_us), Clock(0, 5.0), 0)
    assert mean_ms(seen, ONE_WAY) == pytest.approx(mean_ms(truth, ONE_WAY), abs=5.0)
    assert mean_ms(seen, JITTER) == pytest.approx(mean_ms(truth, JITTER), abs=1e-6)


@pytest.mark.parametrize(
    ("delay_ms", "error_ms", "why"),
    [
        (20, 5.0, None),
        (20, 5.01, Why.CLOCK_UNSURE),
        (300, 30.0, None),
        (300, 30.01, Why.CLOCK_UNSURE),
        (300, None, Why.CLOCK_UNKNOWN),
        (-1, 4.0, Why.BELOW_ZERO),
    ],
)
def test_there_is_no_delay_where_clocks_may_differ_by_more_than_5_ms_and_a_tenth_of_it(
    delay_ms: int, error_ms: float | None, why: Why | None
) -> None:
    found = flow_delays(*steady(3, [1_000 * delay_ms] * 3), Clock(0, error_ms), 0)
    for kind in (ONE_WAY, IN_ORDER):
        assert found.why.get(kind) == why
        assert mean_ms(found, kind) == (None if why else delay_ms)
        assert found.sketch(kind).total == (0 if why else 30)
    assert mean_ms(found, JITTER) == 0, "a constant difference of clocks is in no difference of delays"
    phase = found.of_phase(np.ones(3, bool))
    assert math.isnan(phase["one_way_delay_ms"]) == (why is not None)


def test_two_agents_of_one_kernel_have_one_clock() -> None:
    """Their zeros differ by what they were late; the server's clock is not asked."""
    assert common_clock(End("a", 1_000, 80.0), End("a", 1_250, 80.0)) == Clock(250, 0.0)
    assert common_clock(End("a", 1_000, 2.0), End("b", 9_000, 1.5)) == Clock(0, 3.5)
    assert common_clock(End("a", 1_000, 2.0), End("b", 9_000, None)) == Clock(0, None)
    assert common_clock(End(None, 1_000, 2.0), End(None, 1_000, 1.0)) == Clock(0, 3.0)


def test_a_phase_has_the_blocks_that_left_in_its_seconds() -> None:
    found = flow_delays(*steady(5, [10_000, 20_000, 40_000, 70_000, 999_000]), SAME, 0)
    inside = np.array([False, True, True, False])  # the series ends before the fifth second
    assert found.of_phase(inside) == {"one_way_delay_ms": 30, "in_order_delay_ms": 30, "jitter_ms": 20}
    assert found.of_phase(np.ones(4, bool))["one_way_delay_ms"] == 35
    assert all(math.isnan(each) for each in found.of_phase(np.zeros(4, bool)).values())


def test_a_row_counts_as_the_blocks_that_it_stands_for() -> None:
    """Of a long flow later rows stand for 2, 4, … blocks, as agents thin them."""
    block = np.array([0, 65_535, 65_536, 131_070, 131_072, 262_143, 262_144, 2**40])
    assert rows_stand_for(block).tolist() == [1, 1, 2, 2, 4, 4, 8, 2**25]
    sent, delivered = tables([0, 1_000], [10_000, 40_000], [0, 0])
    sent["block"] = delivered["block"] = np.array([65_535, 65_536])
    found = flow_delays(sent, delivered, SAME, 0)
    assert mean_ms(found, ONE_WAY) == 30
    assert quantiles(found.sketch(ONE_WAY), [0.3, 0.4]) == pytest.approx([10, 40], rel=0.005)


def test_what_cannot_be_known_says_why() -> None:
    sent, delivered = steady(1, [80_000])
    assert flow_delays(sent, {}, SAME, 0).why == dict.fromkeys(KINDS, Why.HALF_MISSING)
    later = {**delivered, "block": delivered["block"] + 1_000}
    assert flow_delays(sent, later, SAME, 0).why == dict.fromkeys(KINDS, Why.NO_COMMON_BLOCKS)
    order = {name: values for name, values in delivered.items() if name != "arrived_at_us"}
    found = flow_delays(sent, order, SAME, 0)
    assert found.why == {ONE_WAY: Why.ORDER_ONLY, JITTER: Why.ORDER_ONLY, IN_ORDER_JITTER: Why.TOO_SHORT}
    assert mean_ms(found, IN_ORDER) == 80
    assert math.isnan(found.of_phase(np.ones(1, bool))["one_way_delay_ms"])


def test_every_reason_has_a_sentence() -> None:
    assert set(SENTENCES) == set(Why)
