"""The recorded example in a server: its tables, and its numbers computed anew."""

from __future__ import annotations

import csv
import io
from uuid import UUID

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from downlink.actions.archive import load_archive
from downlink.analysis import ANALYSIS_VERSION
from downlink.api.schemas.reports import Report
from downlink.cli.table import COLUMNS
from downlink.main import app
from tests.fixtures.lab import Lab
from tests.fixtures.recorded import ARCHIVE

PERCENT = "retransmission_percent"


@pytest.fixture
def campaign(lab: Lab) -> UUID:
    with lab.units() as unit:
        return load_archive(unit, ARCHIVE.read_bytes())[0]


def retransmitted_percent(lab: Lab, campaign: UUID) -> list[float]:
    """Of each HyStart-off run as metrics.csv has it, by cycle."""
    lines = csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/metrics.csv")))
    own = [line for line in lines if (line["condition"], line["phase"]) == ("HyStart off", "overall")]
    return [float(line[PERCENT]) for line in sorted(own, key=lambda line: int(line["cycle"]))]


def test_every_table_has_the_share_of_sent_bytes(lab: Lab, campaign: UUID) -> None:
    runs = [3.29, 1.74, 3.23]
    assert retransmitted_percent(lab, campaign) == pytest.approx(runs, abs=0.005)
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    off = next(group for group in report["groups"] if group["condition"] == "HyStart off")
    assert off["metrics"]["overall"][PERCENT]["mean"] == pytest.approx(sum(runs) / 3, abs=0.005)
    assert COLUMNS["retransmitted, %"](off).startswith("2.75")


def test_numbers_of_an_older_analysis_are_computed_anew_by_command(
    lab: Lab, campaign: UUID, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lab.units() as unit:
        unit.session.execute(text("UPDATE metrics SET retransmission_percent = 50"))
        unit.session.execute(text("UPDATE runs SET analysis_version = '0'"))
        unit.session.execute(text("UPDATE reports SET analysis_version = '0'"))
    older = lab.call("GET", f"/campaigns/{campaign}/report")
    assert (older["is_current"], older["is_outdated"], older["analysis_version"]) == (False, True, "0")
    Report.model_validate(older)
    monkeypatch.setenv("DOWNLINK_DATABASE_URL", database_url)
    answer = CliRunner().invoke(app, ["analyse", str(campaign)])
    assert (answer.exit_code, "6 runs are analysed" in answer.output) == (0, True), answer.output
    assert retransmitted_percent(lab, campaign) == pytest.approx([3.29, 1.74, 3.23], abs=0.005)
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    assert (report["is_current"], report["analysis_version"]) == (True, ANALYSIS_VERSION)
    assert {run["state"] for run in lab.runs(str(campaign))} == {"complete"}
