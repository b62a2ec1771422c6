import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

from downlink.analysis import ANALYSIS_VERSION
from downlink.analysis.phases import METRICS, run_metrics
from downlink.analysis.report import FlowRecord, Report, build_report
from downlink.analysis.series import COUNTED, QUANTITIES, FlowSeries
from downlink.domain.campaigns.campaign import Phases, Window
from downlink.domain.results.metric import PHASES

WINDOWS = Phases(startup_s=2, steady_s=3)
CONDITIONS = ("on", "off")


def make_series(throughput: Any) -> FlowSeries:
    throughput = np.asarray(throughput, float)
    values = np.stack([throughput * (index + 1) for index in range(len(QUANTITIES))])
    counted = np.tile(throughput / 8, (len(COUNTED), 1))
    return FlowSeries(values, counted, np.ones(len(throughput)))


def make_record(
    condition: str, cycle: int, throughput: Any, start_s: float = 0.0, phases: Phases = WINDOWS, **changes: Any
) -> FlowRecord:
    series = make_series(throughput)
    (metrics,) = run_metrics([series], [start_s], phases, 100.0)
    values = {
        **{"run": f"{condition}-{cycle}", "link": "geo", "flow": 1, "cc": "cubic"},
        **{"condition": condition, "cycle": cycle, "series": series.values},
        "metrics": np.array([list(phase.values()) for phase in metrics.values()], dtype=float),
    }
    return FlowRecord(**{**values, **changes})


def report(records: list[FlowRecord], **changes: Any) -> Report:
    settings: dict[str, Any] = {
        **{"conditions": CONDITIONS, "phases": WINDOWS, "seed": 1},
        **{"primary": ["overall.throughput_bps"], "nominal_rate_bps": {"geo": np.nan}},
    }
    return build_report(records, **{**settings, **changes})


RNG = np.random.default_rng(8)
RATES = {(condition, cycle): RNG.uniform(10, 90, 8) for condition in CONDITIONS for cycle in (1, 2, 3, 4)}
RECORDS = [make_record(condition, cycle, rates) for (condition, cycle), rates in RATES.items()]


def test_a_group_holds_the_runs_of_one_condition() -> None:
    on, off = report(RECORDS).groups
    assert (on.condition, on.runs, off.condition) == ("on", ("on-1", "on-2", "on-3", "on-4"), "off")


def test_each_bin_has_its_mean_and_an_interval_above_zero() -> None:
    (on, _) = report(RECORDS).to_dict()["groups"]
    table = np.array([RATES["on", cycle] for cycle in (1, 2, 3, 4)])
    mean = table.mean(axis=0)
    factor = np.exp(stats.t.ppf(0.975, 3) * stats.sem(table, axis=0) / mean)
    low, high = mean / factor, mean * factor
    band = on["series"]["throughput_bps"]
    assert on["series"]["bin_s"] == list(range(8))
    assert band["mean"] == pytest.approx(table.mean(axis=0).tolist())
    assert band["low"] == pytest.approx(low.tolist())
    assert band["high"] == pytest.approx(high.tolist())
    assert band["n"] == [4] * 8


def test_a_shorter_run_lowers_n_and_leaves_the_rest() -> None:
    short = [make_record("on", 1, [10.0] * 8), make_record("on", 2, [20.0] * 5)]
    (group,) = report(short).to_dict()["groups"]
    band = group["series"]["throughput_bps"]
    assert band["n"] == [2] * 5 + [1] * 3
    assert band["mean"] == [15.0] * 5 + [10.0] * 3
    assert band["low"][5:] == [None] * 3
    assert group["metrics"]["steady"]["throughput_bps"]["mean"] == 15.0, "each run has its own end"


def test_conditions_are_compared_within_cycles() -> None:
    found = {(each.phase, each.metric): each for each in report(RECORDS).comparisons}
    off, on = (np.array([RATES[name, cycle].mean() for cycle in (1, 2, 3, 4)]) for name in ("off", "on"))
    overall = found["overall", "throughput_bps"]
    expected = stats.ttest_rel(off, on).confidence_interval(0.95)
    assert (overall.condition, overall.baseline) == ("off", "on")
    assert float(overall.difference.mean) == pytest.approx((off - on).mean())
    assert float(overall.difference.low) == pytest.approx(expected.low)
    assert float(overall.difference.high) == pytest.approx(expected.high)
    assert overall.bootstrap_low < (off - on).mean() < overall.bootstrap_high


def test_only_cycles_that_both_conditions_have_are_compared() -> None:
    records = [each for each in RECORDS if (each.condition, each.cycle) not in {("on", 2), ("off", 4)}]
    comparison = report(records).comparisons[0]
    assert int(comparison.difference.n) == 2


def test_conditions_without_a_common_cycle_have_no_difference() -> None:
    found = report([make_record("on", 1, [1.0] * 5), make_record("off", 2, [1.0] * 5)]).comparisons[0].to_dict()
    assert found["difference"] == {"mean": None, "low": None, "high": None, "n": 0, "sd": None}
    assert (found["bootstrap_low"], found["bootstrap_high"]) == (None, None)


def test_a_condition_without_a_baseline_is_not_compared() -> None:
    assert report([each for each in RECORDS if each.condition == "off"]).comparisons == ()


def step(at_s: int, length_s: int = 40, level: float = 100.0) -> list[float]:
    return [1.0] * at_s + [level] * (length_s - at_s)


def test_the_time_to_steady_state_is_compared_as_well() -> None:
    records = [make_record("on", cycle, step(20 + cycle)) for cycle in (1, 2)]
    records += [make_record("off", cycle, step(10 + cycle)) for cycle in (1, 2)]
    found = report(records)
    assert [group.time_to_steady_s.median for group in found.groups] == [23.0, 13.0]
    comparison = next(each for each in found.comparisons if each.metric == "time_to_steady_s")
    assert float(comparison.difference.mean) == -10


def test_no_run_leaves_the_time_to_steady_state_unsaid() -> None:
    """Of three runs of 40 s one rises in its last second: it counts as later than 37 s, in the median and in differences."""
    records = [make_record("on", cycle, step(10)) for cycle in (1, 2, 3)]
    records += [make_record("off", 1, step(20)), make_record("off", 2, step(30))]
    records += [make_record("off", 3, [1.0] * 39 + [100.0])]
    found = report(records)
    off = found.groups[1].time_to_steady_s
    assert (off.median, off.n, off.not_within, off.within_s) == (32.0, 3, 1, 37.0)
    comparison = next(each for each in found.comparisons if each.metric == "time_to_steady_s")
    assert int(comparison.difference.n) == 3
    assert float(comparison.difference.mean) == pytest.approx((22 + 32 + 37) / 3 - 12)


def test_a_common_level_is_the_links_where_one_flow_has_it_alone() -> None:
    """90 % of 100 x 1448 / 1500 is 86.9: a run that settles at 70 is steady by its own level, and never by the link's."""
    records = [make_record("on", 1, step(10)), make_record("on", 2, step(10, level=70.0))]
    (group,) = report(records, nominal_rate_bps={"geo": 100.0}).groups
    assert (group.time_to_steady_s.not_within, group.time_to_level_s.not_within) == (0, 1)
    assert (group.level_basis, group.level_bps) == ("nominal", pytest.approx(100 * 1448 / 1500))


def test_a_common_level_is_the_median_of_the_runs_where_flows_share_or_the_rate_is_not_known() -> None:
    records = [make_record("on", cycle, step(10, level=level)) for cycle, level in enumerate((100.0, 100.0, 70.0))]
    (group,) = report(records).groups
    assert (group.level_basis, group.level_bps, group.time_to_level_s.not_within) == ("median", 100.0, 1)
    shared = report([*pair(1, 10, 1), *pair(2, 20, 2)], nominal_rate_bps={"geo": 100.0})
    assert [(each.level_basis, each.level_bps) for each in shared.groups] == [("median", 15.0), ("median", 1.5)]


def test_few_runs_are_in_the_report_one_by_one() -> None:
    groups = report(RECORDS[:4]).to_dict()["groups"]
    assert groups[0]["series"]["throughput_bps"]["runs"] == [RATES["on", cycle].tolist() for cycle in (1, 2, 3, 4)]
    five = [*RECORDS[:4], make_record("on", 5, RATES["on", 1])]
    assert report(five).to_dict()["groups"][0]["series"]["throughput_bps"]["runs"] == []


def test_a_run_too_short_for_a_series_is_counted_beside_n() -> None:
    (group,) = report([make_record("on", 1, [10.0] * 5), make_record("on", 2, [])]).to_dict()["groups"]
    assert (group["runs"], group["too_short"]) == (2, 1)
    assert group["metrics"]["overall"]["throughput_bps"]["n"] == 1


def test_a_value_that_stands_out_is_named_and_stays() -> None:
    rates = [50.0, 52.0, 49.0, 51.0, 50.5, 90.0]
    found = report([make_record("on", cycle, [rate] * 8) for cycle, rate in enumerate(rates)])
    flagged = [each for each in found.outliers if (each["phase"], each["metric"]) == ("steady", "throughput_bps")]
    assert [(each["run_id"], each["value"], each["median"]) for each in flagged] == [("on-5", 90.0, 50.75)]
    assert int(found.groups[0].metrics.n[1, 0]) == 6


def pair(cycle: int, first: float, second: float, start_s: float = 0.0) -> list[FlowRecord]:
    shared = {"run": f"run-{cycle}"}
    late = {"flow": 2, "cc": "bbr", "start_s": start_s, **shared}
    return [make_record("on", cycle, [first] * 6, **shared), make_record("on", cycle, [second] * 6, **late)]


def test_fairness_is_told_per_run_and_of_means() -> None:
    """By hand: (10, 1) and (1, 10) are each unfair, their means are not."""
    start_up = report([*pair(1, 10, 1), *pair(2, 1, 10)]).fairness[0]
    assert (start_up.phase, start_up.flows) == ("startup", 2)
    assert float(start_up.jain.mean) == pytest.approx(121 / 202)
    assert start_up.jain_of_means == pytest.approx(1.0)
    assert float(start_up.difference_bps.mean) == 0
    assert int(start_up.difference_bps.n) == 2


def test_the_ratio_of_two_flows_is_that_of_each_run() -> None:
    """By hand: 10 : 1 in one run and 1 : 10 in the other are as far apart in both directions."""
    start_up = report([*pair(1, 10, 1), *pair(2, 1, 10)]).fairness[0]
    assert (float(start_up.ratio.mean), int(start_up.ratio.n)) == (pytest.approx(1), 2)
    assert float(report([*pair(1, 10, 1), *pair(2, 40, 1)]).fairness[0].ratio.mean) == pytest.approx(20)


def test_windows_are_phases_beside_the_three_in_means_fairness_and_comparisons() -> None:
    """Of 8 s that rise by 10 the seconds 3 and 4 have 30 and 40."""
    lead = Phases(2, 3, (Window("lead", 3, 5),))
    rising = [10.0 * second for second in range(8)]
    records = [
        make_record(condition, 1, [factor * each for each in rising], phases=lead, flow=flow)
        for condition, factor in (("on", 1), ("off", 2))
        for flow in (1, 2)
    ]
    found = report(records, phases=lead, primary=["lead.throughput_bps"]).to_dict()
    assert found["windows"] == [{"name": "lead", "from_s": 3, "to_s": 5}]
    assert [group["metrics"]["lead"]["throughput_bps"]["mean"] for group in found["groups"]] == [35, 35, 70, 70]
    assert [each["jain"]["mean"] for each in found["fairness"] if each["phase"] == "lead"] == [1, 1]
    tested = [each for each in found["comparisons"] if each["is_primary"]]
    assert [(each["phase"], each["difference"]["mean"], each["ratio"]) for each in tested] == [("lead", 35, 2)] * 2


def test_a_run_that_lost_a_flow_does_not_count_for_fairness() -> None:
    start_up = report([*pair(1, 10, 1), *pair(2, 1, 10)[:1]]).fairness[0]
    assert int(start_up.jain.n) == 1
    assert float(start_up.difference_bps.mean) == 9


def test_jains_index_and_its_interval_stay_between_one_flow_and_equal_shares() -> None:
    """By hand: 1 and 101 / 182 of two runs are 0.777 +- 2.8 on a plain scale."""
    start_up = report([*pair(1, 5, 5), *pair(2, 10, 1)]).fairness[0]
    assert 0.5 < float(start_up.jain.low) < 0.51
    assert 0.99 < float(start_up.jain.high) < 1


def test_fairness_before_a_flow_starts_is_missing() -> None:
    phases = {each.phase: each for each in report([*pair(1, 5, 5, start_s=4.0), *pair(2, 5, 5, start_s=4.0)]).fairness}
    assert np.isnan(phases["startup"].jain.mean)
    assert np.isnan(phases["startup"].jain_of_means)
    assert float(phases["overall"].jain.mean) == 1


def test_probes_share_nothing_and_never_become_steady() -> None:
    probes = [make_record("on", cycle, [np.nan] * 8, flow=2, cc="probe") for cycle in (1, 2)]
    found = report([*RECORDS[:2], *probes], nominal_rate_bps={"geo": 100.0})
    data, probed = found.groups
    assert found.fairness == ()
    assert (probed.time_to_steady_s.n, probed.time_to_level_s.n) == (0, 0)
    assert (data.level_basis, data.time_to_steady_s.n) == ("nominal", 2)


def test_a_single_flow_has_no_fairness() -> None:
    assert report(RECORDS).fairness == ()


def test_objects_go_as_far_as_all_runs_got() -> None:
    records = [
        make_record("on", 1, [1.0], object_times={"object_times": np.array([1.0, 2.0, 3.0])}),
        make_record("on", 2, [1.0], object_times={"object_times": np.array([3.0, 4.0])}),
        make_record("on", 3, [1.0]),
    ]
    objects = report(records).to_dict()["groups"][0]["object_times"]
    assert (objects["object_mb"], objects["mean_s"], objects["n"]) == ([1, 2], [2.0, 3.0], [2, 2])


def test_large_objects_have_the_times_of_their_own_size() -> None:
    records = [make_record("on", 1, [1.0], object_times={"object_times": np.arange(1.0, 1_151.0)})]
    objects = report(records).to_dict()["groups"][0]["object_times"]
    assert objects["mean_s"] == objects["object_mb"]
    assert objects["object_mb"][-2:] == [1_000, 1_100]


def test_the_same_flows_in_any_order_make_the_same_report() -> None:
    assert report(RECORDS[::-1]).to_dict() == report(RECORDS).to_dict()


def test_an_empty_campaign_has_an_empty_report() -> None:
    assert report([]).to_dict()["groups"] == []


def test_flows_without_a_single_bin_leave_everything_missing() -> None:
    (group,) = report([make_record("on", 1, [])]).to_dict()["groups"]
    assert group["series"]["bin_s"] == []
    assert group["metrics"]["overall"]["rtt_ms"] == {"mean": None, "low": None, "high": None, "n": 0, "sd": None}


def test_the_report_is_json_of_the_documented_shape() -> None:
    found = json.loads(json.dumps(report([*pair(1, 5, 4), *pair(2, 4, 4)]).to_dict(), allow_nan=False))
    assert found["analysis_version"] == ANALYSIS_VERSION
    assert (found["phases"], found["windows"]) == ({"startup_s": 2, "steady_s": 3}, [])
    group = found["groups"][0]
    assert set(group) == {
        "link", "condition", "flow", "cc", "runs", "run_ids", "too_short", "series", "metrics", "object_times",
        "requested_object_times", "received_object_times", "time_to_steady_s", "time_to_level_s", "level_bps", "level_basis",
    }  # fmt: skip
    assert set(group["series"]) == {"bin_s", *QUANTITIES}
    assert set(group["metrics"]) == set(PHASES)
    assert set(group["metrics"]["startup"]) == set(METRICS)
    assert set(found["fairness"][0]) == {
        "link", "condition", "flows", "phase", "jain", "jain_of_means", "difference_bps", "ratio",
    }  # fmt: skip
