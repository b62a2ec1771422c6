"""Flent: raw samples of TCP flows, or the resampled series."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from downlink.domain.errors import InvalidError
from downlink.domain.point import Point
from downlink.importers.files import import_file
from downlink.importers.model import SourceKind


def document(**changes: Any) -> dict[str, Any]:
    sample = {"val": 8.0, "dur": 0.5, "tcp_cwnd": 20, "tcp_rtt": 600.5}
    return {
        "version": 4,
        "x_values": [0.0, 0.5, 1.0],
        "results": {"TCP upload": [8.0, None, 16.0], "Ping (ms) ICMP": [600.0, 601.0, 602.0]},
        "metadata": {"NAME": "tcp_download", "TIME": "2026-01-02T03:04:05.600000Z", "HOST": "10.1.2.3"},
        "raw_values": {
            "TCP upload": [{"t": 1000.0, **sample}, {"t": 1000.5, **sample}],
            "Ping (ms) ICMP": [{"t": 1000.0, "val": 600.0}],
        },
    } | changes


def imported(value: object) -> Any:
    return import_file("x.flent.gz", gzip.compress(json.dumps(value).encode()))


def test_raw_samples_keep_their_times_and_units_become_ours() -> None:
    trace = imported(document())
    assert (trace.kind, len(trace.flows), trace.flows[0].point) == (SourceKind.FLENT, 1, Point.SENDER)
    assert {name: column.tolist() for name, column in trace.flows[0].columns.items()} == {
        "elapsed_us": [500_000, 1_000_000],
        "app_bytes": [500_000, 1_000_000],
        "cwnd_segments": [20, 20],
        "rtt_us": [600_500, 600_500],
    }
    assert trace.metadata["host"] == "10.1.2.0"
    assert trace.started_at.isoformat() == "2026-01-02T03:04:05.600000+00:00"


def test_without_raw_samples_the_plotted_series_are_read_and_gaps_left_out() -> None:
    flow = imported(document(raw_values={})).flows[0]
    assert flow.columns["elapsed_us"].tolist() == [0, 1_000_000]
    # 8 Mb/s for one second and 16 Mb/s for one second.
    assert flow.columns["app_bytes"].tolist() == [1_000_000, 3_000_000]
    assert flow.point == Point.SENDER


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"raw_values": {"Ping": [{"t": 1, "val": 2}]}}, "no TCP flow"),
        ({"raw_values": {"TCP upload": [{"t": "now", "val": 2}]}}, "t of TCP upload is not a number"),
        ({"raw_values": {}, "results": {"TCP upload": [1.0]}}, "1 values for 3 times"),
        ({"raw_values": {"TCP upload": 5}}, "is not a list"),
        ({"metadata": None}, "metadata is not an object"),
    ],
)
def test_other_shapes_are_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidError, match=why):
        imported(document(**changes))
