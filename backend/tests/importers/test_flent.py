"""Flent: raw samples of TCP flows, or the resampled series."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest

from downlink.domain.errors import InvalidError
from downlink.domain.traces.point import Point
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


def rates(*values: object, **more: object) -> list[dict[str, Any]]:
    """Samples a second apart; NaN and Infinity are what Python writes for a number that is none."""
    return [{"t": 1000.0 + at, "val": value, **more} for at, value in enumerate(values)]


@pytest.mark.parametrize("more", [{"dur": 1.0}, {}, {"dur": 0}, {"dur": None}])
@pytest.mark.parametrize("hole", [None, float("nan"), float("inf"), -999, "x"])
def test_samples_without_a_value_are_named_and_their_time_has_the_next_rate(more: dict[str, Any], hole: object) -> None:
    trace = imported(document(raw_values={"TCP upload": rates(8, 8, hole, hole, 16, **more)}))
    flow = trace.flows[0]
    assert np.diff(flow.columns["app_bytes"]).tolist() == [1_000_000, 3 * 2_000_000]
    assert np.diff(flow.columns["elapsed_us"]).tolist() == [1_000_000, 3_000_000]
    (said,) = trace.content.left_out
    assert str(said) == "TCP upload: throughput samples without a usable value: 2; the next rate counts for their time"


def test_samples_without_a_value_at_both_ends_count_for_no_time() -> None:
    trace = imported(document(raw_values={"TCP upload": rates(None, 8, 8, None, dur=1.0)}))
    assert trace.flows[0].columns["app_bytes"].tolist() == [1_000_000, 2_000_000]
    assert trace.flows[0].duration_s == 2.0
    assert len(trace.content.left_out) == 1


def test_a_first_sample_of_unknown_length_before_a_hole_counts_for_no_time() -> None:
    flow = imported(document(raw_values={"TCP upload": rates(8, None, None, 8)})).flows[0]
    assert flow.columns["app_bytes"].tolist() == [0, 3_000_000]


def test_what_a_socket_said_is_no_missing_value() -> None:
    samples = [{"t": 1000.5, "val": None, "tcp_cwnd": 10}, {"t": 1000.7, "tcp_rtt": 600}]
    assert imported(document(raw_values={"TCP upload": [*rates(8, 8, dur=1.0), *samples]})).content.left_out == ()


def test_a_flow_named_after_an_ipv6_address_is_a_flow() -> None:
    name = "TCP upload BE 2001:db8::a"
    series = {name: rates(8, 8, dur=1.0), f"{name}::tcp_rtt": rates(600, 600), "TCP upload": rates(8, 8, dur=1.0)}
    series |= {"TCP upload::tcp_cwnd": rates(10, 10), "TCP download::tcp_rtt": rates(9, 9)}
    flows = imported(document(raw_values=series, results={})).flows
    assert [flow.metadata["series"] for flow in flows] == ["TCP upload", name]


def test_a_plotted_series_that_does_not_fit_the_times_is_left_out() -> None:
    plotted = {"TCP upload::1": [8.0, 8.0, 8.0], "TCP upload::2": [8.0], "TCP upload::3": 5}
    trace = imported(document(raw_values={}, results=plotted))
    assert [flow.metadata["series"] for flow in trace.flows] == ["TCP upload::1"]
    assert [str(each) for each in trace.content.left_out] == [
        "TCP upload::2: TCP upload::2 has 1 values for 3 times; repeat the test",
        "TCP upload::3: results of TCP upload::3 is not a list",
    ]


def test_a_start_may_be_written_with_a_space() -> None:
    told = document()["metadata"] | {"TIME": "2026-01-02 03:04:05.600000"}
    assert imported(document(metadata=told)).started_at == imported(document()).started_at


def test_time_of_which_samples_are_lost_is_named_and_has_the_next_rate() -> None:
    kept = [each for each in rates(8, 8, 8, 8, 16, 8, dur=1.0) if each["t"] not in (1002.0, 1003.0)]
    trace = imported(document(raw_values={"TCP upload": kept}))
    assert np.diff(trace.flows[0].columns["app_bytes"]).tolist() == [1_000_000, 6_000_000, 1_000_000]
    (said,) = trace.content.left_out
    assert str(said) == "TCP upload: gaps between throughput samples: 1; the next rate counts for their time"
