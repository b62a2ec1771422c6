"""The recorded example in a server: its tables, and its numbers recomputed."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from downlink.actions.campaigns.archive_read import load_archive
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
    assert COLUMNS["Retransmissions, overall, % of sent bytes"](off).startswith("2.75")


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


def older_archive() -> bytes:
    """The example as analysis version 2 wrote it: without windows, without what is published, without the newer columns."""
    out = io.BytesIO()
    with zipfile.ZipFile(ARCHIVE) as now, zipfile.ZipFile(out, "w") as older:
        content = {name: now.read(name) for name in now.namelist()}
        rows, manifest = json.loads(content["rows.json"]), json.loads(content["manifest.json"])
        for flow in rows["run_flows"]:
            del flow["received_times_s"]
        for started in rows["slow_starts"]:
            del started["mean_error_ratio"]
        for row in (*rows["runs"], *rows["reports"]):
            row["analysis_version"] = "2"
        del rows["campaigns"][0]["spec"]["reproduces"]
        content["rows.json"] = json.dumps(rows).encode()
        manifest["sha256"]["rows.json"] = hashlib.sha256(content["rows.json"]).hexdigest()
        content["manifest.json"] = json.dumps(manifest).encode()
        for name, data in content.items():
            older.writestr(name, data)
    return out.getvalue()


def test_an_archive_from_before_is_shown_and_has_the_newer_numbers_once_it_is_analysed(
    lab: Lab, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lab.units() as unit:
        identity, _ = load_archive(unit, older_archive())
    report = lab.call("GET", f"/campaigns/{identity}/report")
    Report.model_validate(report)
    assert (report["is_outdated"], report["windows"]) == (True, [])
    assert report["groups"][0]["received_object_times"]["n"] == []
    assert report["groups"][0]["object_times"]["n"][0] == 3
    assert lab.call("GET", f"/campaigns/{identity}/reproduction")["figures"] == []
    assert lab.call("GET", "/reproduction")["items"] == []
    monkeypatch.setenv("DOWNLINK_DATABASE_URL", database_url)
    assert CliRunner().invoke(app, ["analyse", str(identity)]).exit_code == 0
    report = lab.call("GET", f"/campaigns/{identity}/report")
    assert (report["is_outdated"], report["groups"][0]["received_object_times"]["n"][0]) == (False, 3)


DERIVED = {
    "flow_series": "run_id, flow",
    "metrics": "run_id, flow, phase",
    "limits": "run_id, flow",
    "slow_starts": "run_id, flow",
    "exits": "run_id, flow, place",
    "run_flows": "run_id, flow",
    "reports": "campaign_id",
}


def derived(lab: Lab) -> dict[str, list[dict[str, Any]]]:
    """What was computed from the traces, by table."""
    with lab.units() as unit:
        return {
            table: [
                {name: doubles(value) for name, value in row.items() if name not in ("computed_at", "version")}
                for row in unit.session.execute(text(f"SELECT * FROM {table} ORDER BY {order}")).mappings()  # noqa: S608
            ]
            for table, order in DERIVED.items()
        }


def doubles(value: Any) -> Any:
    """Packed series as the numbers that they are."""
    is_packed = isinstance(value, bytes) and not value.startswith(b"{")
    return list(struct.unpack(f">{len(value) // 8}d", value)) if is_packed else value


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every number and text with its place, those of stored JSON too."""
    if isinstance(value, bytes) and value.startswith(b"{"):
        value = json.loads(value)
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if isinstance(value, (dict, list)):
        for name, part in parts:
            yield from leaves(part, f"{place}.{name}")
    else:
        yield place, value


def test_all_that_the_archive_holds_is_what_this_version_computes(
    lab: Lab, campaign: UUID, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A definition that changes without the example being rebuilt is seen here, whichever number it moves."""
    kept = dict(leaves(derived(lab)))
    with lab.units() as unit:
        unit.session.execute(text("UPDATE runs SET analysis_version = '0'"))
        unit.session.execute(text("UPDATE reports SET analysis_version = '0'"))
    monkeypatch.setenv("DOWNLINK_DATABASE_URL", database_url)
    assert CliRunner().invoke(app, ["analyse", str(campaign)]).exit_code == 0
    computed = dict(leaves(derived(lab)))
    assert kept.keys() == computed.keys()
    wrong = {place: (value, computed[place]) for place, value in kept.items() if computed[place] != near(value)}
    assert wrong == {}


def near(value: Any) -> Any:
    return pytest.approx(value, rel=1e-9, nan_ok=True) if isinstance(value, float) else value
