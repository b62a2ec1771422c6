"""What probes say, on cases whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from downlink.analysis.phases import run_metrics
from downlink.analysis.probes import probe_series
from downlink.analysis.validity import find_fault
from downlink.domain.campaigns.campaign import Phases

FIRST_US = 700_000
"""The first probe's moment on the run's clock."""


def probes(every_ms: int, seconds: float, rtt_ms: np.ndarray) -> dict[str, np.ndarray]:
    sent_us = FIRST_US + np.arange(round(seconds * 1000 / every_ms)) * every_ms * 1000
    return {
        "elapsed_us": sent_us.astype(np.int64),
        "probe_number": np.arange(1, len(sent_us) + 1),
        "probe_rtt_us": np.where(np.isnan(rtt_ms), -1, rtt_ms * 1000).astype(np.int64)[: len(sent_us)],
    }


def test_each_second_has_the_mean_of_what_came_back_and_the_share_that_did_not() -> None:
    rtt_ms = np.concatenate([np.full(10, 600.0), np.linspace(600, 690, 10), np.full(10, np.nan)])
    rtt_ms[3] = np.nan
    found = probe_series(probes(100, 3, rtt_ms), FIRST_US, 3.0)
    assert found.bins == 3
    assert found.column("rtt_ms")[:2].tolist() == pytest.approx([600, 645])
    assert math.isnan(found.column("rtt_ms")[2])
    assert found.column("probe_loss_percent").tolist() == pytest.approx([10, 0, 100])
    assert np.isnan(found.column("throughput_bps")).all()


def test_the_flows_last_second_counts_when_it_is_full() -> None:
    rtt_ms = np.full(100, 20.0)
    assert probe_series(probes(100, 2.95, rtt_ms), FIRST_US, None).bins == 2
    assert probe_series(probes(100, 2.95, rtt_ms), FIRST_US, 2.9).bins == 2
    assert probe_series(probes(100, 3, rtt_ms), FIRST_US, 3.0).bins == 3


def test_phases_count_losses_and_take_the_percentile_of_single_values() -> None:
    """Means of seconds would hide the spikes, and seconds with few probes would weigh as much as others."""
    rtt_ms = np.full(100, 50.0)
    rtt_ms[60:66] = 400.0
    rtt_ms[::20] = np.nan
    found = probe_series(probes(100, 10, rtt_ms), FIRST_US, 10.0)
    metrics = run_metrics([found], [0.0], Phases(startup_s=2, steady_s=5), math.nan)[0]
    steady = rtt_ms[50:]
    assert metrics["steady"]["probe_loss_percent"] == pytest.approx(100 * np.isnan(steady).mean())
    assert metrics["steady"]["probe_rtt_p95_ms"] == pytest.approx(np.nanpercentile(steady, 95))
    assert metrics["startup"]["probe_rtt_p95_ms"] == pytest.approx(50)
    assert metrics["overall"]["throughput_bps"] is None


def test_a_probe_in_a_second_is_no_thin_trace() -> None:
    columns = probes(1000, 30, np.full(30, 20.0))
    assert find_fault(columns, FIRST_US, FIRST_US + 29_000_000) is None
    assert find_fault({**columns, "elapsed_us": columns["elapsed_us"][:0]}, FIRST_US, FIRST_US + 29_000_000) is not None
