"""A control that the kernel does not have, and every ACK of it on record: chosen in a campaign file, nothing else done."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.system.conftest import System

pytestmark = pytest.mark.verify("stack")

SOURCE = """
name: SEARCH in the kernel
links: [terrestrial]
stop: {seconds: 4}
phases: {startup_s: 1, steady_s: 2}
timetable: {cycles: 1}
sampling: per_ack
conditions:
  - {name: SEARCH, flows: [{cc: dl_cubic_search, options: {version: 4.0}}]}
  - {name: Cubic}
"""
OFFERED = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


@pytest.fixture(scope="module")
def campaign(system: System) -> str:
    campaign = system.launch(SOURCE)
    system.wait_complete(campaign)
    return campaign


def test_runs_under_a_control_of_the_agents_own_are_complete(system: System, campaign: str) -> None:
    runs = system.runs_in_time(campaign)
    assert [(run["condition"], run["state"]) for run in runs] == [("SEARCH", "complete"), ("Cubic", "complete")]
    found = [system.client.get(f"/runs/{run['id']}")["flows"][0] for run in runs]
    assert [(flow["actual_cc"], flow["detail"]) for flow in found] == [("dl_cubic_search", None), ("cubic", None)]
    assert "dl_cubic_search" not in OFFERED.read_text().split()


@pytest.mark.verify("stack", measures=True)
def test_every_ack_is_on_record(system: System, campaign: str) -> None:
    for run in system.runs_in_time(campaign):
        out = io.BytesIO()
        system.client.download(f"/runs/{run['id']}/traces/1/sender.parquet", out)
        trace = pq.read_table(io.BytesIO(out.getvalue())).to_pydict()
        assert max(trace["ack_rtt_us"]) > 0
        assert len(trace["elapsed_us"]) > 4 * 400, "polled every 5 ms it would be half as many"
        assert trace["delivered_segments"][-1] * 1448 > 4e6


def test_detectors_that_need_every_ack_can_decide(system: System, campaign: str) -> None:
    for run in system.runs_in_time(campaign):
        verdicts = system.client.get(f"/runs/{run['id']}/exits")["flows"][0]["verdicts"]
        assert {each["detector"]: each["is_decidable"] for each in verdicts}.items() >= {("hystart++", True)}, verdicts


def test_the_api_tells_what_hosts_can_run(system: System) -> None:
    for agent in system.client.items("/agents"):
        assert "dl_vivace" in agent["host"]["congestion_controls"]
        assert agent["host"]["controls_unavailable"] == {}
