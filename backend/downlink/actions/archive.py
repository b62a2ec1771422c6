"""A campaign as one file (docs/data-format.md, section 4): written to keep or to hand on, read to explore elsewhere."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from downlink.actions.analyse import judge
from downlink.actions.archived_seconds import gather, spread
from downlink.actions.reports import keep_answers
from downlink.analysis.exits.capacity import Basis
from downlink.codec.collector import Collector
from downlink.domain.annotation import MOST_OF_CAMPAIGN, MOST_OF_LINK, MOST_WORDS, AnnotationKind, check_times
from downlink.domain.campaign_state import ENDED, CampaignState
from downlink.domain.errors import ConflictError, InvalidError
from downlink.domain.run import FINAL, Reason, RunState
from downlink.judges import JUDGES
from downlink.storage import campaigns, judged, reports, runs
from downlink.storage.archive import (
    ARCHIVED,
    SECONDS,
    Key,
    StoredChunk,
    has_campaign,
    insert_chunk,
    insert_rows,
    read_chunks,
    read_page,
)
from downlink.storage.unit import Unit, UnitFactory
from downlink.traces import open_run

FORMAT = "dl-archive/2"
FORMATS = ("dl-archive/1", FORMAT)
"""Those that are read; in the first every chunk has a file of its own."""
MAX_MEMBER_BYTES = 256 * 2**20
ROWS_A_READ = 2_000
ARRAYS_A_READ = 20
CHUNKS_A_READ = 4
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # the same campaign makes the same bytes


def write_archive(units: UnitFactory, campaign_id: UUID) -> Iterator[bytes]:
    """The campaign's rows and sealed traces as a zip, piece by piece; the manifest holds the sha256 of every other member.

    Short reads: no connection is held while a piece is on its way. Raises NotFoundError, or ConflictError
    `campaign_not_ended`, before the first piece: what is under way here must not be so elsewhere.
    """
    with units(is_read_only=True) as unit:
        campaign = campaigns.find_campaign(unit, campaign_id)
        if campaign.state not in ENDED or runs.unfinished_in_campaign(unit, campaign_id):
            raise ConflictError(
                "campaign_not_ended",
                f"{campaign.name} has not ended; archive it when all its runs have, or cancel it first.",
            )
    return _Writer(units, campaign_id).pieces()


@dataclass
class _Writer:
    units: UnitFactory
    campaign_id: UUID
    digests: dict[str, str] = field(default_factory=dict)
    places: list[dict[str, Any]] = field(default_factory=list)

    def pieces(self) -> Iterator[bytes]:
        sink = Collector()
        with zipfile.ZipFile(sink, "w") as archive:
            for name, content, is_packed in self._members():
                yield from self._add(archive, sink, name, content, is_packed=is_packed)
            with self.units(is_read_only=True) as unit:
                campaigns.find_campaign(unit, self.campaign_id)  # or it was deleted meanwhile, and much is missing
            manifest = {"format": FORMAT, "campaign_id": str(self.campaign_id), "sha256": self.digests}
            yield from self._add(archive, sink, "manifest.json", [json.dumps(manifest, indent=1).encode()])
        yield sink.take()

    def _add(
        self, archive: zipfile.ZipFile, sink: Collector, name: str, content: Iterable[bytes], *, is_packed: bool = False
    ) -> Iterator[bytes]:
        info = zipfile.ZipInfo(name, _FIXED_DATE)
        info.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
        digest = hashlib.sha256()
        with archive.open(info, "w", force_zip64=not is_packed) as member:
            for piece in content:
                digest.update(piece)
                member.write(piece)
                yield sink.take()
        self.digests[name] = digest.hexdigest()

    def _members(self) -> Iterator[tuple[str, Iterable[bytes], bool]]:
        """Name, content, and whether it is compressed already."""
        yield "rows.json", self._rows(), False
        for chunk, parquet in self._chunks():
            self.places.append(_place(chunk))
            if parquet is not None:
                yield self.places[-1]["member"], [parquet], True
        yield "chunks.json", [json.dumps(self.places).encode()], False

    def _rows(self) -> Iterator[bytes]:
        """Table name to rows, as one JSON object."""
        for number, member in enumerate(ARCHIVED):
            yield f"{', ' if number else '{'}{json.dumps(member)}: [".encode()
            is_first = True
            for page in self._pages(member):
                if page:
                    yield (b"" if is_first else b", ") + ", ".join(map(json.dumps, page)).encode()
                    is_first = False
            yield b"]"
        yield b"}"

    def _pages(self, member: str) -> Iterator[list[dict[str, Any]]]:
        after: Key | None = None
        limit = ARRAYS_A_READ if member in SECONDS else ROWS_A_READ
        while True:
            with self.units(is_read_only=True) as unit:
                page, after = read_page(unit, member, self.campaign_id, after, limit)
            if after is None:
                return
            yield self._own(page) if member == "annotations" else spread(member, page)

    def _own(self, annotations: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What is noted of a link goes along as the campaign's own, under an id that is the same in each archive of it."""
        return [
            row
            if row["campaign_id"]
            else {**row, "id": str(uuid5(self.campaign_id, row["id"])), "campaign_id": str(self.campaign_id)}
            for row in annotations
        ]

    def _chunks(self) -> Iterator[tuple[StoredChunk, bytes | None]]:
        """With the Parquet of each that has its own."""
        after: Key | None = None
        while True:
            with self.units(is_read_only=True) as unit:
                found = read_chunks(unit, self.campaign_id, after, CHUNKS_A_READ)
            if not found:
                return
            contents = self.units.store.contents(place for _, place in found if place is not None)
            for chunk, place in found:
                yield chunk, None if place is None else next(contents)
            after = found[-1][0].place


def load_archive(unit: Unit, content: bytes) -> tuple[UUID, bool]:
    """Put an archive's campaign into the database under its own ids; answer its id and whether it was new.

    It is marked as recorded: it was not measured here, and nothing of it ever will be. Raises InvalidError for a file
    that is not such an archive, is damaged, or does not fit this version.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            manifest = json.loads(_read(archive, "manifest.json"))
            _check_whole(archive, manifest)
            identity = UUID(manifest["campaign_id"])
            if has_campaign(unit, identity):
                return identity, False
            rows = json.loads(_read(archive, "rows.json"))
            _check_annotations(rows.get("annotations", ()), identity)
            insert_rows(unit, gather({**rows, **_recorded(rows)}))
            _insert_chunks(unit, archive)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
        raise InvalidError("archive_invalid", f"This is not a campaign archive of format {FORMAT}: {error}.") from error
    _judge_missing(unit, rows)
    keep_answers(unit, identity, reports.complete_runs_seen(unit, identity))
    return identity, True


def _check_annotations(rows: Sequence[dict[str, Any]], campaign_id: UUID) -> None:
    """As if somebody noted them here: of this campaign alone. ValueError or InvalidError for others."""
    if len(rows) > MOST_OF_CAMPAIGN + MOST_OF_LINK:
        raise ValueError(f"{len(rows)} annotations are more than a campaign and its link may have")
    for row in rows:
        if UUID(row["campaign_id"]) != campaign_id or not 0 < len(row["text"]) <= MOST_WORDS:
            raise ValueError("an annotation is not of this campaign, or too long")
        AnnotationKind(row["kind"])
        check_times(*(each and datetime.fromisoformat(each) for each in (row["from_at"], row["to_at"])))


def _insert_chunks(unit: Unit, archive: zipfile.ZipFile) -> None:
    own: set[tuple[Any, ...]] = set()
    for place in json.loads(_read(archive, "chunks.json")):
        chunk = _stored(place)
        if chunk.joined_to is None:
            own.add(chunk.place)
            insert_chunk(unit, chunk, _read(archive, place["member"]))
        elif (*chunk.place[:3], chunk.joined_to) in own:
            insert_chunk(unit, chunk, None)
        else:
            raise ValueError(f"chunk {chunk.joined_to}, which {place['member']} is to begin with, is missing")


def _judge_missing(unit: Unit, rows: dict[str, list[dict[str, Any]]]) -> None:
    """An archive may be older than some of the judges."""
    missing = [each for each in JUDGES if each.name not in rows]
    for row in rows["runs"] if missing else ():
        opened = open_run(unit, runs.get_run(unit, UUID(row["id"])))
        judged.replace(unit, [opened.run.id], judge(opened, missing))


def _recorded(rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Campaign and runs as they stand here: nothing is left to do, whatever was under way when the archive was written."""
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
    """What was imported from files is so everywhere; anything else was recorded elsewhere."""
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


def _place(chunk: StoredChunk) -> dict[str, Any]:
    first = chunk.sequence if chunk.joined_to is None else chunk.joined_to
    return {
        "member": f"traces/{chunk.run_id}/{chunk.flow}-{chunk.point}-{first}.parquet",
        "run_id": str(chunk.run_id),
        "flow": chunk.flow,
        "point": chunk.point,
        "sequence": chunk.sequence,
        "samples": chunk.samples,
        "sha256": chunk.sha256.hex(),
        "stored_at": chunk.stored_at.isoformat(),
        **({} if chunk.joined_to is None else {"joined_to": chunk.joined_to}),
    }


def _stored(place: dict[str, Any]) -> StoredChunk:
    return StoredChunk(
        run_id=UUID(place["run_id"]),
        flow=place["flow"],
        point=place["point"] if "point" in place else place["end"],  # until protocol version 2
        sequence=place["sequence"],
        samples=place["samples"],
        sha256=bytes.fromhex(place["sha256"]),
        stored_at=datetime.fromisoformat(place["stored_at"]),
        joined_to=place.get("joined_to"),
    )


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > MAX_MEMBER_BYTES:
        raise ValueError(f"{name} is larger than {MAX_MEMBER_BYTES} bytes")
    return archive.read(name)


def _check_whole(archive: zipfile.ZipFile, manifest: dict[str, Any]) -> None:
    if manifest["format"] not in FORMATS:
        raise ValueError(f"it is of format {manifest['format']}")
    found = {name: _digest(archive, name) for name in archive.namelist() if name != "manifest.json"}
    if found != manifest["sha256"]:
        raise ValueError("a member is missing or was changed")


def _digest(archive: zipfile.ZipFile, name: str) -> str:
    with archive.open(name) as member:
        return hashlib.file_digest(member, "sha256").hexdigest()  # type: ignore[arg-type]
