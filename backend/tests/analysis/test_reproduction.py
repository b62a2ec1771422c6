"""Published values beside numbers whose truth is known: each estimate computed another way, each reading on both sides of its bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from downlink.analysis.lead import lead_end_s
from downlink.analysis.report import FlowRecord, build_report
from downlink.analysis.reproduction import Material, Reproduced, reproduce
from downlink.analysis.sketch import Sketch, pool, quantiles, sketch
from downlink.domain.campaigns.campaign import Phases, Window
from downlink.domain.results.metric import METRICS, QUANTITIES
from downlink.domain.results.reproduction import PublishedValue, Side

PHASES = Phases(2, 3, (Window("lead", 2, 4),))
ON, OFF = [9.0, 10.0, 12.0, 11.0], [18.0, 22.0, 23.0, 25.0]
BINS = 8


def record(condition: str, cycle: int, mbps: float, flow: int = 1, **changes: Any) -> FlowRecord:
    """A flow at one rate, whose 1 and 2 MB took a tenth and a fifth of it in seconds."""
    metrics = np.full((len(PHASES.names), len(METRICS)), np.nan)
    metrics[:, METRICS.index("throughput_bps")] = mbps * 1e6
    series = np.full((len(QUANTITIES), BINS), np.nan)
    series[0] = mbps * 1e6
    times = {"object_times": np.array([mbps / 10, mbps / 5]), "received_object_times": np.array([mbps])}
    own = {
        "run": f"{condition}-{cycle}",
        "link": "geo",
        "condition": condition,
        "cycle": cycle,
        "flow": flow,
        "cc": "cubic",
    }
    return FlowRecord(**{**own, "series": series, "metrics": metrics, "object_times": times, **changes})


SINGLES = [record(name, cycle, rate) for name, rates in (("on", ON), ("off", OFF)) for cycle, rate in enumerate(rates)]
PAIRS = [record("pair", cycle, rate, flow) for flow, rates in ((1, ON), (2, OFF)) for cycle, rate in enumerate(rates)]


def reproduced(
    records: list[FlowRecord] | None = None,
    slow_starts: dict[tuple[str, int], dict[str, float | None]] | None = None,
    sketches: dict[tuple[str, int], dict[str, Sketch]] | None = None,
    **asked: Any,
) -> Reproduced:
    flows = [*SINGLES, *PAIRS] if records is None else records
    report = build_report(
        flows,
        conditions=("on", "off", "pair"),
        phases=PHASES,
        primary=(),
        nominal_rate_bps={"geo": 1e9, "leo": 1e9},
        seed=1,
    )
    own = {"name": "x", "metric": "throughput_bps", "side": Side("on"), "least": 10.5, "most": 10.5, **asked}
    return reproduce(PublishedValue(**own), Material(report, flows, slow_starts or {}, sketches or {}, 1), "geo")


def test_a_mean_has_student_s_interval_on_a_logarithmic_scale_in_the_shown_unit() -> None:
    found = reproduced(phase="lead")
    factor = np.exp(stats.t.ppf(0.975, 3) * stats.sem(ON) / np.mean(ON))
    assert (found.statistic, found.unit, found.n) == ("mean", "Mb/s", 4)
    assert (found.estimate, found.low, found.high) == pytest.approx((10.5, 10.5 / factor, 10.5 * factor))
    assert found.reading == "inside"


def test_a_ratio_pairs_runs_by_cycle_and_flows_by_run() -> None:
    logs = np.log(np.array(OFF) / np.array(ON))
    interval = stats.ttest_1samp(logs, 0).confidence_interval(0.95)
    by_cycle = reproduced(side=Side("off"), over=Side("on"), least=2, most=2)
    by_run = reproduced(side=Side("pair", 2), over=Side("pair", 1), least=2, most=2)
    for found in (by_cycle, by_run):
        assert (found.statistic, found.unit, found.n) == ("ratio", "", 4)
        assert found.estimate == pytest.approx(stats.gmean(np.array(OFF) / np.array(ON)))
        assert (found.low, found.high) == pytest.approx((np.exp(interval.low), np.exp(interval.high)))


def test_a_difference_is_the_paired_t_interval() -> None:
    interval = stats.ttest_rel(OFF, ON).confidence_interval(0.95)
    found = reproduced(side=Side("off"), minus=Side("on"), least=11, most=12)
    assert found.estimate == pytest.approx(np.mean(OFF) - np.mean(ON))
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert (found.statistic, found.unit) == ("difference", "Mb/s")


def test_a_cycle_that_one_condition_lacks_makes_no_pair() -> None:
    assert reproduced([each for each in SINGLES if each.run != "on-2"], side=Side("off"), over=Side("on")).n == 3


@pytest.mark.parametrize(
    ("asked", "reading"),
    [
        ({"least": 8.7, "most": 8.7}, "inside"),
        ({"least": 8.6, "most": 8.6}, "outside"),
        ({"least": 8.6, "most": 8.6, "tolerance": 1.8}, "outside"),
        ({"least": 8.6, "most": 8.6, "tolerance": 1.95}, "near"),
        ({"least": 12.9, "most": np.inf}, "outside"),
        ({"least": 12.7, "most": np.inf}, "inside"),
        ({"least": -np.inf, "most": 8.7}, "inside"),
        ({"least": 5, "most": 8.6}, "outside"),
    ],
)
def test_what_was_published_is_inside_near_or_outside(asked: dict[str, float], reading: str) -> None:
    """The interval of the four rates is 8.69 to 12.69, by the first test."""
    assert reproduced(**asked).reading == reading


def test_one_run_has_no_interval_and_none_is_not_run_yet() -> None:
    assert reproduced(SINGLES[:1]).reading == "too_few"
    near = reproduced(SINGLES[:1], tolerance=2)
    assert (near.reading, near.estimate, near.low) == ("near", 9, None)
    none = reproduced([])
    assert (none.reading, none.estimate, none.n) == ("not_run", None, 0)


def test_equivalence_is_shown_by_two_one_sided_tests_within_the_tolerance() -> None:
    plain, ratio = (
        reproduced(tolerance=2.0),
        reproduced(side=Side("off"), over=Side("on"), least=2, most=2, tolerance=0.5),
    )
    above = stats.ttest_1samp(ON, 8.5, alternative="greater").pvalue
    below = stats.ttest_1samp(ON, 12.5, alternative="less").pvalue
    assert plain.equivalence_p == pytest.approx(max(above, below))
    logs = np.log(np.array(OFF) / np.array(ON))
    above = stats.ttest_1samp(logs, np.log(1.5), alternative="greater").pvalue
    below = stats.ttest_1samp(logs, np.log(2.5), alternative="less").pvalue
    assert ratio.equivalence_p == pytest.approx(max(above, below))
    assert reproduced().equivalence_p is None


def test_a_lead_ends_when_ten_seconds_bring_no_more_and_open_leads_count() -> None:
    """Three runs in which flow 2 has more for 20, 30 and 40 s, and one in which it has more to the end."""
    flows = []
    for cycle, end in enumerate((20, 30, 40, 120)):
        for flow, before in ((1, 10e6), (2, 90e6)):
            series = np.full((len(QUANTITIES), 120), np.nan)
            series[QUANTITIES.index("throughput_bps")] = np.where(np.arange(120) < end, before, 50e6)
            flows.append(record("pair", cycle, 50, flow, series=series))
    asked = {"metric": "lead_end_s", "least": 35, "most": 35}
    found = reproduced(flows, side=Side("pair", 2), **asked)
    assert (found.statistic, found.unit, found.estimate, found.n, found.not_within) == ("median", "s", 30, 4, 1)
    behind = reproduced(flows, side=Side("pair", 1), **asked)
    assert (behind.estimate, behind.not_within) == (0, 0)
    assert reproduced(SINGLES, side=Side("on"), **asked).n == 0, "one flow leads nobody"


def test_a_lead_counts_where_both_flows_are_known_for_ten_seconds() -> None:
    own, other = np.full(30, 9.0), np.full(25, 5.0)
    assert np.isnan(lead_end_s(own, [other])[0])
    assert lead_end_s(own, [other])[1] == 15
    other[3] = np.nan
    other[12:] = 9.0
    assert lead_end_s(own, [other]) == (12, 15)
    assert np.isnan(lead_end_s(own[:9], [other])).all()


def test_a_ratio_over_one_link_is_a_multiple_of_that_over_another_cycle_by_cycle() -> None:
    there = [
        record(name, cycle, rate, link="leo")
        for name, rates in (("on", OFF), ("off", ON))
        for cycle, rate in enumerate(rates[:3])
    ]
    flows = [*SINGLES, *there]
    found = reproduced(flows, side=Side("off"), over=Side("on"), than_link="leo", least=1, most=np.inf)
    here = np.log(np.array(OFF) / np.array(ON))[:3]
    interval = stats.ttest_1samp(2 * here, 0).confidence_interval(0.95)
    assert (found.statistic, found.unit, found.n, found.reading) == ("ratio", "", 3, "inside")
    assert (found.estimate, found.low, found.high) == pytest.approx(
        tuple(np.exp([2 * here.mean(), interval.low, interval.high]))
    )


def test_jain_s_index_is_that_of_each_run_and_stays_between_one_flow_and_equal_shares() -> None:
    each = [(a + b) ** 2 / (2 * (a * a + b * b)) for a, b in zip(ON, OFF, strict=True)]
    found = reproduced(metric="jain_index", side=Side("pair"), least=0.97, most=1, phase="startup")
    assert found.estimate == pytest.approx(np.mean(each))
    assert found.low is not None
    assert 0.5 < found.low < np.mean(each)
    assert reproduced(metric="jain_index", side=Side("on")).n == 0, "one flow shares with nobody"


def test_object_times_are_those_of_the_size_that_a_run_reached() -> None:
    assert reproduced(metric="object_time_s", object_mb=2).estimate == pytest.approx(2.1)
    assert reproduced(metric="received_object_time_s", object_mb=1).estimate == pytest.approx(10.5)
    assert reproduced(metric="received_object_time_s", object_mb=2).reading == "not_run"
    assert reproduced(metric="requested_object_time_s", object_mb=1).n == 0


def test_the_time_to_steady_state_is_the_median_of_all_runs() -> None:
    found = reproduced(metric="time_to_steady_s", least=2, most=2)
    assert (found.statistic, found.estimate, found.n, found.not_within) == ("median", 2, 4, 4 - 4)


def test_success_is_a_share_with_wilson_s_interval() -> None:
    outcomes = {("on-0", 1): 1.0, ("on-1", 1): 1.0, ("on-2", 1): 0.0, ("on-3", 1): None}
    slow_starts = {key: {"success_percent": value} for key, value in outcomes.items()}
    found = reproduced(slow_starts=slow_starts, metric="success_percent", least=64.4, most=64.4)
    bounds = stats.binomtest(2, 3).proportion_ci(method="wilson")
    assert (found.statistic, found.n) == ("share", 3)
    assert (found.estimate, found.low, found.high) == pytest.approx((200 / 3, 100 * bounds.low, 100 * bounds.high))


def test_headroom_may_be_negative() -> None:
    slow_starts = {(f"on-{cycle}", 1): {"hr_s": hr} for cycle, hr in enumerate([-1.0, 2.0, 0.5, -2.0])}
    found = reproduced(slow_starts=slow_starts, metric="hr_s", least=5.7, most=5.7)
    interval = stats.ttest_1samp([-1, 2, 0.5, -2], 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_a_share_of_a_rate_is_the_quantile_of_all_seconds_and_its_interval_draws_whole_runs() -> None:
    """Every second of a run is alike here, so that the runs' rates are all there is to draw from."""
    flows = [record("on", cycle, rate, series=seconds(rate)) for cycle, rate in enumerate(range(1, 21))]
    found = reproduced(flows, share=0.8, least=16, most=16)
    assert (found.statistic, found.unit, found.n, found.estimate) == ("quantile", "Mb/s", 20, 16)
    draws = np.sort(np.random.default_rng(7).integers(1, 21, (20_000, 20)), axis=1)[:, 15]
    assert (found.low, found.high) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=1)
    assert (found.reading, found.equivalence_p) == ("inside", None)
    low = found.low or 0
    assert reproduced(flows, share=0.8, least=-np.inf, most=low).reading == "inside"
    assert reproduced(flows, share=0.8, least=-np.inf, most=low - 0.1).reading == "outside"


def test_longer_runs_count_for_more_in_a_share_and_unknown_seconds_for_nothing() -> None:
    short, long = seconds(10, bins=2), seconds(20, bins=6)
    long[0, -1] = np.nan
    flows = [record("on", 0, 10, series=short), record("on", 1, 20, series=long)]
    assert reproduced(flows, share=0.28, least=10, most=10).estimate == 10
    assert reproduced(flows, share=0.3, least=20, most=20).estimate == 20, "two of seven seconds are at 10"


def test_a_share_of_a_delay_is_that_of_the_pooled_blocks() -> None:
    draw = np.random.default_rng(3)
    flows = [record("on", cycle, 1) for cycle in range(6)]
    own = [sketch(draw.gamma(3, 40 + 5 * cycle, 500), np.ones(500, np.int64)) for cycle in range(6)]
    sketches = {(f"on-{cycle}", 1): {"one_way_delay_ms": each} for cycle, each in enumerate(own)}
    for share in (0.05, 0.5, 0.8, 0.99):
        found = reproduced(flows, sketches=sketches, metric="one_way_delay_ms", share=share, least=0, most=180)
        assert found.estimate == pytest.approx(quantiles(pool(own), [share])[0], rel=1e-12)
        assert (found.unit, found.n) == ("ms", 6)
        assert (found.low or 0) < (found.estimate or 0) < (found.high or 0)
    assert reproduced(flows, metric="one_way_delay_ms", share=0.8).reading == "not_run", "no run kept a table"
    alone = reproduced(flows[:1], sketches=sketches, metric="one_way_delay_ms", share=0.8, least=1, most=2)
    assert (alone.reading, alone.low, alone.n) == ("too_few", None, 1)


def test_the_same_seed_draws_the_same_runs() -> None:
    flows = [record("on", cycle, rate, series=seconds(rate)) for cycle, rate in enumerate(ON)]
    assert reproduced(flows, share=0.5) == reproduced(flows, share=0.5)


def seconds(mbps: float, bins: int = BINS) -> Any:
    series = np.full((len(QUANTITIES), bins), np.nan)
    series[0] = mbps * 1e6
    return series
