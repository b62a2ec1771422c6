"""What the cycles of a campaign can show."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from downlink.analysis.evidence import Value, weigh
from downlink.analysis.power import power_of_paired_t

ON = [50.0, 52.0, 49.0, 51.0, 50.5, 90.0]
SEED = 7
OFF = [40.0, 44.0, 41.0, 40.5, 43.0, 42.0]


def values(condition: str, numbers: list[float], metric: str = "rtt_ms") -> list[Value]:
    return [
        Value(f"{condition}-{cycle}", "geo", condition, cycle, 1, "steady", metric, number)
        for cycle, number in enumerate(numbers, start=1)
    ]


def compare(own: list[float], base: list[float]) -> dict[str, Any]:
    (found,) = weigh([*values("base", base), *values("own", own)], ["base", "own"], SEED)["comparisons"]
    return dict(found)


def test_a_comparison_is_paired_and_says_what_its_cycles_show() -> None:
    own = ON[:5]
    found = compare(own, OFF[:5])
    test = stats.ttest_rel(own, OFF[:5])
    interval = test.confidence_interval(0.95)
    assert (found["difference"]["low"], found["difference"]["high"]) == pytest.approx((interval.low, interval.high))
    sd = found["difference"]["sd"]
    assert power_of_paired_t(found["detectable_difference"] / sd, 5) == pytest.approx(0.8)
    effect = found["difference"]["mean"] / sd
    needed = found["cycles_needed"]
    assert power_of_paired_t(effect, needed) >= 0.8 > power_of_paired_t(effect, needed - 1)
    assert found["cycles_missing"] == 0


def test_the_bootstrap_interval_is_that_of_the_paired_differences() -> None:
    differences = np.array(ON) - np.array(OFF)
    expected = stats.bootstrap((differences,), np.mean, method="percentile", rng=np.random.default_rng(1))
    found = compare(list(reversed(ON)), list(reversed(OFF)))
    assert found["bootstrap_low"] == pytest.approx(expected.confidence_interval.low, rel=0.05)
    assert found["bootstrap_high"] == pytest.approx(expected.confidence_interval.high, rel=0.05)
    shuffled = [*values("base", OFF), *reversed(values("own", ON))]
    (again,) = weigh(shuffled, ["base", "own"], SEED)["comparisons"]
    straight = compare(ON, OFF)
    assert (again["bootstrap_low"], again["bootstrap_high"]) == (straight["bootstrap_low"], straight["bootstrap_high"])


def test_a_small_difference_needs_more_cycles() -> None:
    found = compare([1.0, 3.0, 2.0, 1.5], [1.1, 2.0, 2.2, 1.4])
    assert found["cycles_needed"] > 4
    assert found["cycles_missing"] == found["cycles_needed"] - 4


def test_p_values_are_adjusted_over_all_comparisons() -> None:
    one = compare(ON, OFF)
    assert one["location_p"] == pytest.approx(stats.mannwhitneyu(ON, OFF).pvalue)
    doubled = [
        each
        for metric in ("rtt_ms", "goodput_bps")
        for each in (*values("base", OFF, metric), *values("own", ON, metric))
    ]
    for found in weigh(doubled, ["base", "own"], SEED)["comparisons"]:
        assert found["location_p"] == pytest.approx(2 * one["location_p"])


def test_a_value_that_stands_out_is_named_and_stays() -> None:
    found = weigh([*values("base", OFF), *values("own", ON)], ["base", "own"], SEED)
    assert [(each["run_id"], each["value"], each["median"]) for each in found["outliers"]] == [("own-6", 90.0, 50.75)]
    assert found["comparisons"][0]["difference"]["n"] == 6


def test_what_too_few_cycles_cannot_say_is_missing() -> None:
    found = compare([2.0, math.nan], [1.0, 1.0])
    assert found["difference"] == {"mean": 1, "low": None, "high": None, "n": 1, "sd": None}
    assert [found[name] for name in ("detectable_difference", "cycles_needed", "shape_p", "location_p")] == [None] * 4
    assert weigh(values("own", ON), ["base", "own"], SEED)["comparisons"] == []
