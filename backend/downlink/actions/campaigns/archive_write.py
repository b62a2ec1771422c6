"""A campaign's rows and traces written as one file (docs/data-format.md, section 4), piece by piece."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid5

from downlink.actions.campaigns.archived_seconds import spread
from downlink.codec.collector import Collector
from downlink.domain.campaigns.campaign_state import ENDED
from downlink.domain.errors import ConflictError
from downlink.storage.campaigns import campaign_store
from downlink.storage.campaigns.archive_rows import ARCHIVED, SECONDS, Key, StoredChunk, read_chunks, read_page
from downlink.storage.runs import plan_store
from downlink.storage.unit import UnitFactory

FORMAT = "dl-archive/2"
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
        campaign = campaign_store.find_campaign(unit, campaign_id)
        if campaign.state not in ENDED or plan_store.unfinished_in_campaign(unit, campaign_id):
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
    noted: set[str] = field(default_factory=set)

    def pieces(self) -> Iterator[bytes]:
        sink = Collector()
        with zipfile.ZipFile(sink, "w") as archive:
            for name, content, is_packed in self._members():
                yield from self._add(archive, sink, name, content, is_packed=is_packed)
            with self.units(is_read_only=True) as unit:
                campaign_store.find_campaign(unit, self.campaign_id)  # or it was deleted meanwhile, and much is missing
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
        """Return the annotations, those of a link as the campaign's own, under an id that is the same in each archive of it.

        Where an archive was loaded beside its link's annotations they are there twice: they go along once.
        """
        rows = [
            row
            if row["campaign_id"]
            else {**row, "id": str(uuid5(self.campaign_id, row["id"])), "campaign_id": str(self.campaign_id)}
            for row in annotations
        ]
        fresh = {row["id"]: row for row in rows if row["id"] not in self.noted}
        self.noted.update(fresh)
        return list(fresh.values())

    def _chunks(self) -> Iterator[tuple[StoredChunk, bytes | None]]:
        """Yield the chunks, each with its Parquet if it has one."""
        after: Key | None = None
        while True:
            with self.units(is_read_only=True) as unit:
                page = read_chunks(unit, self.campaign_id, after, CHUNKS_A_READ)
            if not page:
                return
            contents = self.units.store.contents(kept for _, kept in page if kept is not None)
            for chunk, kept in page:
                yield chunk, None if kept is None else next(contents)
            after = page[-1][0].place


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
