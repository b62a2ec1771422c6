"""Exits from the traces of scripted agents to the API and CSV."""

from __future__ import annotations

import csv
import io
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import TypeAdapter

from downlink.actions.results.reanalysis import analyse_again
from downlink.analysis.exits.flow import flow_trace
from downlink.analysis.exits.panel import judge_all
from downlink.codec.parquet import parquet_to_columns
from downlink.views.results.exits import CampaignExits, RunExits
from tests.fixtures.lab import API, Lab
from tests.fixtures.scripted_agent import RATE_BYTES_S, draw_slow_start, draw_steady

pytestmark = pytest.mark.sampled("faults")

LOSS_US = 7_600_000
RATE_BPS = 8 * RATE_BYTES_S


@pytest.fixture
def campaign(lab: Lab) -> str:
    """Two cycles of a slow start over a GEO link that ends with a loss."""
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    server.draws = draw_slow_start
    launched = lab.launch(timetable={"cycles": 2}, stop={"seconds": 9}, conditions=[{"name": "on"}])
    lab.drive(launched, [client, server])
    return launched


def one_run(lab: Lab, campaign: str, **query: Any) -> tuple[str, dict[str, Any]]:
    run = lab.runs(campaign)[0]["id"]
    shown = lab.call("GET", f"/runs/{run}/exits", params=query)
    assert TypeAdapter(RunExits).validate_python(shown)
    return run, shown["flows"][0]


def test_a_run_shows_what_the_detectors_say_of_its_trace(lab: Lab, campaign: str) -> None:
    run, flow = one_run(lab, campaign)
    headers = {"Authorization": f"Bearer {lab.token}"}
    parquet = lab.client.get(f"{API}/runs/{run}/traces/1/sender.parquet", headers=headers).content
    expected = list(judge_all(flow_trace(parquet_to_columns(parquet), "cubic")))
    assert [(v["detector"], v["version"], v["exit_us"], v["reason"]) for v in flow["verdicts"]] == [
        (v.detector, v.version, v.exit_us, v.reason) for v in expected
    ]
    by_name = {v["detector"]: v for v in reversed(flow["verdicts"])}  # of several versions the first
    assert by_name["first_loss"]["exit_us"] == LOSS_US
    assert (by_name["search"]["version"], by_name["search"]["timing"]) == ("1.0", "good")
    assert by_name["best"]["is_decidable"] is False
    times = flow["times"]
    # The link is full from 6.45 s on, an RTT after what filled it was sent.
    assert 6_450_000 < times["cg_us"] < times["ex_us"] < times["dp_us"] == LOSS_US
    assert times["hr_us"] == LOSS_US - times["ex_us"]
    assert times["is_success"] is True


@pytest.mark.parametrize("is_emulated", [True, False])
def test_the_capacity_point_names_the_rate_that_it_was_judged_by(lab: Lab, is_emulated: bool) -> None:
    """The link's rate for 600 ms is what must be in flight."""
    flow = judged_over(lab, {"nominal_rate_bps": RATE_BPS, "is_emulated": is_emulated})
    capacity = flow["capacity"]
    assert capacity["capacity_basis"] == ("emulated_rate" if is_emulated else "nominal_rate")
    assert (capacity["capacity_rate_bps"], capacity["least_rtt_us"]) == (RATE_BPS, 600_000)
    in_flight = np.array(flow["window"]["new_sent_bytes"]) - np.array(flow["window"]["acked_bytes"])
    first = int(np.flatnonzero(in_flight >= RATE_BPS / 8 * 0.6)[0])
    step_us = flow["window"]["time_us"][1] - flow["window"]["time_us"][0]
    assert abs(flow["window"]["time_us"][first] - capacity["capacity_us"]) <= step_us
    assert (flow["is_current"], flow["origin_us"]) == (True, flow["first_byte_us"])


def test_a_run_is_judged_by_the_link_that_it_ran_over_whatever_became_of_it(lab: Lab) -> None:
    """A link is edited between campaigns, and is not there at all where an archive is loaded."""
    judged_over(lab, {"nominal_rate_bps": RATE_BPS, "is_emulated": True})
    (link,) = lab.call("GET", "/links")["items"]
    lab.call("PATCH", f"/links/{link['id']}", {"is_emulated": False})
    (campaign,) = lab.call("GET", "/campaigns")["items"]
    with lab.units() as unit:
        analyse_again(unit, UUID(campaign["id"]), lab.now())
    assert one_run(lab, campaign["id"])[1]["capacity"]["capacity_basis"] == "emulated_rate"


def test_flows_that_share_a_link_are_judged_by_their_plateaus(lab: Lab) -> None:
    two = [{"name": "two", "flows": [{"cc": "cubic"}, {"cc": "cubic"}]}]
    flow = judged_over(lab, {"nominal_rate_bps": RATE_BPS}, conditions=two)
    assert flow["capacity"]["capacity_basis"] == "plateau"


def test_a_nominal_rate_that_never_was_in_flight_gives_way_to_the_plateau(lab: Lab) -> None:
    flow = judged_over(lab, {"nominal_rate_bps": 1_000 * RATE_BPS})
    assert flow["capacity"]["capacity_basis"] == "plateau"
    assert flow["capacity"]["capacity_rate_bps"] == pytest.approx(RATE_BPS, rel=0.05)


def judged_over(lab: Lab, link: dict[str, Any], **campaign: Any) -> dict[str, Any]:
    """The first flow's exits over a slow start that a link of RATE_BPS ends."""
    client, server = lab.join("client"), lab.join("server")
    lab.link(**link)
    server.draws = draw_slow_start
    launched = lab.launch(timetable={"cycles": 1}, stop={"seconds": 9}, **{"conditions": [{"name": "on"}], **campaign})
    lab.drive(launched, [client, server])
    return one_run(lab, launched)[1]


def test_curves_cross_the_threshold_at_the_exit(lab: Lab, campaign: str) -> None:
    _, flow = one_run(lab, campaign)
    curves = flow["curves"]
    assert curves["bin_us"] == 210_000
    assert curves["window_us"] == 2_100_000
    above = [
        at
        for at, norm in zip(curves["time_us"], curves["norm_ratio"], strict=True)
        if norm is not None and norm > curves["threshold_ratio"]
    ]
    assert above[0] == flow["times"]["ex_us"]
    window = flow["window"]
    assert window["time_us"][-1] == 9_000_000
    assert set(window["ssthresh_segments"]) == {None}  # never set
    assert window["lost_segments"] is None  # the trace has no such field
    assert flow["packet_pairs"] is None  # rows are polls


def test_curves_can_be_asked_for_closely(lab: Lab, campaign: str) -> None:
    _, flow = one_run(lab, campaign, from_s=6, to_s=8, points=50)
    at_us = flow["window"]["time_us"]
    assert (at_us[0], at_us[-1], len(at_us)) == (6_000_000, 8_000_000, 50)
    assert all(6_000_000 <= each <= 8_000_000 for each in flow["curves"]["time_us"])


def test_curves_to_before_their_beginning_are_refused(lab: Lab, campaign: str) -> None:
    path = f"/runs/{lab.runs(campaign)[0]['id']}/exits"
    assert lab.call("GET", f"{path}?from_s=5&to_s=1", expect=422)["code"] == "span_invalid"
    assert lab.call("GET", f"{path}?from_s=5&to_s=5")


def test_a_campaign_sums_up_its_complete_runs(lab: Lab, campaign: str) -> None:
    shown = lab.call("GET", f"/campaigns/{campaign}/exits")
    assert TypeAdapter(CampaignExits).validate_python(shown)
    (group,) = shown["groups"]
    assert (group["link"], group["condition"], group["flow"], group["runs"]) == ("geo", "on", 1, 2)
    assert group["table"]["success_percent"]["value"] == 100
    assert group["table"]["dp_s"] == {"value": 7.6, "low": 7.6, "high": 7.6, "n": 2}
    search = next(each for each in group["detectors"] if (each["detector"], each["version"]) == ("search", "1.0"))
    assert (search["decidable"], len(search["exits_s"])) == (2, 2)
    assert search["shares"]["good"]["value"] == 1
    masks = [each["detect"] for each in group["detectors"] if each["detector"].startswith("hystart") and each["detect"]]
    assert masks == [3, 1, 2] * 3
    hystart = next(each for each in group["detectors"] if each["detect"] == 3)
    assert (hystart["decidable"], hystart["undecidable"], hystart["exits_s"], hystart["shares"]) == (0, 2, [], None)


def test_every_verdict_is_a_line_of_the_table(lab: Lab, campaign: str) -> None:
    run, flow = one_run(lab, campaign)
    lines = list(csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/exits.csv"))))
    own = [line for line in lines if line["run_id"] == run]
    assert len(lines) == 2 * len(own) == 2 * len(flow["verdicts"])
    assert [line["exit_us"] for line in own] == [
        "" if v["exit_us"] is None else str(v["exit_us"]) for v in flow["verdicts"]
    ]
    assert {line["dp_us"] for line in own} == {str(LOSS_US)}


def test_a_trace_that_cannot_be_judged_says_why_and_the_run_is_complete(lab: Lab) -> None:
    def draw(t_us: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        return {name: column for name, column in draw_steady(t_us).items() if name != "snd_mss_bytes"}

    client, server = lab.join("client"), lab.join("server")
    lab.link()
    server.draws = draw
    campaign = lab.launch(conditions=[{"name": "on"}])
    (run,) = lab.drive(campaign, [client, server])
    assert run["state"] == "complete"
    _, flow = one_run(lab, campaign)
    assert "snd_mss_bytes" in flow["refusal"]
    assert (flow["verdicts"], flow["times"], flow["curves"]) == ([], None, None)
    assert lab.call("GET", f"/campaigns/{campaign}/exits")["groups"][0]["table"] is None
    (line,) = csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/exits.csv")))
    assert "snd_mss_bytes" in line["verdict"]


def test_a_run_that_is_not_analysed_yet_has_no_flows(lab: Lab) -> None:
    lab.join("client")
    lab.join("server")
    lab.link()
    campaign = lab.launch()
    lab.tick()
    run = lab.runs(campaign)[0]["id"]
    assert lab.call("GET", f"/runs/{run}/exits")["flows"] == []
    assert lab.call("GET", f"/campaigns/{campaign}/exits")["groups"] == []
