import numpy as np
import pytest

from downlink.analysis.phases import METRICS, PHASES, phase_metrics, run_length_s, run_metrics, stack_series
from downlink.analysis.series import QUANTITIES, FlowSeries
from downlink.domain.campaign import Phases

WINDOWS = Phases(startup_s=2, steady_s=3)


def make_series(throughput: list[float]) -> FlowSeries:
    values = np.full((len(QUANTITIES), len(throughput)), np.nan)
    values[QUANTITIES.index("throughput_bps")] = throughput
    return FlowSeries(values)


def throughputs(series: list[list[float]], start_s: list[float]) -> list[list[float | None]]:
    """Per flow of one run: the throughput in each phase."""
    found = run_metrics([make_series(each) for each in series], start_s, WINDOWS, 100.0)
    return [[flow[phase]["throughput_bps"] for phase in PHASES] for flow in found]


def test_start_up_is_the_beginning_and_steady_state_the_end() -> None:
    assert throughputs([[0, 10, 20, 30, 40, 50]], [0.0]) == [[5.0, 40.0, 25.0]]


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


def test_many_runs_at_once_give_what_each_gives_alone() -> None:
    rng = np.random.default_rng(2)
    series = [make_series(list(rng.uniform(0, 100, size))) for size in (3, 7, 11, 1, 0)]
    start_s = [0.0, 1.5, 0.0, 2.0, 0.0]
    run_s = [3.0, 12.0, 11.0, 9.0, 4.0]
    together = phase_metrics(stack_series(series), start_s, run_s, WINDOWS, [100.0] * 5)
    for row, one in enumerate(series):
        alone = phase_metrics(stack_series([one]), start_s[row : row + 1], run_s[row : row + 1], WINDOWS, [100.0])
        assert np.allclose(together[row], alone[0], equal_nan=True)


def test_a_run_lasts_until_its_last_flow_ends() -> None:
    assert run_length_s([make_series([1] * 8), make_series([1] * 5)], [0.0, 4.5]) == pytest.approx(9.5)
    assert run_length_s([], []) == 0
