"""An archive may only bring its own campaign, whole and readable: whatever else it holds is refused with a sentence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import func, select

from downlink.actions.campaigns.archive_read import load_archive
from downlink.domain.errors import InvalidError
from downlink.storage.tables import Table
from downlink.storage.unit import UnitFactory
from tests.actions.test_archive import rewritten
from tests.fixtures.recorded import ARCHIVE

Members = dict[str, bytes]
Rows = dict[str, list[dict[str, Any]]]
OTHER = str(uuid4())
STORED = ("campaigns", "runs", "events", "chunks", "traces")


def replaced(members: Members, name: str, content: bytes) -> None:
    """With its new checksum: what is wrong is the content alone."""
    members[name] = content
    manifest = json.loads(members["manifest.json"])
    manifest["sha256"][name] = hashlib.sha256(content).hexdigest()
    members["manifest.json"] = json.dumps(manifest).encode()


def changing(change: Callable[[Rows], object]) -> bytes:
    def apply(members: Members) -> None:
        rows = json.loads(members["rows.json"])
        change(rows)
        replaced(members, "rows.json", json.dumps(rows).encode())

    return rewritten(ARCHIVE.read_bytes(), apply)


def refused(units: UnitFactory, content: bytes, why: str) -> None:
    """The sentence says why, and nothing of the archive is stored."""
    before = stored(units)
    with pytest.raises(InvalidError, match=why) as error, units() as unit:
        load_archive(unit, content)
    assert error.value.code == "archive_invalid"
    assert error.value.message.endswith(".")
    assert stored(units) == before


def stored(units: UnitFactory) -> list[int]:
    with units(is_read_only=True) as unit:
        counts = [select(func.count()).select_from(Table.metadata.tables[name]) for name in STORED]
        return [unit.session.scalars(each).one() for each in counts]


def other_campaign(rows: Rows) -> None:
    """A campaign that is already there, or comes along, and a run for it."""
    rows["campaigns"].append({**rows["campaigns"][0], "id": OTHER})


def renamed_manifest(members: Members) -> None:
    members["manifest.json"] = json.dumps({**json.loads(members["manifest.json"]), "campaign_id": OTHER}).encode()


@pytest.mark.sampled("faults")
def test_no_row_enters_another_campaign(units: UnitFactory) -> None:
    """A campaign is there already; an archive of another one would add a run to it."""
    with units() as unit:
        here, _ = load_archive(unit, ARCHIVE.read_bytes())

    def into_it(rows: Rows) -> None:
        rows["campaigns"][0]["id"] = OTHER
        rows["annotations"] = []
        for table in rows.values():
            for row in table:
                if row.get("campaign_id"):
                    row["campaign_id"] = OTHER
        rows["runs"] = [{**rows["runs"][0], "id": str(uuid4()), "campaign_id": str(here)}]
        for table in set(rows) - {"campaigns", "runs"}:
            rows[table] = []

    def apply(members: Members) -> None:
        rows = json.loads(members["rows.json"])
        into_it(rows)
        replaced(members, "rows.json", json.dumps(rows).encode())
        replaced(members, "chunks.json", b"[]")
        renamed_manifest(members)

    refused(units, rewritten(ARCHIVE.read_bytes(), apply), "table runs has a row of another campaign")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (other_campaign, "one campaign"),
        (lambda rows: rows["campaigns"].clear(), "one campaign"),
        (lambda rows: rows["campaigns"][0].update(id=OTHER), "one campaign"),
        (lambda rows: rows["events"][0].update(campaign_id=OTHER), "table events has a row of another campaign"),
        (
            lambda rows: rows["events"][0].update(campaign_id=None, run_id=None),
            "table events has a row of another campaign",
        ),
        (lambda rows: rows["reports"][0].update(campaign_id=OTHER), "table reports has a row of another campaign"),
        (lambda rows: rows["metrics"][0].update(run_id=OTHER), "table metrics has a row of another campaign"),
    ],
)
def test_every_row_is_of_the_manifests_campaign(units: UnitFactory, change: Callable[[Rows], object], why: str) -> None:
    refused(units, changing(change), why)


def test_a_chunk_of_another_campaigns_run_is_refused(units: UnitFactory) -> None:
    def apply(members: Members) -> None:
        chunks = json.loads(members["chunks.json"])
        chunks[0]["run_id"] = OTHER
        replaced(members, "chunks.json", json.dumps(chunks).encode())

    refused(units, rewritten(ARCHIVE.read_bytes(), apply), "a trace is of another campaign's run")


def test_a_trace_that_is_not_parquet_is_refused(units: UnitFactory) -> None:
    def apply(members: Members) -> None:
        name = next(name for name in members if name.startswith("traces/"))
        replaced(members, name, b"not Parquet")

    refused(units, rewritten(ARCHIVE.read_bytes(), apply), r"trace traces/.*\.parquet cannot be read")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda rows: rows["campaigns"][0]["spec"].pop("notes"), "spec.*notes"),
        (lambda rows: rows["campaigns"][0].update(spec=[1]), "spec"),
        (lambda rows: rows["campaigns"][0].pop("name"), "name"),
        (lambda rows: rows["runs"][0].pop("link"), "link"),
        (lambda rows: rows["runs"][0].update(attempt="x"), "bigint"),
        (lambda rows: rows["runs"][0].update(link={"a": 1}), "link|dict"),
        (lambda rows: rows["campaigns"][0].update(name="a\x00b"), "NUL|zero"),
        (lambda rows: rows["campaigns"][0]["spec"].update(notes="a\x00b"), "Unicode|zero"),
        (lambda rows: rows.pop("runs"), "runs"),
        (lambda rows: rows.update(runs=5), "runs"),
        (lambda rows: rows["runs"].append(5), "runs"),
        (lambda rows: rows["runs"].append(rows["runs"][0]), "duplicate"),
    ],
)
def test_rows_that_do_not_fit_are_refused_with_a_sentence(
    units: UnitFactory, change: Callable[[Rows], object], why: str
) -> None:
    refused(units, changing(change), why)


@pytest.mark.parametrize("content", [b"[]", b"5", b"null"])
@pytest.mark.parametrize("name", ["rows.json", "manifest.json", "chunks.json"])
def test_members_of_another_shape_are_refused(units: UnitFactory, name: str, content: bytes) -> None:
    def apply(members: Members) -> None:
        if name == "manifest.json":
            members[name] = content
        else:
            replaced(members, name, content)

    if (name, content) != ("chunks.json", b"[]"):
        refused(units, rewritten(ARCHIVE.read_bytes(), apply), "archive")
