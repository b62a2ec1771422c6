"""An outage is part of a flow: what it did not carry counts, in traces of every ACK as in polled ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from downlink.analysis.imported_series import imported_series
from downlink.analysis.phases import run_metrics
from downlink.analysis.series import FlowSeries, sender_series
from downlink.analysis.validity import find_fault
from downlink.domain.campaigns.campaign import Phases

Columns = dict[str, NDArray[np.int64]]
SECOND_US = 1_000_000
MBPS = 10
WINDOWS = Phases(startup_s=5, steady_s=5)


def acks(seconds: float, rate_hz: float = 100, **changes: Any) -> Columns:
    """A trace with a row for every ACK, 10 Mb/s while ACKs come."""
    time_us = (np.arange(round(seconds * rate_hz) + 1) * (SECOND_US / rate_hz)).astype(np.int64)
    acked = time_us * MBPS // 8
    columns = {"elapsed_us": time_us, "acked_bytes": acked, "ack_rtt_us": np.full_like(time_us, 600_000)}
    return {**columns, **changes}


def with_silence(columns: Columns, from_s: float, length_s: float) -> Columns:
    """The same with nothing acknowledged for a while, and no row of it."""
    later = columns["elapsed_us"] > from_s * SECOND_US
    return {**columns, "elapsed_us": columns["elapsed_us"] + later * round(length_s * SECOND_US)}


def polled(columns: Columns) -> Columns:
    return {name: values for name, values in columns.items() if name != "ack_rtt_us"}


def overall_mbps(series: FlowSeries) -> float | None:
    (flow,) = run_metrics([series], [0.0], WINDOWS, 1e8)
    value = flow["overall"]["goodput_bps"]
    return None if value is None else round(value / 1e6, 2)


OUTAGE = with_silence(acks(20), from_s=10, length_s=5)


def test_silence_between_acks_lowers_the_mean_and_is_no_gap() -> None:
    """10 s at 10 Mb/s, 5 s of silence, 10 s at 10 Mb/s: 200 Mb in 25 s."""
    series = sender_series(OUTAGE, 0)
    assert not np.isnan(series.column("goodput_bps")).any()
    assert overall_mbps(series) == 8.0


def test_a_run_with_an_outage_counts_where_every_ack_is_on_record() -> None:
    assert find_fault(OUTAGE, 0, 25 * SECOND_US) is None


def test_a_starved_flow_counts_where_every_ack_is_on_record() -> None:
    assert find_fault(acks(60, rate_hz=2), 0, 60 * SECOND_US) is None


def test_dropped_samples_make_a_trace_of_acks_thin() -> None:
    rows = acks(60)
    kept = len(rows["elapsed_us"])
    most = int(kept / 9)  # a tenth of all
    assert find_fault(rows, 0, 60 * SECOND_US, dropped_samples=most) is None
    fault = find_fault(rows, 0, 60 * SECOND_US, dropped_samples=most + 1)
    assert fault is not None
    assert fault.reason == "thin_trace"
    assert str(most + 1) in fault.detail


def test_silence_until_the_stop_counts_where_every_ack_is_on_record() -> None:
    """ACKs end at 20 s, the flow was stopped at 25 s."""
    series = sender_series(acks(20), 0, duration_s=25, last_byte_us=25 * SECOND_US)
    assert (series.bins, overall_mbps(series)) == (25, 8.0)


@pytest.mark.parametrize("rows", [0, 1])
def test_a_single_ack_makes_no_series_however_long_the_flow_went_on(rows: int) -> None:
    columns = {name: values[:rows] for name, values in acks(20).items()}
    series = sender_series(columns, 0, duration_s=25, last_byte_us=25 * SECOND_US)
    assert (series.bins, series.length_s.tolist()) == (0, [])
    assert overall_mbps(series) is None


def test_a_polled_gap_is_shown_and_its_bytes_count() -> None:
    series = sender_series(polled(OUTAGE), 0)
    assert np.isnan(series.column("goodput_bps")).nonzero()[0].tolist() == [11, 12, 13, 14]
    assert overall_mbps(series) == 8.0


def test_an_imported_gap_is_shown_and_its_bytes_count() -> None:
    series = imported_series(polled(OUTAGE), {})
    assert np.isnan(series.column("goodput_bps")).any()
    assert overall_mbps(series) == 8.0


@pytest.mark.parametrize("short_us", [-50, 0, 50])
def test_microseconds_do_not_cost_a_second(short_us: int) -> None:
    """One flow cut at 20 s and 50 us to either side."""
    rows = acks(20)
    rows["elapsed_us"][-1] += short_us
    series = sender_series(rows, 0)
    assert series.bins == 20
    assert overall_mbps(series) == pytest.approx(10.0, rel=1e-3)
    assert series.column("goodput_bps")[-1] == pytest.approx(1e7, rel=1e-3)


@pytest.mark.parametrize(("end_us", "bins"), [(19_990_000, 20), (19_989_999, 19)])
def test_a_last_bin_may_lack_a_hundredth(end_us: int, bins: int) -> None:
    rows = acks(20)
    rows["elapsed_us"][-1] = end_us
    rows["elapsed_us"][-2] = end_us - 1
    assert sender_series({name: values for name, values in rows.items() if name == "elapsed_us"}, 0).bins == bins


def test_a_gauge_weighs_time_and_not_samples() -> None:
    """0.8 s at 10,000 and 0.2 s at 4, sampled every 10 ms or at four ACKs: 8,001 both ways."""
    even_us = np.arange(0, SECOND_US + 1, 10_000)
    even = np.where(even_us < 800_000, 10_000, 4)
    uneven_us = np.array([0, 1, 2, 800_000, SECOND_US])
    uneven = np.array([10_000, 10_000, 10_000, 4, 4])
    for time_us, cwnd in ((even_us, even), (uneven_us, uneven)):
        series = sender_series({"elapsed_us": time_us, "cwnd_segments": cwnd, "snd_mss_bytes": np.ones_like(cwnd)}, 0)
        assert round(series.column("cwnd_bytes")[0]) == 8_001
