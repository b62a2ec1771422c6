"""The capacity point as the emulated link's own log has it."""

from __future__ import annotations

import numpy as np
import pytest

from downlink.analysis.exits.capacity import Basis, LinkRate, capacity_point
from downlink.analysis.exits.trace import AckTrace
from downlink.analysis.linklog import HopLog, hop_log
from tests.fixtures.scripted_agent import draw_link
from tests.fixtures.slow_start_sim import simulate_slow_start

RATE_BPS = 144e6


def grown(trace: AckTrace, full_at_s: float, until_s: float = 20.0, start_s: float = 0.0) -> HopLog:
    """A hop whose load doubles every least RTT and reaches its rate at full_at_s; rows each 10 ms."""
    time_s = np.arange(start_s, until_s, 0.01)
    rtt_s = (trace.least_rtt_us or 0) / 1e6
    sent_bps = RATE_BPS * np.minimum(1.0, 2 ** ((time_s - full_at_s) / rtt_s))
    sent, room = (np.cumsum(bps * 0.01 / 8) for bps in (sent_bps, np.full_like(time_s, RATE_BPS)))
    return HopLog((time_s * 1e6).round().astype(np.int64), sent, room)


def test_the_point_is_when_the_hop_was_busy_for_a_least_rtt() -> None:
    trace = simulate_slow_start(1).trace
    assert trace.loss_us is not None
    found = capacity_point(trace, LinkRate(60e6, is_emulated=True, log=grown(trace, 3.0)))
    assert found is not None
    # (1 - 2^(x - 1)) / ln 2 + x = 0.95 for x = 0.604: so many RTTs after its rate was reached the hop had sent 95 %.
    assert found.at_us == pytest.approx(3e6 + 0.604 * found.least_rtt_us, abs=20_000)
    assert (found.basis, found.rate_bps) == (Basis.LINK_LOG, pytest.approx(RATE_BPS))


def test_a_hop_that_was_busy_only_after_the_loss_was_never_full_before_it() -> None:
    trace = simulate_slow_start(1).trace
    found = capacity_point(trace, LinkRate(RATE_BPS, is_emulated=True, log=grown(trace, 12.0)))
    assert found is not None
    assert (found.at_us, found.basis) == (None, Basis.LINK_LOG)


def test_a_log_that_begins_late_says_nothing_of_what_was_before() -> None:
    trace = simulate_slow_start(1).trace
    found = capacity_point(trace, LinkRate(RATE_BPS, is_emulated=True, log=grown(trace, 1.0, start_s=4.0)))
    assert found is not None
    assert found.at_us == pytest.approx(4e6 + found.least_rtt_us, abs=20_000)


def test_a_gap_is_no_idleness() -> None:
    trace = simulate_slow_start(1).trace
    log = grown(trace, 2.0)
    gap = (log.time_us > 2_300_000) & (log.time_us <= 2_500_000)
    stalled = HopLog(
        log.time_us,
        np.cumsum(np.where(gap, 0.0, np.diff(log.sent_bytes, prepend=0.0))),
        np.cumsum(np.where(gap, 0.0, np.diff(log.room_bytes, prepend=0.0))),
    )
    points = [capacity_point(trace, LinkRate(RATE_BPS, is_emulated=True, log=each)) for each in (log, stalled)]
    plain, with_gap = (point.at_us or 0 for point in points if point)
    assert plain > 0
    assert 0 <= with_gap - plain <= 200_000


def test_a_log_s_rows_become_what_the_hop_sent_and_could_send() -> None:
    log = hop_log(draw_link(np.arange(501, dtype=np.int64) * 10_000), 20_000)
    assert log.time_us[:3].tolist() == [-20_000, -10_000, 0]
    assert log.room_bytes[-1] == pytest.approx(160e6 * 5 / 8)
    assert log.sent_bytes[-1] == 50_000_000 - 3_000_000 - 2_000_000, (
        "received, less what was lost before the hop and what waits"
    )
