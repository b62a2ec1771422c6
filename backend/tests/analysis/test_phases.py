import numpy as np
import pytest

from downlink.analysis.phases import METRICS, rate_or_nan, run_metrics, shared_end_s, stack_values
from downlink.analysis.series import COUNTED, QUANTITIES, FlowSeries
from downlink.domain.campaigns.campaign import Phases, Window
from downlink.domain.results.metric import PHASES

WINDOWS = Phases(startup_s=2, steady_s=3)


def make_series(throughput: list[float]) -> FlowSeries:
    values = np.full((len(QUANTITIES), len(throughput)), np.nan)
    counted = np.full((len(COUNTED), len(throughput)), np.nan)
    values[QUANTITIES.index("throughput_bps")] = throughput
    counted[COUNTED.index("delivered_bytes")] = np.array(throughput) / 8
    return FlowSeries(values, counted, np.ones(len(throughput)))


def throughputs(series: list[list[float]], start_s: list[float]) -> list[list[float | None]]:
    """Per flow of one run: the throughput in each phase."""
    found = run_metrics([make_series(each) for each in series], start_s, WINDOWS, 100.0)
    return [[flow[phase]["throughput_bps"] for phase in PHASES] for flow in found]


def test_start_up_is_the_beginning_and_steady_state_the_end() -> None:
    assert throughputs([[0, 10, 20, 30, 40, 50]], [0.0]) == [[5.0, 40.0, 25.0]]


def test_a_window_lies_on_the_run_s_clock_whenever_a_flow_began() -> None:
    """From 15 s on and before 60 s of the run: a flow that began at 10 s is in its sixth second then."""
    phases = Phases(2, 3, (Window("lead", 15, 60), Window("late", 90, 95)))
    rates = [float(second) for second in range(80)]
    found = run_metrics([make_series(rates), make_series(rates)], [0.0, 10.0], phases, 100.0)
    assert list(found[0]) == ["startup", "steady", "overall", "lead", "late"]
    assert [flow["lead"]["throughput_bps"] for flow in found] == [np.mean(rates[15:60]), np.mean(rates[5:50])]
    assert [flow["late"]["throughput_bps"] for flow in found] == [None, None], (
        "the first flow ended at 80 s, the other at 90 s"
    )


def test_in_a_short_run_the_phases_overlap() -> None:
    assert throughputs([[0, 10, 20]], [0.0]) == [[5.0, 10.0, 10.0]]


def test_a_later_flow_is_measured_on_the_clock_of_the_run() -> None:
    early, late = throughputs([[10] * 8, [0, 100, 200]], [0.0, 5.0])
    assert early == [10.0, 10.0, 10.0]
    assert late == [None, 100.0, 100.0], "it did not exist in the start-up phase"


def test_a_bin_belongs_to_the_phase_that_holds_its_middle() -> None:
    assert throughputs([[10, 20, 30, 40], [1] * 6], [1.4, 0.0])[0][0] is not None
    assert throughputs([[10, 20, 30, 40], [1] * 6], [1.4, 0.0])[0][0] == 10.0
    assert throughputs([[10, 20, 30, 40], [1] * 6], [1.6, 0.0])[0][0] is None


def test_missing_bins_are_left_out_and_a_phase_without_any_is_missing() -> None:
    nan = np.nan
    assert throughputs([[nan, 10, nan, nan, nan]], [0.0]) == [[10.0, None, 10.0]]


def test_utilisation_is_a_share_of_the_nominal_rate() -> None:
    (flow,) = run_metrics([make_series([25.0] * 5)], [0.0], WINDOWS, 100.0)
    assert flow["steady"]["utilisation_ratio"] == 0.25
    assert set(flow["steady"]) == set(METRICS)
    (flow,) = run_metrics([make_series([25.0] * 5)], [0.0], WINDOWS, rate_or_nan(None))
    assert flow["steady"]["utilisation_ratio"] is None, "nobody knows the rate of a file's link"
    assert rate_or_nan(100) == 100.0


def test_steady_state_covers_the_same_seconds_for_flows_that_end_apart() -> None:
    """Flows that stop after bytes: the first ends at 5 s, so steady state is 2 to 5 s of both."""
    first, second = throughputs([[0, 10, 20, 30, 40], [0, 1, 2, 3, 4, 100, 100, 100]], [0.0, 0.0])
    assert [first[1], second[1]] == [30.0, 3.0]
    assert second[2] == pytest.approx(310 / 8), "overall is each flow's own"


@pytest.mark.parametrize(("second_start_s", "end_s"), [(0.0, 5.0), (4.5, 5.0), (5.0, 13.0), (9.0, 17.0)])
def test_a_run_is_shared_until_its_first_flow_ends_if_they_ever_met(second_start_s: float, end_s: float) -> None:
    assert shared_end_s([make_series([1] * 5), make_series([1] * 8)], [0.0, second_start_s]) == end_s


def test_a_run_without_flows_has_no_length() -> None:
    assert shared_end_s([], []) == 0
    assert run_metrics([], [], WINDOWS, 1.0) == []


def test_shorter_tables_are_missing_at_their_end() -> None:
    stacked = stack_values([np.ones((2, 3)), np.zeros((2, 1))])
    assert np.isnan(stacked[1]).tolist() == [[False, True, True]] * 2
    assert stack_values([]).shape == (0, 0, 0)
