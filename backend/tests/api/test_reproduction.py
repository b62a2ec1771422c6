"""The recorded example beside the paper that it reproduces, as the API, the CSV and the command say it."""

from __future__ import annotations

import csv
import io
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy import stats
from typer.testing import CliRunner

from downlink.actions.campaigns.archive_read import load_archive
from downlink.cli import campaign_results
from downlink.cli.published_table import ours_text, published_text
from downlink.main import app
from downlink.views.results.reproduction import Reproductions
from tests.fixtures.lab import Lab
from tests.fixtures.recorded import ARCHIVE, recorded_flows


@pytest.fixture
def campaign(lab: Lab) -> UUID:
    with lab.units() as unit:
        return load_archive(unit, ARCHIVE.read_bytes())[0]


def values(lab: Lab, campaign: UUID) -> dict[str, dict[str, Any]]:
    found = lab.call("GET", f"/campaigns/{campaign}/reproduction")
    assert [figure["figure"] for figure in found["figures"]] == ["Figure 6", "Abstract"]
    return {value["name"]: value for figure in found["figures"] for value in figure["values"]}


def test_an_object_s_time_at_the_receiver_stands_beside_the_published_one(lab: Lab, campaign: UUID) -> None:
    times = [flow["received_times_s"][4] for _, flow in recorded_flows("HyStart off")]
    found = values(lab, campaign)["5 MB, HyStart off"]
    factor = np.exp(stats.t.ppf(0.975, 2) * stats.sem(times) / np.mean(times))
    assert (found["least"], found["most"], found["tolerance"], found["n"]) == (8, 8, 0.8, 3)
    assert (found["estimate"], found["low"]) == pytest.approx((np.mean(times), np.mean(times) / factor))
    is_inside = found["low"] <= 8 <= found["high"]
    assert found["reading"] == ("inside" if is_inside else "near" if abs(found["estimate"] - 8) <= 0.8 else "outside")


def test_all_campaigns_that_reproduce_something_are_listed_and_no_others(lab: Lab, campaign: UUID) -> None:
    found = lab.call("GET", "/reproduction")
    TypeAdapter(Reproductions).validate_python(found)
    assert [item["campaign_id"] for item in found["items"]] == [str(campaign)]
    assert found["items"][0]["runs"] == 6


def test_the_table_has_a_line_for_each_value(lab: Lab, campaign: UUID) -> None:
    lines = list(csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/reproduction.csv"))))
    assert [line["name"] for line in lines] == list(values(lab, campaign))
    assert (lines[-1]["over_condition"], lines[-1]["unit"], lines[0]["paper"]) == ("HyStart on", "", "Peters 2021")


def test_the_command_prints_published_and_ours(lab: Lab, campaign: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    class Here:
        def get(self, path: str) -> Any:
            return lab.call("GET", path)

        def items(self, path: str) -> Any:
            return lab.call("GET", path)["items"]

    monkeypatch.setattr(campaign_results, "connect", Here)
    answer = CliRunner().invoke(app, ["campaigns", "reproduction", str(campaign)])
    assert answer.exit_code == 0, answer.output
    assert "Peters 2021, Figure 6" in answer.output
    assert all(word in answer.output for word in ("published", "ours", "n = 3"))


def test_a_campaign_that_has_not_run_shows_what_is_to_come(lab: Lab) -> None:
    spec = {
        "name": "To come",
        "links": ["geo"],
        "stop": {"seconds": 20},
        "timetable": {"cycles": 2},
        "conditions": [{"name": "on"}],
        "reproduces": [
            {
                "paper": "P",
                "figure": "F",
                "values": [{"name": "v", "metric": "rtt_ms", "condition": "on", "least": 600, "most": 700}],
            }
        ],
    }
    made = lab.call("POST", "/campaigns", {"campaign": spec})
    (figure,) = lab.call("GET", f"/campaigns/{made['id']}/reproduction")["figures"]
    (value,) = figure["values"]
    assert (value["reading"], value["n"], value["link"]) == ("not_run", 0, "geo")
    assert (published_text(value), ours_text(value)) == ("600 to 700 ms", "-")
