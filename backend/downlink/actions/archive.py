"""A campaign as one file (docs/data-format.md, section 4): written to keep or to hand on, read to explore elsewhere."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from downlink.actions.exits import judge_run
from downlink.actions.limits import limit_run
from downlink.domain.errors import InvalidError, NotFoundError
from downlink.storage.archive import StoredChunk, insert_chunk, insert_rows, read_chunks, read_rows
from downlink.storage.unit import Unit

FORMAT = "dl-archive/1"
MAX_MEMBER_BYTES = 256 * 2**20
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # the same campaign makes the same bytes


def write_archive(unit: Unit, campaign_id: UUID) -> bytes:
    """The campaign's rows and sealed traces as a zip; the manifest holds the sha256 of every other member."""
    rows = read_rows(unit, campaign_id)
    if not rows["campaigns"]:
        raise NotFoundError("campaign_not_found", f"There is no campaign {campaign_id}.")
    packed = io.BytesIO()
    digests: dict[str, str] = {}
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content, is_packed in _members(unit, campaign_id, rows):
            digests[name] = hashlib.sha256(content).hexdigest()
            _add(archive, name, content, is_packed=is_packed)
        manifest = {"format": FORMAT, "campaign_id": str(campaign_id), "sha256": digests}
        _add(archive, "manifest.json", json.dumps(manifest, indent=1).encode(), is_packed=False)
    return packed.getvalue()


def load_archive(unit: Unit, content: bytes) -> tuple[UUID, bool]:
    """Put an archive's campaign into the database under its own ids; answer its id and whether it was new.

    It is marked as recorded: it was not measured here. Raises InvalidError for a file that is not such an archive,
    is damaged, or does not fit this version.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: _read(archive, name) for name in archive.namelist()}
        manifest = json.loads(members.pop("manifest.json"))
        rows = json.loads(members.pop("rows.json")) if _is_whole(manifest, members) else {}
        identity = UUID(manifest["campaign_id"])
        chunks = json.loads(members.pop("chunks.json"))
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
        raise InvalidError("archive_invalid", f"This is no campaign archive of format {FORMAT}: {error}") from error
    if read_rows(unit, identity)["campaigns"]:
        return identity, False
    rows["campaigns"] = [{**row, "is_recorded": True, "origin": _origin(row)} for row in rows["campaigns"]]
    insert_rows(unit, rows)
    for chunk in chunks:
        insert_chunk(unit, _stored(chunk, members[chunk["member"]]))
    for table, judge in (("exits", judge_run), ("limits", limit_run)):
        if table not in rows:  # written before these were judged
            for run in rows["runs"]:
                judge(unit, UUID(run["id"]))
    return identity, True


def _origin(row: dict[str, Any]) -> str:
    """What was imported from files is so everywhere; anything else was recorded elsewhere."""
    return "imported" if row.get("origin") == "imported" else "recorded"


def _members(unit: Unit, campaign_id: UUID, rows: dict[str, list[dict[str, Any]]]) -> Iterator[tuple[str, bytes, bool]]:
    """Name, content, and whether it is compressed already."""
    yield "rows.json", json.dumps(rows).encode(), False
    places = []
    for chunk in read_chunks(unit, campaign_id):
        member = f"traces/{chunk.run_id}/{chunk.flow}-{chunk.end}-{chunk.sequence}.parquet"
        places.append(_place(chunk, member))
        yield member, chunk.parquet, True
    yield "chunks.json", json.dumps(places).encode(), False


def _place(chunk: StoredChunk, member: str) -> dict[str, Any]:
    return {
        "member": member,
        "run_id": str(chunk.run_id),
        "flow": chunk.flow,
        "end": chunk.end,
        "sequence": chunk.sequence,
        "samples": chunk.samples,
        "sha256": chunk.sha256.hex(),
        "stored_at": chunk.stored_at.isoformat(),
    }


def _stored(place: dict[str, Any], parquet: bytes) -> StoredChunk:
    return StoredChunk(
        run_id=UUID(place["run_id"]),
        flow=place["flow"],
        end=place["end"],
        sequence=place["sequence"],
        samples=place["samples"],
        sha256=bytes.fromhex(place["sha256"]),
        parquet=parquet,
        stored_at=datetime.fromisoformat(place["stored_at"]),
    )


def _add(archive: zipfile.ZipFile, name: str, content: bytes, *, is_packed: bool) -> None:
    info = zipfile.ZipInfo(name, _FIXED_DATE)
    info.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
    archive.writestr(info, content)


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > MAX_MEMBER_BYTES:
        raise ValueError(f"{name} is larger than {MAX_MEMBER_BYTES} bytes")
    return archive.read(name)


def _is_whole(manifest: dict[str, Any], members: dict[str, bytes]) -> bool:
    if manifest["format"] != FORMAT:
        raise ValueError(f"it is of format {manifest['format']}")
    if {name: hashlib.sha256(content).hexdigest() for name, content in members.items()} != manifest["sha256"]:
        raise ValueError("a member is missing or was changed")
    return True
