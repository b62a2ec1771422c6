"""Conditions of two campaigns beside each other: what is shown is what their runs gave, and what else they have apart."""

from __future__ import annotations

import csv
import io
from typing import Any
from urllib.parse import urlencode

import pytest
import scipy
from pydantic import TypeAdapter

from downlink.actions.campaigns.archive_read import load_archive
from downlink.domain.results import comparison
from downlink.views.results.comparison import CampaignsCompared
from tests.fixtures.lab import Lab
from tests.fixtures.recorded import ARCHIVE
from tests.fixtures.scripted_agent import RttOfRuns

pytestmark = pytest.mark.sampled("faults")

SHORT: dict[str, Any] = {"stop": {"seconds": 2}, "phases": {"startup_s": 1, "steady_s": 1}}


def asked(lab: Lab, *sides: str, expect: int | None = None, path: str = "/comparison", **options: str) -> Any:
    query = urlencode([*(("side", side) for side in sides), *options.items()])
    return lab.call("GET", f"{path}?{query}", expect=expect)


def at(found: dict[str, Any], metric: str) -> dict[str, Any]:
    (one,) = [each for each in found["compared"] if each["metric"] == metric]
    return dict(one)


def test_two_campaigns_on_two_links_differ_by_what_their_runs_gave(lab: Lab) -> None:
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    lab.link("leo/a", nominal_rate_bps=200_000_000, base_rtt_ms=40)
    geo_ms, leo_ms = [600, 602, 604], [50, 58]
    agents[1].draws = RttOfRuns([*geo_ms, *leo_ms])
    geo = lab.launch(name="geo", conditions=[{"name": "on"}], timetable={"cycles": 3}, **SHORT)
    lab.drive(geo, agents, rounds=500)
    other = [{"name": "off", "sender": {"tcp_cubic.hystart": "0"}}]
    leo = lab.launch(name="leo", links=["leo/a"], conditions=other, timetable={"cycles": 2}, **SHORT)
    lab.drive(leo, agents, rounds=500)
    sides = (f"{geo}/1/geo/on", f"{leo}/1/leo/a/off")
    found = asked(lab, *sides, baseline=sides[1], phase="steady", metric="rtt_ms")
    assert TypeAdapter(CampaignsCompared).validate_python(found)
    assert [(each["campaign"], each["link"], each["condition"], each["values"]) for each in found["sides"]] == [
        ("geo", "geo", "on", geo_ms),
        ("leo", "leo/a", "off", leo_ms),
    ]
    theirs = scipy.stats.ttest_ind(geo_ms, leo_ms, equal_var=False)
    interval = theirs.confidence_interval(0.95)
    difference, itself = at(found, "rtt_ms")["differences"]
    assert itself is None, "the baseline"
    assert difference == pytest.approx(
        {"mean": 548, "low": interval.low, "high": interval.high, "degrees": theirs.df, "n": 3, "n_base": 2}
    )
    ratio = at(found, "rtt_ms")["ratios"][0]["mean"]
    assert ratio == pytest.approx(scipy.stats.gmean(geo_ms) / scipy.stats.gmean(leo_ms))
    unlike = {each["name"]: each["values"] for each in found["unlike"]}
    assert unlike["Nominal rate"] == ["144 Mb/s", "200 Mb/s"]
    assert unlike["Base RTT"] == ["600 ms", "40 ms"]
    assert unlike["Sender: tcp_cubic.hystart"] == ["not set", "0"]
    assert not {"Analysis version", "Sender: kernel", "Stops after", "Start-up"} & set(unlike), (
        "they have these in common"
    )
    lines = list(csv.DictReader(io.StringIO(asked(lab, *sides, path="/comparison.csv", baseline=sides[1]))))
    assert {each["phase"] for each in lines} == {"startup", "steady", "overall"}
    line = next(
        each for each in lines if (each["campaign"], each["phase"], each["metric"]) == ("geo", "steady", "rtt_ms")
    )
    assert (line["difference_mean"], line["baseline_campaign"], line["n"]) == ("548.0", "leo", "3")
    assert float(line["difference_low"]) == difference["low"]
    assert float(line["ratio_mean"]) == ratio


@pytest.fixture
def campaign(lab: Lab) -> str:
    with lab.units() as unit:
        identity, _ = load_archive(unit, ARCHIVE.read_bytes())
    return str(identity)


def sides_of(lab: Lab, campaign: str) -> list[str]:
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    return [f"{campaign}/{group['flow']}/{group['link']}/{group['condition']}" for group in report["groups"]]


def test_within_a_campaign_means_are_the_reports_and_the_interval_is_not_the_paired_one(
    lab: Lab, campaign: str
) -> None:
    first, second = sides_of(lab, campaign)
    found = asked(lab, first, second, first, phase="steady")
    assert [each["side"] for each in found["sides"]] == [first, second], "each once"
    assert found["baseline"] == first
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    means = [group["metrics"]["steady"]["throughput_bps"] for group in report["groups"]]
    assert at(found, "throughput_bps")["means"] == means
    (paired,) = [
        each for each in report["comparisons"] if (each["phase"], each["metric"]) == ("steady", "throughput_bps")
    ]
    own = at(found, "throughput_bps")["differences"][1]
    assert own["mean"] == pytest.approx(paired["difference"]["mean"])
    assert own["low"] != pytest.approx(paired["difference"]["low"])
    assert [each["name"] for each in found["unlike"]] == ["Sender: tcp_cubic.hystart"]
    of_times = asked(lab, first, second, phase="overall", metric="time_to_level_s")
    watched = [
        v
        for each in of_times["sides"]
        for v, is_open in zip(each["values"], each["not_within"], strict=True)
        if is_open
    ]
    assert at(of_times, "time_to_level_s")["within_s"] == min(watched)


def test_what_cannot_be_compared_is_refused_by_name(lab: Lab, campaign: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = sides_of(lab, campaign)
    nowhere = "00000000-0000-0000-0000-000000000000"
    assert asked(lab, expect=422)["code"] == "request_invalid"
    assert asked(lab, "moon", expect=422)["code"] == "side_invalid"
    assert asked(lab, f"{nowhere}/1/geo/on", expect=404)["code"] == "campaign_not_found"
    for wrong in (first.replace("/1/", "/2/"), first.replace("/1/", "/0/"), f"{first} at all"):
        assert asked(lab, first, wrong, expect=404)["code"] == "side_not_found"
    assert asked(lab, first, baseline=second, expect=422)["code"] == "baseline_unknown"
    assert asked(lab, *(f"{first}{n}" for n in range(9)), expect=422)["code"] == "request_invalid"
    for path in ("/comparison", "/comparison.csv"):
        refused = asked(lab, first, phase="z", path=path, expect=422)
        assert (refused["code"], "startup, steady, overall" in refused["message"]) == ("phase_unknown", True)
    assert asked(lab, first, metric="z", expect=422)["code"] == "metric_unknown"
    monkeypatch.setattr(comparison, "MAX_RUNS", 3)
    for path in ("/comparison", "/comparison.csv"):
        refused = asked(lab, first, second, path=path, expect=422)
        assert refused["code"] == "comparison_too_large"
        assert "6 complete runs" in refused["message"]


def test_a_name_that_fits_two_conditions_is_refused_with_what_to_do(lab: Lab) -> None:
    lab.join("client"), lab.join("server")
    lab.link("sat"), lab.link("sat/x")
    conditions = [{"name": "x/y"}, {"name": "y"}]
    planned = lab.launch(links=["sat", "sat/x"], conditions=conditions)
    for path in ("/comparison", "/comparison.csv"):
        refused = asked(lab, f"{planned}/1/sat/x/y", path=path, expect=422)
        assert refused["code"] == "side_ambiguous"
        assert "condition 'x/y' on link 'sat' and condition 'y' on link 'sat/x'. Rename" in refused["message"]
    [found] = asked(lab, f"{planned}/1/sat/x/x/y")["sides"]
    assert (found["link"], found["condition"]) == ("sat/x", "x/y"), "the other names fit once"


def test_a_condition_without_a_complete_run_is_shown_without_numbers(lab: Lab, campaign: str) -> None:
    lab.join("client"), lab.join("server")
    lab.link()
    planned = lab.launch(conditions=[{"name": "on"}])
    first, _ = sides_of(lab, campaign)
    found = asked(lab, first, f"{planned}/1/geo/on")
    assert [each["runs"] for each in found["sides"]] == [3, 0]
    assert at(found, "throughput_bps")["differences"][1]["mean"] is None
    assert found["sides"][1]["first_at"] is None
