"""The yardstick against the truth: simulated slow starts over geo-viasat, of which it is known when the link was full.

`pytest -s` prints the table of docs/exits.md. DOWNLINK_SLOW_STARTS sets how many flows (20).
"""

from __future__ import annotations

import os
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from downlink.analysis.exits.capacity import LinkRate, capacity_point
from downlink.analysis.exits.flow import FlowExits, judge_flow
from downlink.analysis.exits.hystart import HyStart
from downlink.analysis.exits.outcomes import Timing
from tests.fixtures.slow_start_sim import Profile, SlowStart, simulate_slow_start

FLOWS = int(os.environ.get("DOWNLINK_SLOW_STARTS", "20"))
LINK = LinkRate(Profile().rate_bps, is_emulated=True)
RTT_S = Profile().idle_rtt_s


@cache
def starts() -> tuple[SlowStart, ...]:
    return tuple(simulate_slow_start(seed) for seed in range(FLOWS))


@cache
def judged() -> tuple[FlowExits, ...]:
    return tuple(judge_flow(start.trace, LINK) for start in starts())


def errors_s(found_us: list[int | None]) -> NDArray[np.float64]:
    """Each found time minus the moment at which the receiver had got the link's full rate for an RTT."""
    full_us = np.array([start.full_us for start in starts()], float)
    return (np.array(found_us, float) - full_us) / 1e6


def told(name: str, errors: NDArray[np.float64]) -> None:
    print(f"{name}: {np.nanmean(errors):+.2f} s (sd {np.nanstd(errors, ddof=1):.2f}), n = {np.isfinite(errors).sum()}")


def test_the_simulated_flows_are_those_of_the_profile() -> None:
    """Control: first loss and least RTT as measured over the emulated link itself, 8.3 to 9.1 s and 560 to 585 ms."""
    loss_s = np.array([flow.loss_us for flow in judged()], float) / 1e6
    least_ms = np.array([start.trace.least_rtt_us for start in starts()], float) / 1e3
    assert np.all((loss_s > 8.3) & (loss_s < 9.3))
    assert np.all((least_ms > 555) & (least_ms < 590))


def test_in_flight_by_the_rate_comes_within_a_round_trip_before_the_receiver_has_seen_one_of_full_rate() -> None:
    found = [flow.capacity.at_us if flow.capacity else None for flow in judged()]
    errors = errors_s(found)
    told("in flight >= rate x least RTT", errors)
    assert np.all(np.isfinite(errors))
    assert np.all((errors < 0) & (errors > -1.25 * RTT_S))
    assert np.std(errors, ddof=1) < 0.1


def test_the_delivery_plateau_comes_within_a_round_trip_after_it() -> None:
    capacities = [capacity_point(start.trace) for start in starts()]
    errors = errors_s([capacity.at_us if capacity else None for capacity in capacities])
    told("90 % of the delivery plateau", errors)
    assert np.all((errors > 0) & (errors < RTT_S))
    rates = [capacity.rate_bps for capacity in capacities if capacity and capacity.rate_bps]
    # Payload of 1,448 in packets of 1,500 bytes; bunched ACKs add up to a twentieth.
    assert np.all(np.abs(np.array(rates) / (LINK.bps * 1_448 / 1_500) - 1) < 0.07)


def test_the_published_cg_is_seconds_before_the_link_is_full() -> None:
    errors = errors_s([flow.times.cg_us if flow.times else None for flow in judged()])
    told("cg of Kachooei 2023, norm > 0.10", errors)
    assert np.nanmean(errors) < -2.5
    assert np.mean(errors < -1) >= 0.9


def test_hystart_s_exit_is_early_in_all_but_one_of_twenty() -> None:
    timings = [timing for flow in judged() for timing in [_hystart_timing(flow)]]
    early = sum(timing is Timing.EARLY for timing in timings)
    print(f"HyStart 6.x: {early} of {FLOWS} early")
    assert early >= 0.95 * FLOWS


def _hystart_timing(flow: FlowExits) -> Timing | None:
    both = HyStart()
    return next(
        flow.timing(each) for each in flow.verdicts if each.identity == ("hystart", both.kernel.value, both.detect)
    )


@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_makes_the_same_flow(seed: int) -> None:
    once, again = simulate_slow_start(seed, most_s=3), simulate_slow_start(seed, most_s=3)
    assert all(np.array_equal(once.columns[name], again.columns[name]) for name in once.columns)
    assert once.columns["elapsed_us"][0] != simulate_slow_start(seed + 1, most_s=3).columns["elapsed_us"][0]
