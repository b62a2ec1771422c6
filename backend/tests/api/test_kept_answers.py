"""Answers over a campaign are stored with its report, and sent as long as nothing has ended since."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from downlink.actions.campaigns.archive_read import load_archive
from downlink.analysis.report import Report
from downlink.storage.tables import Campaign
from downlink.storage.unit import Unit
from downlink.views.body_cache import Remade
from downlink.views.results import material, reports
from tests.fixtures.lab import Lab
from tests.fixtures.recorded import ARCHIVE

MARK = "UPDATE report_answers SET body = convert_to(:body, 'UTF8')"


@pytest.mark.parametrize("name", ["statistics", "exits", "limits", "delays", "rates"])
def test_the_stored_answer_is_what_would_be_computed(lab: Lab, name: str) -> None:
    with lab.units() as unit:
        campaign, _ = load_archive(unit, ARCHIVE.read_bytes())
    stored = lab.call("GET", f"/campaigns/{campaign}/{name}")
    with lab.units() as unit:
        unit.session.execute(text("DELETE FROM report_answers"))
    assert lab.call("GET", f"/campaigns/{campaign}/{name}") == stored


def test_it_is_sent_until_a_run_ends_or_the_analysis_is_another(lab: Lab) -> None:
    with lab.units() as unit:
        campaign, _ = load_archive(unit, ARCHIVE.read_bytes())
    with lab.units() as unit:
        unit.session.execute(text(MARK), {"body": '{"stored": true}'})
    paths = {name: f"/campaigns/{campaign}/{name}" for name in ("statistics", "exits", "limits")}
    assert [lab.call("GET", path) for path in paths.values()] == [{"stored": True}] * 3
    with lab.units() as unit:
        unit.session.execute(text("UPDATE runs SET state_at = now() WHERE cycle = 1"))
    assert "groups" in lab.call("GET", paths["exits"])
    assert "groups" in lab.call("GET", paths["limits"])
    assert lab.call("GET", paths["statistics"]) == {"stored": True}  # the report says the same as before
    with lab.units() as unit:
        unit.session.execute(text("UPDATE reports SET analysis_version = '0'"))
    assert "comparisons" in lab.call("GET", paths["statistics"])


def test_what_an_older_analysis_stored_is_made_anew_once(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    with lab.units() as unit:
        campaign, _ = load_archive(unit, ARCHIVE.read_bytes())
        unit.session.execute(text("UPDATE reports SET analysis_version = '0'"))
    made: list[str] = []

    def build(unit: Unit, of: Campaign) -> Report:
        made.append(of.name)
        return material.build(unit, of)

    monkeypatch.setattr(reports, "build", build)
    monkeypatch.setattr(reports, "_REMADE", Remade())
    path = f"/campaigns/{campaign}/report"
    first = lab.call("GET", path)
    assert (first["analysis_version"], first["is_outdated"]) == ("0", True)
    assert lab.call("GET", path) == first
    assert len(made) == 1
    with lab.units() as unit:
        unit.session.execute(text("UPDATE runs SET state_at = now() WHERE cycle = 1"))
    lab.call("GET", path)
    assert len(made) == 2
