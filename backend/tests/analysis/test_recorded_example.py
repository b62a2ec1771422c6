"""The numbers of the recorded example, recomputed from its traces and as they are kept in the archive."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from downlink.analysis.delays import PHASE_METRICS
from downlink.analysis.phases import run_metrics
from downlink.analysis.report import PAYLOAD_RATIO
from downlink.analysis.series import sender_series
from downlink.analysis.steady import time_to_steady_s
from downlink.domain.campaigns.campaign import Phases
from tests.fixtures.recorded import recorded_columns, recorded_flows, recorded_rows

WINDOWS = Phases(startup_s=15.0, steady_s=5.0)


def metrics_of(condition: str) -> list[dict[str, Any]]:
    """Per run, by cycle: {phase: {metric: value}}, computed from the sender's trace."""
    found = []
    for run, flow in recorded_flows(condition):
        first_byte_us = flow["sender_outcome"]["first_byte_us"]
        series = sender_series(recorded_columns(run["id"]), first_byte_us, run["stop"]["seconds"])
        found += run_metrics([series], [0.0], WINDOWS, run["nominal_rate_bps"])
    return found


def test_the_retransmitted_share_is_retransmitted_bytes_over_sent_bytes() -> None:
    shares = [each["overall"]["retransmission_percent"] for each in metrics_of("HyStart off")]
    assert shares == pytest.approx([3.29, 1.74, 3.23], abs=0.005)


ABSENT = {"probe_loss_percent", "probe_rtt_p95_ms", *PHASE_METRICS}


def test_the_archive_keeps_what_this_version_computes() -> None:
    kept = {(row["run_id"], row["phase"]): row for row in recorded_rows()["metrics"]}
    for condition in ("HyStart on", "HyStart off"):
        for (run, _), phases in zip(recorded_flows(condition), metrics_of(condition), strict=True):
            for phase, metrics in phases.items():
                row = kept[run["id"], phase]
                # It has neither probe flows nor delivery tables.
                of_data = {name: value for name, value in metrics.items() if name not in ABSENT}
                assert {name: row[name] for name in of_data} == pytest.approx(of_data, rel=1e-9)


@pytest.mark.parametrize("condition", ["HyStart on", "HyStart off"])
def test_the_receiver_has_an_object_half_a_round_trip_before_the_sender_knows(condition: str) -> None:
    """One way back over the link takes about 0.3 s. The receiver's own trace is held against the first sample with so many bytes."""
    for run, flow in recorded_flows(condition):
        sent = np.array(flow["object_times_s"]) + flow["sender_outcome"]["first_byte_us"] / 1e6
        columns = recorded_columns(run["id"], "receiver")
        for mb in (1, 5, 15):
            after = columns["elapsed_us"][columns["received_bytes"] >= mb * 1_000_000][0] / 1e6
            assert after - 0.05 <= flow["received_times_s"][mb - 1] <= after
            assert 0.2 < sent[mb - 1] - flow["received_times_s"][mb - 1] < 0.5


def test_a_run_that_ends_low_is_steady_by_its_own_level_and_not_by_the_links() -> None:
    """The third run with HyStart on had an outage at its end: 90 % of its last 5 s are 66 Mb/s."""
    run, flow = list(recorded_flows("HyStart on"))[2]
    columns, first_byte_us = recorded_columns(run["id"]), flow["sender_outcome"]["first_byte_us"]
    throughput_bps = sender_series(columns, first_byte_us, run["stop"]["seconds"]).column("throughput_bps")
    own_bps = metrics_of("HyStart on")[2]["steady"]["throughput_bps"]
    assert own_bps == pytest.approx(73.5e6, rel=0.01)
    assert time_to_steady_s(throughput_bps, own_bps) == 28
    assert np.isnan(time_to_steady_s(throughput_bps, run["nominal_rate_bps"] * PAYLOAD_RATIO))
