"""What held flows back, from the traces of scripted agents to the API and CSV."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import TypeAdapter

from downlink.views.results.limits import CampaignLimits, RunLimits
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import RATE_BYTES_S, draw_steady

pytestmark = pytest.mark.sampled("faults", one_of=3)

RTT_S = 0.6


def draw_held_by_window(t_us: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """80 Mb/s at 600 ms: busy nine tenths of the time, and six tenths of it held by the receive window."""
    return {
        **draw_steady(t_us),
        "min_rtt_us": np.full_like(t_us, round(RTT_S * 1e6)),
        "busy_us": t_us * 9 // 10,
        "rwnd_limited_us": t_us * 6 // 10,
        "sndbuf_limited_us": 0 * t_us,
        "notsent_bytes": np.full_like(t_us, 100_000),
    }


def draw_over_a_millisecond(t_us: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    return {**draw_steady(t_us), "min_rtt_us": np.full_like(t_us, 1000)}


@pytest.fixture
def campaign(lab: Lab) -> str:
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    server.draws = draw_held_by_window
    launched = lab.launch(timetable={"cycles": 2}, conditions=[{"name": "on"}])
    lab.drive(launched, [client, server])
    return launched


def limits_of_first_run(lab: Lab, campaign: str) -> dict[str, Any]:
    shown = lab.call("GET", f"/runs/{lab.runs(campaign)[0]['id']}/limits")
    assert TypeAdapter(RunLimits).validate_python(shown)
    (flow,) = shown["flows"]
    return dict(flow)


def test_every_second_of_a_run_says_what_held_it(lab: Lab, campaign: str) -> None:
    flow = limits_of_first_run(lab, campaign)
    seconds = flow["seconds"]
    assert (flow["cc"], seconds["bin_s"]) == ("cubic", [0, 1, 2, 3, 4])
    assert seconds["receive_window"] == pytest.approx([0.6] * 5, abs=1e-5)
    assert flow["shares"] == pytest.approx(
        {"congestion_window": 0.3, "receive_window": 0.6, "send_buffer": 0.0, "application": 0.1}, abs=1e-5
    )
    assert flow["advice"]["bdp_bytes"] == RATE_BYTES_S * RTT_S
    assert flow["advice"]["is_lower_bound"] is True


def test_a_campaign_says_which_buffers_to_set_and_every_second_is_a_line_of_its_table(lab: Lab, campaign: str) -> None:
    shown = lab.call("GET", f"/campaigns/{campaign}/limits")
    assert TypeAdapter(CampaignLimits).validate_python(shown)
    assert [(each["condition"], each["runs"]) for each in shown["groups"]] == [("on", 2)]
    estimate = shown["groups"][0]["shares"]["receive_window"]
    assert (estimate["mean"], estimate["n"]) == (pytest.approx(0.6, abs=1e-5), 2)
    (advice,) = shown["advice"]
    # The window held it, so that the nominal 144 Mb/s count: 10.8 MB, two and a half times, in whole pages of 4096.
    assert advice["max_bytes"] == -(-2.5 * 144e6 / 8 * RTT_S // 4096) * 4096 == 27_000_832
    assert (advice["rmem"], advice["wmem"]) == ("4096 131072 27000832", "4096 16384 27000832")
    assert 'sysctl -w net.ipv4.tcp_rmem="4096 131072 27000832"' in advice["sentence"]
    assert "6.0 MB were measured" in advice["sentence"]
    assert shown["groups"][0]["advice"] == {name: advice[name] for name in ("bdp_bytes", "is_lower_bound", "max_bytes")}
    lines = list(csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/limits.csv"))))
    assert len(lines) == 2 * 5
    assert {line["max_bytes"] for line in lines} == {"27000832"}
    assert float(lines[3]["receive_window_ratio"]) == pytest.approx(0.6, abs=1e-5)


def test_a_flow_of_messages_at_a_fixed_rate_gives_no_advice_on_buffers(lab: Lab) -> None:
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    offer = {"message_bytes": 16, "every_ms": 5}
    campaign = lab.launch(conditions=[{"name": "on", "flows": [{"cc": "cubic", "offer": offer}]}])
    lab.drive(campaign, agents)
    assert limits_of_first_run(lab, campaign)["advice"] is None
    shown = lab.call("GET", f"/campaigns/{campaign}/limits")
    assert (shown["groups"][0]["advice"], shown["advice"]) == (None, [])


def test_no_maximum_is_advised_below_the_size_with_which_buffers_start(lab: Lab) -> None:
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    agents[1].draws = draw_over_a_millisecond
    campaign = lab.launch(conditions=[{"name": "on"}])
    lab.drive(campaign, agents)
    (advice,) = lab.call("GET", f"/campaigns/{campaign}/limits")["advice"]
    assert (advice["rmem"], advice["wmem"]) == ("4096 131072 131072", "4096 16384 131072")
    assert advice["bdp_bytes"] == RATE_BYTES_S / 1000


def test_a_kernel_that_does_not_count_is_null_and_never_zero(lab: Lab) -> None:
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    campaign = lab.launch(conditions=[{"name": "on"}])
    lab.drive(campaign, agents)
    flow = limits_of_first_run(lab, campaign)
    assert flow["shares"] is None
    assert flow["seconds"]["application"] == [None] * 5
    assert flow["advice"]["bdp_bytes"] == RATE_BYTES_S * RTT_S  # rate and RTT are there all the same
    (group,) = lab.call("GET", f"/campaigns/{campaign}/limits")["groups"]
    assert group["shares"]["application"] == {"mean": None, "low": None, "high": None, "n": 0, "sd": None}


def test_a_run_that_is_not_analysed_yet_has_no_flows(lab: Lab) -> None:
    lab.join("client")
    lab.join("server")
    lab.link()
    campaign = lab.launch()
    lab.tick()
    assert lab.call("GET", f"/runs/{lab.runs(campaign)[0]['id']}/limits")["flows"] == []
    assert lab.call("GET", f"/campaigns/{campaign}/limits") == {"campaign_id": campaign, "groups": [], "advice": []}
