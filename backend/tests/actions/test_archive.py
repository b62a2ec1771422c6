"""A campaign leaves one database and enters another whole; a damaged archive does not."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from downlink.actions.campaigns.archive_read import load_archive
from downlink.domain.errors import InvalidError
from downlink.storage.unit import UnitFactory
from tests.fixtures.lab import API, Lab
from tests.fixtures.recorded import ARCHIVE

pytestmark = pytest.mark.sampled("faults")


@pytest.fixture
def campaign(lab: Lab) -> str:
    """A campaign that scripted agents have carried out."""
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    campaign = lab.launch()
    lab.drive(campaign, agents)
    return campaign


def archive_of(lab: Lab, campaign: str) -> bytes:
    answer = lab.client.get(f"{API}/campaigns/{campaign}/archive.zip", headers={"Authorization": f"Bearer {lab.token}"})
    assert answer.headers["content-type"] == "application/zip"
    return answer.content


def everything(lab: Lab, campaign: str) -> dict[str, Any]:
    """The campaign as the API shows it, traces and all."""
    shown = {
        "campaign": lab.call("GET", f"/campaigns/{campaign}"),
        "report": lab.call("GET", f"/campaigns/{campaign}/report"),
    }
    for table in ("series", "summary", "runs", "metrics", "exits", "limits"):
        shown[table] = lab.call("GET", f"/campaigns/{campaign}/{table}.csv")
    for run in lab.runs(campaign):
        shown[run["id"]] = lab.call("GET", f"/runs/{run['id']}")
        shown[run["id"] + " exits"] = lab.call("GET", f"/runs/{run['id']}/exits")
        shown[run["id"] + " limits"] = lab.call("GET", f"/runs/{run['id']}/limits")
        shown[run["id"] + " trace"] = lab.call("GET", f"/runs/{run['id']}/traces/1/sender.csv")
    return shown


def test_an_archived_campaign_comes_back_the_same_and_marked(lab: Lab, units: UnitFactory, campaign: str) -> None:
    packed, before = archive_of(lab, campaign), everything(lab, campaign)
    lab.call("DELETE", f"/campaigns/{campaign}")
    with units() as unit:
        assert load_archive(unit, packed) == (UUID(campaign), True)
    after = everything(lab, campaign)
    assert (after["campaign"].pop("is_recorded"), after["campaign"].pop("origin")) == (True, "recorded")
    assert (before["campaign"].pop("is_recorded"), before["campaign"].pop("origin")) == (False, "measured")
    assert after == before
    assert len(before) > 8


def test_loading_twice_changes_nothing(lab: Lab, units: UnitFactory, campaign: str) -> None:
    packed = archive_of(lab, campaign)
    with units() as unit:
        assert load_archive(unit, packed) == (UUID(campaign), False)
    assert lab.call("GET", f"/campaigns/{campaign}")["is_recorded"] is False


def test_two_who_load_one_archive_at_once_load_it_once(units: UnitFactory) -> None:
    content = ARCHIVE.read_bytes()

    def load() -> tuple[UUID, bool]:
        with units() as unit:
            return load_archive(unit, content)

    with ThreadPoolExecutor() as pool:
        with units() as unit:
            first, _ = load_archive(unit, content)
            second = pool.submit(load)
            await_blocked(units)
        assert second.result() == (first, False)


def await_blocked(units: UnitFactory) -> None:
    """Until somebody waits for a transaction that is open."""
    with units.engine.connect() as connection:
        waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()")
        while not connection.scalar(waiting):
            connection.rollback()


def test_an_archive_holds_no_secrets(lab: Lab, units: UnitFactory, campaign: str) -> None:
    with zipfile.ZipFile(io.BytesIO(archive_of(lab, campaign))) as archive:
        rows = archive.read("rows.json").decode()
    assert "dlt_" not in rows
    assert "ticket" not in rows


def rewritten(packed: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def without_judgements(members: dict[str, bytes]) -> None:
    """As archives were before exits and limits were judged."""
    rows = json.loads(members["rows.json"])
    for table in ("exits", "slow_starts", "limits", "limit_bins"):
        assert rows.pop(table)
    members["rows.json"] = json.dumps(rows).encode()
    manifest = json.loads(members["manifest.json"])
    manifest["sha256"]["rows.json"] = hashlib.sha256(members["rows.json"]).hexdigest()
    members["manifest.json"] = json.dumps(manifest).encode()


def test_judgements_that_an_archive_lacks_are_made_from_its_traces(lab: Lab, units: UnitFactory, campaign: str) -> None:
    packed, before = archive_of(lab, campaign), everything(lab, campaign)
    lab.call("DELETE", f"/campaigns/{campaign}")
    with units() as unit:
        load_archive(unit, rewritten(packed, without_judgements))
    after = everything(lab, campaign)
    judged = [key for key in before if key.endswith(("exits", "limits"))]
    assert {key: after[key] for key in judged} == {key: before[key] for key in judged}
    assert len(judged) > 5


def with_row(members: dict[str, bytes], table: str, **changes: Any) -> None:
    rows = json.loads(members["rows.json"])
    rows[table][0] |= changes
    members["rows.json"] = json.dumps(rows).encode()
    manifest = json.loads(members["manifest.json"])
    manifest["sha256"]["rows.json"] = hashlib.sha256(members["rows.json"]).hexdigest()
    members["manifest.json"] = json.dumps(manifest).encode()


@pytest.mark.parametrize("at", ["0001-01-01T00:00+05:00", "9999-12-31T23:59-05:00", "2026-01-01T00:00"])
@pytest.mark.parametrize(("table", "column"), [("campaigns", "created_at"), ("runs", "ended_at")])
def test_a_moment_that_could_not_be_read_again_is_refused(
    lab: Lab, units: UnitFactory, campaign: str, table: str, column: str, at: str
) -> None:
    packed = rewritten(archive_of(lab, campaign), lambda members: with_row(members, table, **{column: at}))
    lab.call("DELETE", f"/campaigns/{campaign}")
    with pytest.raises(InvalidError, match=r"in UTC|offset"), units() as unit:
        load_archive(unit, packed)


def test_a_campaign_that_has_not_ended_is_not_archived(lab: Lab) -> None:
    lab.join("client"), lab.join("server")
    lab.link()
    campaign = lab.launch()
    lab.tick()
    assert lab.call("GET", f"/campaigns/{campaign}/archive.zip", expect=409)["code"] == "campaign_not_ended"
    lab.call("POST", f"/campaigns/{campaign}/cancel")


def under_way(members: dict[str, bytes]) -> None:
    """As earlier versions archived a campaign in the middle: one run running, one to come."""
    rows = json.loads(members["rows.json"])
    rows["campaigns"][0] |= {"state": "running", "ended_at": None}
    open_run = {"ended_at": None, "released_at": None, "reason": None, "verdict": None}
    rows["runs"][0] |= {"state": "running", **open_run}
    rows["runs"][1] |= {"state": "planned", **open_run}
    for host in rows["run_hosts"]:
        host["phase"] = "ready" if host["run_id"] == rows["runs"][0]["id"] else "assigned"
    members["rows.json"] = json.dumps(rows).encode()
    manifest = json.loads(members["manifest.json"])
    manifest["sha256"]["rows.json"] = hashlib.sha256(members["rows.json"]).hexdigest()
    members["manifest.json"] = json.dumps(manifest).encode()


def test_an_archive_of_a_campaign_under_way_orders_nobody(lab: Lab, units: UnitFactory) -> None:
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    campaign = lab.launch()
    lab.drive(campaign, agents)
    packed = rewritten(archive_of(lab, campaign), under_way)
    lab.call("DELETE", f"/campaigns/{campaign}")
    with units() as unit:
        load_archive(unit, packed)
    lab.tick()
    assert [agent.poll() for agent in agents] == [None, None]
    assert lab.call("GET", f"/campaigns/{campaign}")["state"] == "cancelled"
    assert {(run["state"], run["reason"]) for run in lab.runs(campaign)} == {("cancelled", "recorded")}


def test_an_agent_with_two_active_runs_is_still_answered(lab: Lab, units: UnitFactory) -> None:
    """No action makes such rows; whatever does must not silence the agent."""
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    lab.launch()
    with units() as unit:
        unit.session.execute(text("UPDATE runs SET state = 'leased', state_at = now()"))
    assert [agent.poll()["kind"] for agent in agents] == ["prepare", "prepare"]  # type: ignore[index]


def cut_rows(members: dict[str, bytes]) -> None:
    members["rows.json"] = members["rows.json"][:-1]


def drop_trace(members: dict[str, bytes]) -> None:
    del members[next(name for name in members if name.startswith("traces/"))]


def other_format(members: dict[str, bytes]) -> None:
    members["manifest.json"] = json.dumps({**json.loads(members["manifest.json"]), "format": "dl-archive/9"}).encode()


def no_manifest(members: dict[str, bytes]) -> None:
    del members["manifest.json"]


@pytest.mark.parametrize("change", [cut_rows, drop_trace, other_format, no_manifest])
def test_a_damaged_archive_is_refused_whole(
    lab: Lab, units: UnitFactory, campaign: str, change: Callable[[dict[str, bytes]], None]
) -> None:
    packed = rewritten(archive_of(lab, campaign), change)
    lab.call("DELETE", f"/campaigns/{campaign}")
    with pytest.raises(InvalidError, match="archive"), units() as unit:
        load_archive(unit, packed)
    assert lab.call("GET", "/campaigns")["total"] == 0


def test_what_is_no_archive_is_refused(units: UnitFactory) -> None:
    with pytest.raises(InvalidError, match="not a campaign archive"), units() as unit:
        load_archive(unit, b"not a zip")


def test_a_campaigns_tables_are_called_by_their_name(units: UnitFactory) -> None:
    tables = Path(__file__).parents[3] / "docs" / "reproduction" / "archives" / "002-leo-tables.zip"
    with pytest.raises(InvalidError, match=r"tables.*Load the campaign's archive") as refused, units() as unit:
        load_archive(unit, tables.read_bytes())
    assert refused.value.code == "archive_of_tables"
