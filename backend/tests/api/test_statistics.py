"""Statistics over the runs of scripted agents."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from pydantic import TypeAdapter

from downlink.views.results.reports import CampaignStatistics
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import RttOfRuns

pytestmark = pytest.mark.sampled("faults")


def table(lab: Lab, campaign: str, name: str) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/{name}.csv"))))


def test_statistics_pair_the_conditions_of_a_campaign(lab: Lab) -> None:
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    campaign = lab.launch(timetable={"cycles": 2})
    assert lab.call("GET", f"/campaigns/{campaign}/statistics")["comparisons"] == []
    lab.drive(campaign, [client, server])
    shown = lab.call("GET", f"/campaigns/{campaign}/statistics")
    assert TypeAdapter(CampaignStatistics).validate_python(shown)
    rtt = next(each for each in shown["comparisons"] if (each["phase"], each["metric"]) == ("steady", "rtt_ms"))
    assert (rtt["link"], rtt["condition"], rtt["baseline"]) == ("geo", "off", "on")
    assert rtt["difference"] == {"mean": 0, "low": 0, "high": 0, "n": 2, "sd": 0}
    assert (rtt["detectable_difference"], rtt["cycles_needed"]) == (0, None)
    assert rtt["reading"] == "exploratory"
    assert shown["primary_metrics"] == ["startup.throughput_bps", "steady.throughput_bps"]
    start_up = next(
        each for each in shown["comparisons"] if (each["phase"], each["metric"]) == ("startup", "throughput_bps")
    )
    assert (start_up["reading"], start_up["cycles_for_test"], start_up["level_p"]) == ("too_few", 6, None)
    assert shown["outliers"] == []


def test_tables_hold_what_is_shown(lab: Lab) -> None:
    """On and off alternate: 600 to 602 ms with one value of 900, against 550."""
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    server.draws = RttOfRuns([600, 550, 601, 551, 602, 550, 900, 551, 601, 550])
    campaign = lab.launch(
        timetable={"cycles": 5, "order": "interleaved"}, stop={"seconds": 2}, phases={"startup_s": 1, "steady_s": 1}
    )
    lab.drive(campaign, [client, server], rounds=500)
    shown = lab.call("GET", f"/campaigns/{campaign}/statistics")
    lines = table(lab, campaign, "statistics")
    assert len(lines) == len(shown["comparisons"]) > 20
    steady = ("steady", "rtt_ms")
    line = next(each for each in lines if (each["phase"], each["metric"]) == steady)
    own = next(each for each in shown["comparisons"] if (each["phase"], each["metric"]) == steady)
    assert line["difference_mean"] == str(own["difference"]["mean"])
    assert float(line["detectable_difference"]) == own["detectable_difference"]
    report = lab.call("GET", f"/campaigns/{campaign}/report")["comparisons"]
    told = next(each for each in report if (each["phase"], each["metric"]) == steady)
    assert own == told, "one reading for every page"
    assert any(each["metric"] == "time_to_steady_s" for each in lines)
    (flagged,) = [each for each in table(lab, campaign, "outliers") if (each["phase"], each["metric"]) == steady]
    shown_as = (flagged["condition"], flagged["cycle"], flagged["value"], flagged["median"])
    assert shown_as == ("on", "4", "900.0", "601.0")


def test_a_declared_metric_is_tested_and_the_others_are_not(lab: Lab) -> None:
    """Six cycles, each with a longer RTT under the first condition."""
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    server.draws = RttOfRuns([600, 550, 601, 551, 602, 550, 603, 551, 601, 550, 604, 549])
    declared = ["overall.rtt_ms", "steady.throughput_bps"]
    campaign = lab.launch(
        timetable={"cycles": 6, "order": "interleaved"},
        stop={"seconds": 2},
        phases={"startup_s": 1, "steady_s": 1},
        primary_metrics=declared,
    )
    lab.drive(campaign, [client, server], rounds=600)
    shown = lab.call("GET", f"/campaigns/{campaign}/statistics")
    assert shown["primary_metrics"] == declared
    primary = [each for each in shown["comparisons"] if each["is_primary"]]
    assert [(each["phase"], each["metric"], each["reading"]) for each in primary] == [
        ("steady", "throughput_bps", "no_difference"),
        ("overall", "rtt_ms", "lower"),
    ]
    assert primary[1]["level_p"] == 2 / 2**6
    assert {each["level_p"] for each in shown["comparisons"] if not each["is_primary"]} == {None}
    line = next(
        each for each in table(lab, campaign, "statistics") if each["metric"] == "rtt_ms" and each["phase"] == "overall"
    )
    assert (line["reading"], line["level_p"], line["family"]) == ("lower", "0.03125", "1")


def test_fairness_is_a_table_for_conditions_with_several_flows(lab: Lab) -> None:
    agents = [lab.join("client"), lab.join("server"), lab.join("second")]
    lab.link(senders=("server", "second"))
    flows = [{"cc": "cubic"}, {"cc": "bbr", "sender": 2}]
    campaign = lab.launch(conditions=[{"name": "two", "flows": flows}])
    lab.drive(campaign, agents)
    (line,) = [each for each in table(lab, campaign, "fairness") if each["phase"] == "steady"]
    (told,) = [
        each for each in lab.call("GET", f"/campaigns/{campaign}/report")["fairness"] if each["phase"] == "steady"
    ]
    assert (line["flows"], line["jain_mean"], line["jain_n"]) == ("2", str(told["jain"]["mean"]), "1")
    assert float(line["difference_mean_bps"]) == told["difference_bps"]["mean"]
