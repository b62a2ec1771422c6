"""Any condition as the baseline, and one quantity run by run: answered of what is kept with the report."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from pydantic import TypeAdapter
from sqlalchemy import text

from downlink.actions.campaigns.archive_read import load_archive
from downlink.views.results.reports import CampaignStatistics
from downlink.views.results.values import CampaignValues
from tests.api.test_recorded_answers import is_same, leaves
from tests.fixtures.lab import Lab
from tests.fixtures.recorded import ARCHIVE


@pytest.fixture
def campaign(lab: Lab) -> str:
    with lab.units() as unit:
        identity, _ = load_archive(unit, ARCHIVE.read_bytes())
    return str(identity)


def names(lab: Lab, campaign: str) -> list[str]:
    return [each["name"] for each in lab.call("GET", f"/campaigns/{campaign}")["spec"]["conditions"]]


def at(comparisons: list[dict[str, Any]], phase: str, metric: str) -> dict[str, Any]:
    (found,) = [each for each in comparisons if (each["phase"], each["metric"]) == (phase, metric)]
    return found


def test_the_campaigns_own_baseline_gives_what_is_stored(lab: Lab, campaign: str) -> None:
    first, _ = names(lab, campaign)
    asked = lab.call("GET", f"/campaigns/{campaign}/statistics?baseline={first}")
    stored = dict(leaves(lab.call("GET", f"/campaigns/{campaign}/statistics")))
    now = dict(leaves(asked))
    # What is stored came with the archive: another processor's last digits.
    assert {place for place in stored.keys() | now.keys() if not is_same(stored.get(place), now.get(place))} == set()


def test_the_other_way_round_differences_turn_and_ratios_invert(lab: Lab, campaign: str) -> None:
    first, second = names(lab, campaign)
    stored = lab.call("GET", f"/campaigns/{campaign}/statistics")
    asked = lab.call("GET", f"/campaigns/{campaign}/statistics?baseline={second}&phase=steady")
    assert TypeAdapter(CampaignStatistics).validate_python(asked)
    assert {each["baseline"] for each in asked["comparisons"]} == {second}
    assert {each["phase"] for each in asked["comparisons"] if not each["is_primary"]} == {"steady"}
    one, other = (at(each["comparisons"], "steady", "throughput_bps") for each in (stored, asked))
    assert (other["condition"], other["baseline"]) == (first, second)
    assert other["difference"]["mean"] == -one["difference"]["mean"]
    assert (other["difference"]["low"], other["difference"]["high"]) == (
        -one["difference"]["high"],
        -one["difference"]["low"],
    )
    assert other["paired_ratio"]["mean"] == pytest.approx(1 / one["paired_ratio"]["mean"])
    assert (other["family"], other["reading"]) == (one["family"], one["reading"]), "two conditions are one pair"
    assert asked["outliers"] == stored["outliers"]


def test_the_table_takes_a_baseline_as_well(lab: Lab, campaign: str) -> None:
    _, second = names(lab, campaign)
    path = f"/campaigns/{campaign}/statistics.csv?baseline={second}"
    lines = list(csv.DictReader(io.StringIO(lab.call("GET", path))))
    shown = lab.call("GET", f"/campaigns/{campaign}/statistics?baseline={second}")["comparisons"]
    assert [(each["condition"], each["baseline"], each["metric"]) for each in lines] == [
        (each["condition"], each["baseline"], each["metric"]) for each in shown
    ]
    refused = lab.call("GET", f"/campaigns/{campaign}/runs.csv?baseline={second}", expect=422)
    assert refused["code"] == "baseline_not_here"


def test_what_is_no_condition_is_refused_with_those_that_are(lab: Lab, campaign: str) -> None:
    for path in ("statistics", "statistics.csv"):
        found = lab.call("GET", f"/campaigns/{campaign}/{path}?baseline=moon", expect=422)
        assert found["code"] == "baseline_unknown"
        assert all(name in found["message"] for name in names(lab, campaign))


def test_a_phase_that_the_campaign_does_not_have_is_refused(lab: Lab, campaign: str) -> None:
    first = names(lab, campaign)[0]
    for asked in (f"baseline={first}&phase=z", "phase=z"):
        refused = lab.call("GET", f"/campaigns/{campaign}/statistics?{asked}", expect=422)
        assert (refused["code"], "startup, steady, overall" in refused["message"]) == ("phase_unknown", True)


def test_a_phase_is_taken_without_a_baseline_too(lab: Lab, campaign: str) -> None:
    first, _ = names(lab, campaign)
    asked = lab.call("GET", f"/campaigns/{campaign}/statistics?phase=steady")
    assert TypeAdapter(CampaignStatistics).validate_python(asked)
    assert {each["phase"] for each in asked["comparisons"] if not each["is_primary"]} == {"steady"}
    against = lab.call("GET", f"/campaigns/{campaign}/statistics?phase=steady&baseline={first}")
    here, there = dict(leaves(asked)), dict(leaves(against))
    assert {place for place in here.keys() | there.keys() if not is_same(here.get(place), there.get(place))} == set()


def test_values_are_those_that_means_are_made_of(lab: Lab, campaign: str) -> None:
    shown = lab.call("GET", f"/campaigns/{campaign}/values?phase=steady&metric=throughput_bps")
    assert TypeAdapter(CampaignValues).validate_python(shown)
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    assert [(side["condition"], side["run_ids"]) for side in shown["sides"]] == [
        (group["condition"], group["run_ids"]) for group in report["groups"]
    ]
    for side, group in zip(shown["sides"], report["groups"], strict=True):
        mean = group["metrics"]["steady"]["throughput_bps"]["mean"]
        assert sum(side["values"]) / len(side["values"]) == pytest.approx(mean)
    assert {"phase": "overall", "metric": "rtt_ms"} in shown["offered"]
    refused = lab.call("GET", f"/campaigns/{campaign}/values?metric=happiness", expect=404)
    assert refused["code"] == "quantity_not_found"
    assert refused["message"].startswith("The runs have no happiness in the phase startup; they have: throughput_bps, ")
    refused = lab.call("GET", f"/campaigns/{campaign}/values?phase=z", expect=404)
    assert refused["message"] == "The runs have no phase z; they have: startup, steady, overall."


def test_times_say_which_of_them_are_only_times_watched(lab: Lab, campaign: str) -> None:
    shown = lab.call("GET", f"/campaigns/{campaign}/values?phase=overall&metric=time_to_level_s")
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    for side, group in zip(shown["sides"], report["groups"], strict=True):
        assert sum(side["not_within"]) == group["time_to_level_s"]["not_within"]
    assert any(any(side["not_within"]) for side in shown["sides"])


def test_a_report_from_before_has_its_values_made_when_they_are_asked_for(lab: Lab, campaign: str) -> None:
    path = f"/campaigns/{campaign}/values"
    stored = lab.call("GET", path)
    with lab.units() as unit:
        unit.session.execute(text("DELETE FROM report_answers WHERE name = 'values'"))
    assert lab.call("GET", path) == stored
