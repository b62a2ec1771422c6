"""Numbers recomputed by order: every run once, by the workers, with progress, and whatever fails holds up no other run."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select, text

from downlink.actions.campaigns.archive_read import load_archive
from downlink.analysis import ANALYSIS_VERSION
from downlink.cli.campaign_results import reanalyse
from downlink.cli.client import Access, Client
from downlink.domain.errors import DownlinkError
from downlink.storage.tables import Event
from tests.fixtures.lab import API, Lab
from tests.fixtures.recorded import ARCHIVE

pytestmark = pytest.mark.sampled("faults", one_of=3)

TABLES = ("series", "metrics", "exits", "limits", "summary", "statistics")


@pytest.fixture
def campaign(lab: Lab) -> UUID:
    """Of six runs, whose numbers an older analysis made."""
    with lab.units() as unit:
        identity = load_archive(unit, ARCHIVE.read_bytes())[0]
    with lab.units() as unit:
        unit.session.execute(text("UPDATE metrics SET rtt_ms = 1"))
        unit.session.execute(text("UPDATE runs SET analysis_version = '0'"))
    return identity


def path(campaign: UUID) -> str:
    return f"/campaigns/{campaign}/reanalysis"


def everything(lab: Lab, campaign: UUID) -> dict[str, Any]:
    """Without the column that says by which version."""
    return {table: lab.call("GET", f"/campaigns/{campaign}/{table}.csv") for table in TABLES}


def test_every_run_is_judged_anew_by_order(lab: Lab, campaign: UUID) -> None:
    wrong = everything(lab, campaign)
    assert lab.call("GET", path(campaign))["outdated"] == 6
    asked = lab.call("POST", path(campaign), expect=202)
    assert asked == {"campaign_id": str(campaign), "analysis_version": ANALYSIS_VERSION, "state": "running",
                     "runs": 6, "done": 0, "outdated": 6}  # fmt: skip
    while lab.work():
        pass
    ended = {**asked, "state": "idle", "done": 6, "outdated": 0}
    assert lab.call("GET", path(campaign)) == ended
    found = everything(lab, campaign)
    assert (found["series"], found["exits"]) == (wrong["series"], wrong["exits"])
    assert found["metrics"] != wrong["metrics"]
    assert {run["state"] for run in lab.runs(str(campaign))} == {"complete"}
    assert lab.call("GET", f"/campaigns/{campaign}/report")["is_current"] is True
    assert lab.call("GET", f"/campaigns/{campaign}")["state"] == "complete"


def test_open_pages_hear_of_each_run_and_then_of_the_report(lab: Lab, campaign: UUID) -> None:
    records = [lab.call("GET", f"/runs/{run['id']}")["events"] for run in lab.runs(str(campaign))]
    with lab.units() as unit:
        before = unit.session.scalars(select(func.max(Event.id))).one() or 0
    lab.call("POST", path(campaign), expect=202)
    while lab.work():
        pass
    with lab.units() as unit:
        heard = unit.session.query(Event).filter(Event.id > before).order_by(Event.id).all()
        told = [(event.kind, event.data.get("run_id")) for event in heard]
    runs = {run["id"] for run in lab.runs(str(campaign))}
    assert told[-1] == ("report", None)
    assert {kind for kind, _ in told[:-1]} == {"reanalysis"}
    assert sorted(run for _, run in told[:-1] if run) == sorted(runs)
    assert [lab.call("GET", f"/runs/{run['id']}")["events"] for run in lab.runs(str(campaign))] == records
    headers = {"Authorization": f"Bearer {lab.token}"}
    packed = lab.client.get(f"{API}/campaigns/{campaign}/archive.zip", headers=headers).content
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        kept = json.loads(archive.read("rows.json"))["events"]
    assert "reanalysis" not in {event["kind"] for event in kept}, "an archive holds what runs went through"


def test_an_order_survives_a_queue_that_loses_it(lab: Lab, campaign: UUID) -> None:
    lab.call("POST", path(campaign))
    assert lab.work(lost="reanalyse") == []
    assert lab.call("GET", path(campaign))["done"] == 0
    lab.wait(31)
    lab.tick()
    while lab.work():
        pass
    assert lab.call("GET", path(campaign))["state"] == "idle"


def test_a_trace_that_cannot_be_read_holds_up_no_other_run(lab: Lab, campaign: UUID) -> None:
    broken = lab.runs(str(campaign))[2]["id"]
    with lab.units() as unit:
        unit.session.execute(text("UPDATE chunks SET parquet = 'x' WHERE run_id = :run"), {"run": broken})
    lab.call("POST", path(campaign))
    for _ in range(60):
        try:
            while lab.work():
                pass
        except DownlinkError as error:
            assert error.code == "parquet_invalid"  # noqa: PT017 - a worker logs it and goes on
        lab.wait(31)
        lab.tick()
        if lab.call("GET", path(campaign))["state"] == "idle":
            break
    assert lab.call("GET", path(campaign)) == {
        "campaign_id": str(campaign), "analysis_version": ANALYSIS_VERSION, "state": "idle", "runs": 6, "done": 6, "outdated": 1,
    }  # fmt: skip
    assert {run["id"] for run in lab.runs(str(campaign)) if run["state"] == "complete"} >= {broken}


def test_a_campaign_without_an_analysed_run_says_so(lab: Lab) -> None:
    lab.join("client")
    lab.join("server")
    lab.link()
    campaign = lab.launch()
    refused = lab.call("POST", f"/campaigns/{campaign}/reanalysis", expect=409)
    assert refused["code"] == "nothing_analysed"


def test_the_command_follows_it_to_the_report(
    lab: Lab, campaign: UUID, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Against this server; its workers do a round whenever the command waits."""

    def work(_seconds: float) -> None:
        lab.tick()
        lab.work()

    client = Client(Access("http://testserver", lab.token), lab.client._transport)
    monkeypatch.setattr("downlink.cli.reanalysis.sleep", work)
    monkeypatch.setattr("downlink.cli.campaign_results.connect", lambda: client)
    reanalyse(str(campaign))
    # Where the machine is slow, the server's log of slow answers comes before it.
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == f"6 runs are analysed by version {ANALYSIS_VERSION}."
    assert lab.call("GET", path(campaign))["outdated"] == 0
