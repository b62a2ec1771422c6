import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

from downlink.analysis import ANALYSIS_VERSION
from downlink.analysis.phases import METRICS, PHASES, run_metrics
from downlink.analysis.report import FlowRecord, Report, build_report
from downlink.analysis.series import COUNTED, QUANTITIES, FlowSeries
from downlink.domain.campaign import Phases

WINDOWS = Phases(startup_s=2, steady_s=3)
CONDITIONS = ("on", "off")


def make_series(throughput: Any) -> FlowSeries:
    throughput = np.asarray(throughput, float)
    values = np.stack([throughput * (index + 1) for index in range(len(QUANTITIES))])
    counted = np.tile(throughput / 8, (len(COUNTED), 1))
    return FlowSeries(values, counted, np.ones(len(throughput)))


def make_record(condition: str, cycle: int, throughput: Any, start_s: float = 0.0, **changes: Any) -> FlowRecord:
    series = make_series(throughput)
    (metrics,) = run_metrics([series], [start_s], WINDOWS, 100.0)
    values = {
        **{"run": f"{condition}-{cycle}", "link": "geo", "flow": 1, "cc": "cubic"},
        **{"condition": condition, "cycle": cycle, "series": series.values},
        "metrics": np.array([list(phase.values()) for phase in metrics.values()], dtype=float),
    }
    return FlowRecord(**{**values, **changes})


def report(records: list[FlowRecord], **changes: Any) -> Report:
    settings: dict[str, Any] = {"conditions": CONDITIONS, "phases": WINDOWS, "seed": 1}
    return build_report(records, **{**settings, **changes})


RNG = np.random.default_rng(8)
RATES = {(condition, cycle): RNG.uniform(10, 90, 8) for condition in CONDITIONS for cycle in (1, 2, 3, 4)}
RECORDS = [make_record(condition, cycle, rates) for (condition, cycle), rates in RATES.items()]


def test_a_group_holds_the_runs_of_one_condition() -> None:
    on, off = report(RECORDS).groups
    assert (on.condition, on.runs, off.condition) == ("on", ("on-1", "on-2", "on-3", "on-4"), "off")


def test_each_bin_has_the_mean_and_interval_of_scipy() -> None:
    (on, _) = report(RECORDS).to_dict()["groups"]
    table = np.array([RATES["on", cycle] for cycle in (1, 2, 3, 4)])
    low, high = stats.t.interval(0.95, 3, table.mean(axis=0), stats.sem(table, axis=0))
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


def test_the_time_to_steady_state_is_compared_as_well() -> None:
    def step(at_s: int) -> list[float]:
        return [1.0] * at_s + [100.0] * (40 - at_s)

    records = [make_record("on", cycle, step(20 + cycle)) for cycle in (1, 2)]
    records += [make_record("off", cycle, step(10 + cycle)) for cycle in (1, 2)]
    found = report(records)
    assert [float(group.time_to_steady_s.mean) for group in found.groups] == [23.5, 13.5]
    comparison = next(each for each in found.comparisons if each.metric == "time_to_steady_s")
    assert float(comparison.difference.mean) == -10


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


def test_a_run_that_lost_a_flow_does_not_count_for_fairness() -> None:
    start_up = report([*pair(1, 10, 1), *pair(2, 1, 10)[:1]]).fairness[0]
    assert int(start_up.jain.n) == 1
    assert float(start_up.difference_bps.mean) == 9


def test_fairness_before_a_flow_starts_is_missing() -> None:
    phases = {each.phase: each for each in report([*pair(1, 5, 5, start_s=4.0), *pair(2, 5, 5, start_s=4.0)]).fairness}
    assert np.isnan(phases["startup"].jain.mean)
    assert np.isnan(phases["startup"].jain_of_means)
    assert float(phases["overall"].jain.mean) == 1


def test_a_single_flow_has_no_fairness() -> None:
    assert report(RECORDS).fairness == ()


def test_objects_go_as_far_as_all_runs_got() -> None:
    records = [
        make_record("on", 1, [1.0], object_times_s=np.array([1.0, 2.0, 3.0])),
        make_record("on", 2, [1.0], object_times_s=np.array([3.0, 4.0])),
        make_record("on", 3, [1.0]),
    ]
    objects = report(records).to_dict()["groups"][0]["object_times"]
    assert (objects["object_mb"], objects["mean_s"], objects["n"]) == ([1, 2], [2.0, 3.0], [2, 2])


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
    assert found["phases"] == {"startup_s": 2, "steady_s": 3}
    group = found["groups"][0]
    assert set(group) == {
        "link", "condition", "flow", "cc", "runs", "run_ids", "series", "metrics", "time_to_steady_s", "object_times",
    }  # fmt: skip
    assert set(group["series"]) == {"bin_s", *QUANTITIES}
    assert set(group["metrics"]) == set(PHASES)
    assert set(group["metrics"]["startup"]) == set(METRICS)
    assert set(found["fairness"][0]) == {
        "link", "condition", "flows", "phase", "jain", "jain_of_means", "difference_bps",
    }  # fmt: skip
