"""The day strip: every run over clock time with one of its values."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from downlink.actions.campaigns.archive_read import load_archive
from tests.fixtures.lab import Lab
from tests.fixtures.recorded import ARCHIVE

pytestmark = pytest.mark.sampled("faults", one_of=3)


@pytest.fixture
def campaign(lab: Lab) -> UUID:
    with lab.units() as unit:
        return load_archive(unit, ARCHIVE.read_bytes())[0]


def metrics(lab: Lab, campaign: UUID, phase: str, metric: str) -> dict[str, float]:
    """Run to value as metrics.csv has it."""
    lines = csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/metrics.csv")))
    return {line["run_id"]: float(line[metric]) for line in lines if line["phase"] == phase}


@pytest.mark.parametrize(("phase", "metric"), [("overall", "throughput_bps"), ("startup", "rtt_ms")])
def test_each_run_has_the_value_that_its_metrics_have(lab: Lab, campaign: UUID, phase: str, metric: str) -> None:
    day = lab.call("GET", f"/campaigns/{campaign}/day?phase={phase}&metric={metric}")
    found = {run["id"]: run["values"][0]["value"] for run in day["runs"]}
    assert found == pytest.approx(metrics(lab, campaign, phase, metric))
    assert (day["phase"], day["metric"], day["total"], len(found)) == (phase, metric, 6, 6)
    moments = [run["at"] for run in day["runs"]]
    assert day["from_at"] == min(moments)
    assert day["to_at"] >= max(run["ended_at"] for run in day["runs"])


def test_times_to_steady_state_are_the_runs_own(lab: Lab, campaign: UUID) -> None:
    day = lab.call("GET", f"/campaigns/{campaign}/day?metric=time_to_steady_s")
    lines = csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/runs.csv")))
    assert {run["id"] for run in day["runs"]} == {line["run_id"] for line in lines}
    assert all(value["value"] > 0 for run in day["runs"] for value in run["values"])


def test_a_missed_run_lies_where_it_was_due_and_says_why(lab: Lab) -> None:
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    campaign = lab.launch(limits={"bytes": 90_000_000})  # a run of 5 s may carry that once
    lab.drive(campaign, [client, server])
    listed = lab.runs(campaign)
    complete, missed = lab.call("GET", f"/campaigns/{campaign}/day")["runs"]
    assert (complete["state"], complete["at"], len(complete["values"])) == ("complete", listed[0]["started_at"], 1)
    assert (missed["state"], missed["at"], missed["values"]) == ("missed", listed[1]["due_at"], [])
    assert (missed["reason"], missed["detail"]) == ("over_budget", listed[1]["detail"])


def test_a_draft_has_an_empty_day(lab: Lab) -> None:
    draft = lab.call("POST", "/campaigns", {"source": DRAFT})["id"]
    day = lab.call("GET", f"/campaigns/{draft}/day")
    assert (day["runs"], day["from_at"], day["total"]) == ([], None, 0)


DRAFT = "name: d\nlinks: [geo]\nstop: {seconds: 5}\ntimetable: {cycles: 1}\nconditions: [{name: a}]\n"


@pytest.mark.parametrize(
    ("query", "code"), [("metric=beauty", "metric_unknown"), ("phase=lunch", "phase_unknown"), ("metric=jain_index", "metric_unknown")]
)  # fmt: skip
def test_what_no_run_keeps_is_refused_with_what_there_is(lab: Lab, campaign: UUID, query: str, code: str) -> None:
    problem = lab.call("GET", f"/campaigns/{campaign}/day?{query}", expect=422)
    assert problem["code"] == code
    assert "overall" in problem["message"] or "throughput_bps" in problem["message"]


def nights(lab: Lab, campaign: UUID | str) -> Any:
    [link] = lab.call("GET", f"/campaigns/{campaign}/day")["links"]
    return link


def test_nights_are_those_of_the_links_time_zone(lab: Lab, campaign: UUID) -> None:
    before = nights(lab, campaign)
    assert (before["time_zone"], before["nights"]) == (None, [])
    lab.join("client"), lab.join("server")
    started = datetime.fromisoformat(lab.call("GET", f"/campaigns/{campaign}/day")["from_at"])
    # A zone in which it is 01:00 when the campaign begins.
    east = (1 - started.hour + 12) % 24 - 12
    zone = "Etc/GMT" + (f"-{east}" if east > 0 else f"+{-east}")
    made = lab.link(before["link"], time_zone=zone)
    after = nights(lab, campaign)
    assert (after["time_zone"], after["nights"][0]["from_at"]) == (
        zone,
        lab.call("GET", f"/campaigns/{campaign}/day")["from_at"],
    )
    lab.call("PATCH", f"/links/{made['id']}", {"time_zone": None})
    assert nights(lab, campaign)["nights"] == []


def test_a_link_in_no_time_zone_is_refused(lab: Lab) -> None:
    lab.join("client"), lab.join("server")
    made = lab.link()
    problem = lab.call("PATCH", f"/links/{made['id']}", {"time_zone": "Mars/Olympus"}, expect=422)
    assert problem["code"] == "time_zone_unknown"
    assert lab.call("GET", "/links")["items"][0]["time_zone"] is None
    lab.call("PATCH", f"/links/{made['id']}", {"time_zone": "../x"}, expect=422)
