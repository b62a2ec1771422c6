"""Parts of a fit, on records whose truth is written down here. The whole of it is tested in test_linkfit_truth.py."""

from __future__ import annotations

import math

import numpy as np
import pytest

from downlink.analysis.linkfit.delays import delays, quantile_points
from downlink.analysis.linkfit.drops import split
from downlink.analysis.linkfit.estimate import over_runs
from downlink.analysis.linkfit.fit import fit
from downlink.analysis.linkfit.frames import coherence, frame_length
from downlink.analysis.linkfit.losses import down_losses, up_losses
from downlink.analysis.linkfit.parameters import parameters, unknown
from downlink.analysis.linkfit.recordings import Acks, Echoes, Recorded, acks, echoes

RNG_SEED = 5


def probes(rtt_ms: np.ndarray, every_ms: float = 73, lost: np.ndarray | None = None, alone: bool = True) -> Echoes:
    sent_us = (np.arange(len(rtt_ms)) * every_ms * 1000).astype(np.int64)
    rtt_us = np.round(rtt_ms * 1000).astype(np.int64)
    came = np.ones(len(sent_us), bool) if lost is None else ~lost
    return Echoes("run", sent_us, np.where(came, rtt_us, -1), came, alone)


def test_a_jackknife_of_means_is_their_standard_error() -> None:
    found = over_runs([1.0, 2.0, 4.0, 9.0], lambda some: float(np.mean(some)), "four")
    assert found.value == 4
    assert found.error == pytest.approx(np.std([1, 2, 4, 9], ddof=1) / 2)
    assert math.isnan(over_runs([1.0], lambda some: some[0], "one").error)


def test_moments_in_step_are_coherent_and_others_are_not() -> None:
    moments = np.arange(0, 4_000_000, 40_000)
    assert coherence(moments, np.array([40_000.0]))[0] == pytest.approx(1)
    assert coherence(moments, np.array([80_000.0]))[0] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("frame_ms", [24.0, 40.0, 46.0])
def test_answers_that_wait_for_a_frame_say_how_long_it_is(frame_ms: float) -> None:
    sent_ms = np.arange(400) * 73.0
    rtt_ms = np.ceil((sent_ms + 560) / frame_ms) * frame_ms - sent_ms
    found = frame_length(Recorded((probes(rtt_ms), probes(rtt_ms)), ()))
    assert found is not None
    assert found[0].value == pytest.approx(frame_ms, rel=1e-4)


def test_answers_after_a_constant_time_are_in_step_with_their_probes_and_with_no_frame() -> None:
    assert frame_length(Recorded((probes(np.full(400, 600.0)),), ())) is None


def test_the_idle_delay_is_its_least_value_and_what_changes_slowly() -> None:
    level = np.repeat([0.0, 26.0, 0.0, 26.0, 26.0, 0.0], 270)  # each for 19.7 s
    found = delays(Recorded((probes(560 + level), probes(560 + level[::-1])), ()), None, None)
    assert found is not None
    assert found.least_ms.value == 560
    assert found.slow is not None
    assert found.slow.quantiles[-1] == (1, 26)
    assert found.slow.hold_ms.value == pytest.approx(19_700, rel=0.5)
    assert found.fast is None


def test_what_changes_with_every_probe_is_fast_and_its_hold_is_not_known() -> None:
    rtt_ms = 40 + np.random.default_rng(RNG_SEED).uniform(0, 6, 2000)
    recorded = Recorded((probes(rtt_ms), probes(rtt_ms[::-1])), ())
    found = delays(recorded, None, None)
    assert found is not None
    assert found.slow is None
    assert found.fast is not None
    assert found.fast.quantiles[-1][1] == pytest.approx(6, abs=0.1)
    assert math.isnan(found.fast.hold_ms.error)


def test_flows_alone_give_the_least_round_trip_time() -> None:
    flow = Acks(
        "run", "cubic", np.array([1, 2]), np.array([0, 1448]), np.array([-1, 30_000]), np.zeros(2, np.int64), 1448
    )
    found = delays(Recorded((), (flow,)), None, None)
    assert found is not None
    assert (found.least_ms.value, found.is_idle) == (30, False)
    assert delays(Recorded((), ()), None, None) is None


def test_few_points_stand_for_a_distribution_with_a_jump() -> None:
    points = quantile_points(np.concatenate([np.zeros(327), np.full(673, 26.0)]))
    assert points[0] == (0, 0)
    assert points[-1] == (1, 26)
    ratios = [ratio for ratio, ms in points if 0 < ms < 26]
    assert all(ratio == pytest.approx(0.327, abs=0.005) for ratio in ratios)
    assert np.interp(0.31, *zip(*points, strict=True)) == pytest.approx(0, abs=0.5)
    assert np.interp(0.34, *zip(*points, strict=True)) == pytest.approx(26, abs=0.5)


def test_single_losses_are_independent_and_rows_of_them_outages() -> None:
    rng = np.random.default_rng(RNG_SEED)
    single = probes(np.full(20_000, 600.0), 20, rng.random(20_000) < 0.005)
    found = down_losses(Recorded((single,), ()), [])
    assert found is not None
    assert found.independent_ratio is not None
    assert found.independent_ratio.value == pytest.approx(0.005, abs=3 * found.independent_ratio.error)
    assert found.length_ms is None
    rows = np.zeros(20_000, bool)
    for begin in range(500, 20_000, 1000):  # ten probes, 200 ms, each 20 s
        rows[begin : begin + 10] = True
    outages = down_losses(Recorded((probes(np.full(20_000, 600.0), 20, rows),), ()), [])
    assert outages is not None
    assert outages.length_ms is not None
    assert outages.spacing_s is not None
    assert outages.length_ms.value == pytest.approx(200, rel=0.3)
    assert outages.spacing_s.value == pytest.approx(20, rel=0.3)
    assert outages.independent_ratio is None


def test_where_nothing_was_lost_the_bound_is_said() -> None:
    recorded = Recorded((probes(np.full(3000, 600.0)),), ())
    found = down_losses(recorded, [])
    assert found is not None
    assert (found.independent_ratio, found.length_ms) == (None, None)
    assert found.most_ratio == pytest.approx(0.001)
    assert up_losses(recorded) == found
    assert down_losses(Recorded((), ()), []) is None


def test_losses_at_a_long_queue_are_the_queues() -> None:
    """A sawtooth of waiting time, with one loss in each packet's hundred where it is longest, and one in 5,000 anywhere."""
    rng, n = np.random.default_rng(RNG_SEED), 200_000
    wait_ms = np.tile(np.linspace(0, 100, 2000), n // 2000)
    lost = (rng.random(n) < 0.0002) | ((wait_ms > 97) & (rng.random(n) < 0.01))
    flow = Acks(
        "run",
        "cubic",
        np.arange(n) * 240,
        np.arange(n) * 1448,
        ((40 + wait_ms) * 1000).astype(np.int64),
        np.cumsum(lost),
        1448,
    )
    events, queue = split([flow], 40.0, 50e6, None)
    assert queue is not None
    assert queue.is_full
    assert queue.bytes_ == pytest.approx(0.098 * 50e6 / 8, rel=0.05)
    (found,) = events
    assert len(found.sizes) / found.packets == pytest.approx(0.0002, rel=0.3)


def test_probes_beside_data_say_nothing_of_the_idle_link() -> None:
    busy = probes(np.full(500, 900.0), alone=False)
    assert Recorded((busy,), ()).idle == ()
    assert fit(Recorded((busy,), ())) is None


def test_what_the_runs_cannot_tell_is_said() -> None:
    found = fit(Recorded((probes(np.full(3000, 600.0)),), ()))
    assert found is not None
    assert any("filled the link for 5 s" in sentence for sentence in unknown(found))
    assert [each.key for each in parameters(found)] == ["delay.base_ms"]


def test_a_receivers_trace_says_which_probes_came() -> None:
    sender = {
        "elapsed_us": np.array([0, 10, 20]),
        "probe_number": np.array([1, 2, 3]),
        "probe_rtt_us": np.array([5, -1, -1]),
    }
    found = echoes("run", sender, {"probe_number": np.array([1, 3])}, is_alone=True)
    assert found.came is not None
    assert found.came.tolist() == [True, False, True]
    assert echoes("run", sender, {}, is_alone=True).came is None


def test_delivered_segments_count_before_bytes_in_order() -> None:
    columns = {"elapsed_us": np.array([10, 20]), "acked_bytes": np.array([1, 2]), "ack_rtt_us": np.array([5, 5])}
    assert acks("run", "bbr", columns, 10).delivered_bytes.tolist() == [1, 2]
    more = {**columns, "delivered_segments": np.array([2, 4]), "snd_mss_bytes": np.array([1000, 1000])}
    assert acks("run", "bbr", more, 10).delivered_bytes.tolist() == [2000, 4000]


def test_a_link_that_was_full_for_seconds_only_has_no_known_course() -> None:
    """40 Mb/s in even acknowledgements, first with nothing waiting, then for ten seconds with a queue."""
    n = 40_000
    time_us = np.arange(n) * 600
    waits = np.where(time_us > 12_000_000, 60_000, 0)
    flow = Acks("run", "bbr", time_us, np.arange(n) * 2 * 1448, 100_000 + waits, np.zeros(n, np.int64), 1448)
    found = fit(Recorded((), (flow,)))
    assert found is not None
    assert found.rates is not None
    assert found.rates.mean_bps.value == pytest.approx(40e6, rel=0.01)
    assert any(sentence.startswith("How the rate varies: the link was full for 1") for sentence in unknown(found))
    limited = Acks(
        "run", "bbr", time_us, flow.delivered_bytes, flow.rtt_us, flow.lost_segments, 1448, is_limited=waits > 0
    )
    held = fit(Recorded((), (limited,)))
    assert held is not None
    assert held.rates is None, "the application held the flow back"
