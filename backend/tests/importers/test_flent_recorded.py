"""Flent files as flent 2.3.0 wrote them, with netperf's and the socket's samples in one list and several flows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from downlink.domain.traces.point import Point
from downlink.importers.files import import_file
from downlink.importers.model import Direction, ImportedFlow, ImportedTrace

DATA = Path(__file__).parent / "data"


def document(test: str) -> dict[str, Any]:
    return dict(json.loads(gzip.decompress((DATA / f"flent-{test}.flent.gz").read_bytes())))


def imported(test: str, **changes: Any) -> ImportedTrace:
    return import_file("x.flent", json.dumps(document(test) | changes).encode())


def by_series(trace: ImportedTrace) -> dict[str, ImportedFlow]:
    return {str(flow.metadata["series"]): flow for flow in trace.flows}


def samples(test: str, series: str, key: str) -> list[dict[str, Any]]:
    return [sample for sample in document(test)["raw_values"][series] if key in sample]


@pytest.mark.parametrize(("test", "series"), [("tcp_upload", "TCP upload"), ("rrul_be", "TCP upload BE3")])
def test_a_flow_that_only_sends_has_what_it_wrote_and_what_its_socket_said(test: str, series: str) -> None:
    flow = by_series(imported(test))[series]
    assert (flow.point, flow.direction, flow.congestion_control) == (Point.SENDER, Direction.UPLOAD, "bbr")
    values, sockets = samples(test, series, "val"), samples(test, series, "tcp_cwnd")
    start_s = values[0]["t"] - values[0]["dur"]
    written = np.cumsum([sample["val"] * sample["dur"] * 125_000 for sample in values])
    elapsed_us = [round((sample["t"] - start_s) * 1e6) for sample in values]
    at = np.searchsorted(flow.columns["elapsed_us"], elapsed_us)
    assert flow.columns["elapsed_us"][at].tolist() == elapsed_us
    np.testing.assert_allclose(flow.columns["app_bytes"][at], written, rtol=0, atol=len(values))
    within = [each for each in sockets if start_s <= each["t"] <= values[-1]["t"]]
    seen = np.searchsorted(flow.columns["elapsed_us"], [round((each["t"] - start_s) * 1e6) for each in within])
    assert flow.columns["cwnd_segments"][seen].tolist() == [each["tcp_cwnd"] for each in within]
    assert flow.columns["rtt_us"][seen].tolist() == [round(each["tcp_rtt"] * 1_000) for each in within]
    assert set(flow.columns["snd_mss_bytes"].tolist()) == {1_448}


def test_numbered_flows_are_flows_and_what_is_derived_of_them_is_not() -> None:
    assert list(by_series(imported("tcp_nup"))) == ["TCP upload::1", "TCP upload::2", "TCP upload::3"]
    downloads = by_series(imported("tcp_ndown"))
    assert list(downloads) == ["TCP download::1", "TCP download::2"]
    assert {(flow.point, flow.direction) for flow in downloads.values()} == {(Point.RECEIVER, Direction.DOWNLOAD)}


def test_without_raw_samples_a_fairness_figure_and_socket_series_are_no_flows() -> None:
    flows = by_series(imported("tcp_nup", raw_values={}))
    assert list(flows) == ["TCP upload::1", "TCP upload::2", "TCP upload::3"]
    assert {flow.point for flow in flows.values()} == {Point.SENDER}


def test_a_test_of_both_directions_has_four_flows_of_each() -> None:
    ends = [flow.point for flow in imported("rrul_be").flows]
    assert (ends.count(Point.SENDER), ends.count(Point.RECEIVER)) == (4, 4)


@pytest.mark.parametrize("left", [None, [], "sockets", 5, [None], "gone"])
def test_a_flow_without_throughput_is_left_out_by_name(left: object) -> None:
    raw = document("tcp_nup")["raw_values"]
    whole = imported("tcp_nup")
    raw["TCP upload::2"] = [each for each in raw["TCP upload::2"] if "val" not in each] if left == "sockets" else left
    if left == "gone":
        del raw["TCP upload::2"]
    trace = imported("tcp_nup", raw_values=raw)
    assert [flow.metadata["series"] for flow in trace.flows] == ["TCP upload::1", "TCP upload::3"]
    assert [flow.columns["app_bytes"][-1] for flow in trace.flows] == [
        whole.flows[each].columns["app_bytes"][-1] for each in (0, 2)
    ]
    (left_out,) = trace.content.left_out
    assert (left_out.place, bool(left_out.reason)) == ("TCP upload::2", True)


def test_a_flent_file_tells_its_test_and_its_title() -> None:
    assert imported("tcp_nup").test == "tcp_nup: three uploads"
