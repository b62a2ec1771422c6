"""A campaign that came as one file (docs/data-format.md, section 4): read to explore it here."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from downlink.actions.campaigns.archive_write import FORMAT
from downlink.actions.campaigns.archived_seconds import gather
from downlink.actions.results.analysis import judge
from downlink.actions.results.reports import keep_answers
from downlink.analysis.exits.capacity import Basis
from downlink.codec.parquet import check_parquet
from downlink.domain.campaigns.annotation import MOST_OF_CAMPAIGN, MOST_OF_LINK, MOST_WORDS, AnnotationKind, check_times
from downlink.domain.campaigns.campaign_state import ENDED, CampaignState
from downlink.domain.errors import InvalidError
from downlink.domain.moment import in_utc
from downlink.domain.runs.run import FINAL, Reason, RunState
from downlink.judging import JUDGES
from downlink.judging.traces import open_run
from downlink.storage.campaigns import campaign_store
from downlink.storage.campaigns.archive_rows import (
    AGAIN,
    StoredChunk,
    has_campaign,
    insert_chunk,
    insert_rows,
    refusing_unfit,
)
from downlink.storage.results import judgement_store as judged
from downlink.storage.results import report_store
from downlink.storage.runs import run_store
from downlink.storage.unit import Unit, lock

FORMATS = ("dl-archive/1", FORMAT)
"""Formats that are read; in the first, every chunk has a file of its own."""
MAX_MEMBER_BYTES = 256 * 2**20
UNREADABLE = (
    zipfile.BadZipFile, zlib.error, EOFError, LookupError, ValueError, TypeError, AttributeError, RuntimeError,
)  # fmt: skip
"""Errors that a damaged or encrypted zip raises, and values of another shape than this version writes."""


def load_archive(unit: Unit, content: bytes) -> tuple[UUID, bool]:
    """Put an archive's campaign into the database under its own ids; answer its id and whether it was new.

    It is marked as recorded: it was not measured here, and nothing of it ever will be. Raises InvalidError for a file
    that is not such an archive, is damaged, or does not fit this version.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, refusing_unfit():
            return _load(unit, archive)
    except UNREADABLE as error:
        message = f"This is not a campaign archive of format {FORMAT}: {_said(error)}. {AGAIN}"
        raise InvalidError("archive_invalid", message) from error


def _load(unit: Unit, archive: zipfile.ZipFile) -> tuple[UUID, bool]:
    _check_kind(archive)
    manifest = _object(archive, "manifest.json")
    _check_whole(archive, manifest)
    identity = UUID(manifest["campaign_id"])
    lock(unit, f"archive {identity}")  # another load of the same one then finds it loaded
    if has_campaign(unit, identity):
        return identity, False
    rows = _object(archive, "rows.json")
    _check_tables(rows)
    _check_annotations(rows.get("annotations", ()), identity)
    gathered = gather({**rows, **_recorded(rows)})
    _check_belonging(gathered, identity)
    insert_rows(unit, gathered)
    _check_spec(unit, identity)
    _insert_chunks(unit, archive, {UUID(row["id"]) for row in rows["runs"]})
    _judge_missing(unit, rows)
    keep_answers(unit, identity, report_store.complete_runs_seen(unit, identity))
    return identity, True


def _said(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")


def _check_kind(archive: zipfile.ZipFile) -> None:
    """InvalidError for a zip that the project itself writes and that has no traces."""
    names = set(archive.namelist())
    if "manifest.json" not in names and {"report.json", "runs.csv"} <= names:
        message = (
            "This file holds a campaign's tables (CSV and report.json), without its runs and traces: nothing can be loaded from it."
            " Load the campaign's archive: NAME.zip beside NAME-tables.zip where it was kept,"
            " or what `downlink campaigns export C --archive` writes on the server that measured it."
        )
        raise InvalidError("archive_of_tables", message)


def _check_annotations(rows: Sequence[dict[str, Any]], campaign_id: UUID) -> None:
    """Check annotations as if they were made here: of this campaign alone. Raise ValueError or InvalidError for others."""
    if len(rows) > MOST_OF_CAMPAIGN + MOST_OF_LINK:
        raise ValueError(f"{len(rows)} annotations are more than a campaign and its link may have")
    for row in rows:
        if UUID(row["campaign_id"]) != campaign_id or not 0 < len(row["text"]) <= MOST_WORDS:
            raise ValueError("an annotation is not of this campaign, or too long")
        AnnotationKind(row["kind"])
        check_times(*(each and datetime.fromisoformat(each) for each in (row["from_at"], row["to_at"])))


def _check_tables(rows: Mapping[str, Any]) -> None:
    for name, table in rows.items():
        if not (isinstance(table, list) and all(isinstance(row, dict) for row in table)):
            raise ValueError(f"table {name} is no list of rows")


def _check_belonging(rows: Mapping[str, Sequence[Mapping[str, Any]]], campaign_id: UUID) -> None:
    """Every row is of this campaign, by itself or by its run: nothing of an archive may enter another one."""
    if [UUID(row["id"]) for row in rows["campaigns"]] != [campaign_id]:
        raise ValueError("it does not hold one campaign, the one of its manifest")
    own = {UUID(row["id"]) for row in rows["runs"]}
    for name in rows.keys() - {"campaigns"}:
        for row in rows[name]:
            campaign, run = row.get("campaign_id"), row.get("run_id")
            is_own = (not campaign or UUID(campaign) == campaign_id) and (not run or UUID(run) in own)
            if not is_own or not (campaign or run):
                raise ValueError(f"table {name} has a row of another campaign")


def _check_spec(unit: Unit, campaign_id: UUID) -> None:
    try:
        campaign_store.campaign_of(campaign_store.find_campaign(unit, campaign_id))
    except UNREADABLE as error:
        raise ValueError(f"the campaign's spec cannot be read ({_said(error)})") from error


def _insert_chunks(unit: Unit, archive: zipfile.ZipFile, of_runs: Collection[UUID]) -> None:
    own: set[tuple[Any, ...]] = set()
    for entry in json.loads(_read(archive, "chunks.json")):
        chunk = _stored(entry)
        if chunk.run_id not in of_runs:
            raise ValueError("a trace is of another campaign's run")
        if chunk.joined_to is None:
            own.add(chunk.place)
            insert_chunk(unit, chunk, _trace(archive, entry["member"]))
        elif (*chunk.place[:3], chunk.joined_to) in own:
            insert_chunk(unit, chunk, None)
        else:
            raise ValueError(f"chunk {chunk.joined_to}, which {entry['member']} is to begin with, is missing")


def _trace(archive: zipfile.ZipFile, member: str) -> bytes:
    content = _read(archive, member)
    try:
        check_parquet(content)
    except InvalidError as error:
        raise ValueError(f"trace {member} cannot be read ({error.message.rstrip('.')})") from error
    return content


def _judge_missing(unit: Unit, rows: dict[str, list[dict[str, Any]]]) -> None:
    """An archive may be older than some of the judges."""
    missing = [each for each in JUDGES if each.name not in rows]
    for row in rows["runs"] if missing else ():
        if row.get("traces_removed_at"):
            continue
        opened = open_run(unit, run_store.get_run(unit, UUID(row["id"])))
        judged.replace(unit, [opened.run.id], judge(opened, missing))


def _recorded(rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Campaign and runs as they are here: nothing is left to do, whatever was under way when the archive was written."""
    runs = [{**row, "needs": None} if row["state"] in FINAL else _ended_run(row) for row in rows["runs"]]
    emulated = _emulated_links(rows)
    return {
        "campaigns": [_recorded_campaign(row) for row in rows["campaigns"]],
        "runs": [{"is_emulated": row["link"] in emulated or None, **row} for row in runs],
    }


def _emulated_links(rows: dict[str, list[dict[str, Any]]]) -> set[str]:
    """Older archives do not say of a run that its link was emulated: the verdicts on its exits do."""
    judged = {
        row["run_id"] for row in rows.get("slow_starts", ()) if row.get("capacity_basis") == Basis.EMULATED_RATE.value
    }
    return {row["link"] for row in rows["runs"] if row["id"] in judged}


def _recorded_campaign(row: dict[str, Any]) -> dict[str, Any]:
    """Return the campaign's row with its origin: `imported` stays so everywhere; anything else was recorded elsewhere."""
    origin = "imported" if row.get("origin") == "imported" else "recorded"
    ended = (
        {}
        if row["state"] in ENDED
        else {"state": CampaignState.CANCELLED.value, "ended_at": row["ended_at"] or row["created_at"]}
    )
    known = {key: value for key, value in row.items() if key != "is_recorded"}  # older archives say both
    return {**known, "origin": origin, **ended}


def _ended_run(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "state": RunState.CANCELLED.value,
        "reason": Reason.RECORDED.value,
        "detail": "The archive was written before this run had ended.",
        "verdict": None,
        "ended_at": row["state_at"],
        "live": None,
        "needs": None,
        "needs_sent_at": None,
    }


def _stored(entry: dict[str, Any]) -> StoredChunk:
    return StoredChunk(
        run_id=UUID(entry["run_id"]),
        flow=entry["flow"],
        point=entry["point"] if "point" in entry else entry["end"],  # until protocol version 2
        sequence=entry["sequence"],
        samples=entry["samples"],
        sha256=bytes.fromhex(entry["sha256"]),
        stored_at=in_utc(datetime.fromisoformat(entry["stored_at"])),
        joined_to=entry.get("joined_to"),
    )


def _object(archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    document = json.loads(_read(archive, name))
    if not isinstance(document, dict):
        raise ValueError(f"{name} holds no object")
    return document


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > MAX_MEMBER_BYTES:
        raise ValueError(f"{name} is larger than {MAX_MEMBER_BYTES} bytes")
    return archive.read(name)


def _check_whole(archive: zipfile.ZipFile, manifest: dict[str, Any]) -> None:
    if manifest["format"] not in FORMATS:
        raise ValueError(f"it is of format {manifest['format']}")
    digests = {name: _digest(archive, name) for name in archive.namelist() if name != "manifest.json"}
    if digests != manifest["sha256"]:
        raise ValueError("a member is missing or was changed")


def _digest(archive: zipfile.ZipFile, name: str) -> str:
    with archive.open(name) as member:
        return hashlib.file_digest(member, "sha256").hexdigest()  # type: ignore[arg-type]
