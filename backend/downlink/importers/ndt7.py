"""ndt7 archive files: a download, an upload or both, as the server's kernel saw them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Any

from downlink.domain.partial import LeftOut
from downlink.domain.traces.point import Point
from downlink.importers.model import Content, Direction, ImportedFlow, Ints, UnreadableError
from downlink.importers.tcp_fields import BY_NAME, RATES, to_bps
from downlink.importers.value_checks import (
    checked_columns,
    ints,
    listing,
    mapping,
    masked_address,
    moment_of_table,
    text_of,
    usable,
    whole_of_text,
)

DIRECTIONS = ("Download", "Upload")
SECRETS = {"access_token"}
FIELDS = {**BY_NAME, **RATES}


def is_ndt7(document: Mapping[str, Any]) -> bool:
    row = _row(document)
    directions = [row[name] for name in DIRECTIONS if name in row]
    return bool(directions) and (
        "StartTime" in row or any(isinstance(each, Mapping) and "ServerMeasurements" in each for each in directions)
    )


def _row(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The archive's document; a row of the public tables has it under `raw`."""
    raw = document.get("raw")
    return raw if isinstance(raw, Mapping) else document


def read_ndt7(document: Mapping[str, Any]) -> Content:
    """A flow for each direction. A download makes the server the sender, an upload the receiver."""
    document = _row(document)
    held = [name for name in DIRECTIONS if document.get(name)]
    if not held:
        raise UnreadableError("it holds neither a download nor an upload with content")
    read, unread = usable((name.lower(), partial(_direction, name, document[name])) for name in held)
    started = [each.started_at for each in read if each.started_at is not None]
    first_at = min(started, default=None)
    flows = [
        replace(each.flow, flow=number, start_s=(each.started_at - first_at).total_seconds())
        if each.started_at and first_at
        else replace(each.flow, flow=number)
        for number, each in enumerate(read, start=1)
    ]
    left_out = (*unread, *(part for each in read for part in each.left_out))
    return Content(tuple(flows), first_at, _metadata(document, read), left_out=left_out)


@dataclass(frozen=True, slots=True)
class _Direction:
    """One direction of a test. told: the client's statements about itself."""

    flow: ImportedFlow
    started_at: datetime | None
    told: Mapping[str, str]
    left_out: tuple[LeftOut, ...]


def _direction(name: str, server: object) -> _Direction:
    result = mapping(server, name)
    measured = listing(result.get("ServerMeasurements") or [], "ServerMeasurements")
    infos, unread = _snapshots(measured)
    kept = [info for info, _ in groupby(infos)]
    point = Point.SENDER if name == "Download" else Point.RECEIVER
    columns, identity = checked_columns(_columns(kept)), {"uuid": result.get("UUID")}
    control, way = _control(measured), Direction(name.lower())
    flow = ImportedFlow(1, point, columns, congestion_control=control, direction=way, metadata=identity)
    told, untold = _told(result)
    more = len(infos) - len(kept)
    repeated = [LeftOut("", name.lower(), f"{more} measurements that repeat the one before")] if more else []
    left_out = [LeftOut("", f"{name.lower()}: {part.place}", part.reason) for part in (*unread, *_holes(kept), *untold)]
    return _Direction(flow, moment_of_table(result.get("StartTime")), told, (*repeated, *left_out))


def _snapshots(measured: Sequence[Any]) -> tuple[list[Mapping[str, Any]], tuple[LeftOut, ...]]:
    """Return the kernel's values of each measurement. Raise UnreadableError if most of them cannot be read."""
    entries = [(number, entry) for number, entry in enumerate(measured, start=1) if not _is_empty(entry)]
    if not any(isinstance(entry, Mapping) for _, entry in entries):
        raise UnreadableError("the server measured nothing (no TCPInfo)")
    filled = _filled([entry for _, entry in entries])
    infos, left_out = usable((f"measurement {number}", partial(_snapshot, entry, filled)) for number, entry in entries)
    if len(left_out) > len(infos):
        raise UnreadableError(f"{left_out[0].place}: {left_out[0].reason}")
    void = sum(_is_empty(entry) and "TCPInfo" in entry for entry in measured)
    return infos, (*left_out, *([LeftOut("", "measurements", f"{void} with an empty TCPInfo")] if void else []))


def _is_empty(entry: object) -> bool:
    """Return whether a measurement has no TCP values: some are of other things."""
    return isinstance(entry, Mapping) and not entry.get("TCPInfo")


def _filled(measured: Sequence[Any]) -> list[str]:
    """The fields of which most measurements hold a value: null is then one that failed, and elsewhere a field that a kernel lacks."""
    counts = Counter(
        name
        for entry in measured
        if isinstance(entry, Mapping) and isinstance(entry.get("TCPInfo"), Mapping)
        for name, value in entry["TCPInfo"].items()
        if name in FIELDS and value is not None
    )
    return [name for name in FIELDS if counts[name] * 2 > len(measured)]


def _snapshot(entry: object, filled: Sequence[str]) -> Mapping[str, Any]:
    """The time and the fields of one measurement, as numbers."""
    info = mapping(mapping(entry, "it").get("TCPInfo"), "its TCPInfo")
    wanted = [name for name in FIELDS if name in info and (info[name] is not None or name in filled)]
    return {name: whole_of_text(info.get(name), name) for name in ("ElapsedTime", *wanted)}


def _holes(infos: Sequence[Mapping[str, Any]]) -> list[LeftOut]:
    """The fields that some measurements have and others lack, which are left out."""
    counts = Counter(name for info in infos for name in info)
    return [
        LeftOut("", f"field {name}", f"{len(infos) - counts[name]} of {len(infos)} measurements lack it")
        for name in FIELDS
        if 0 < counts[name] < len(infos)
    ]


def _told(result: Mapping[str, Any]) -> tuple[dict[str, str], tuple[LeftOut, ...]]:
    """Return the client's statements about itself, and the parts that cannot be read."""
    told = {}
    entries = result.get("ClientMetadata") or []
    if not isinstance(entries, list):
        return {}, (LeftOut("", "ClientMetadata", "it is not a list"),)
    for entry in entries:
        name = text_of(entry, "Name")
        if name and name not in SECRETS:
            told[name] = str(entry.get("Value"))
    return told, ()


def _control(measured: Sequence[Any]) -> str | None:
    """BBR gives itself away by a bandwidth of its own (`BW`, in old files `MaxBandwidth`); others are not named."""
    states = [entry.get("BBRInfo") for entry in measured if isinstance(entry, Mapping)]
    bandwidths = [state.get(key) for state in states if isinstance(state, Mapping) for key in ("BW", "MaxBandwidth")]
    return "bbr" if any(bandwidth and bandwidth != "0" for bandwidth in bandwidths) else None


def _columns(infos: list[Mapping[str, Any]]) -> dict[str, Ints]:
    """The fields that every measurement has."""
    columns = {"elapsed_us": ints([info["ElapsedTime"] for info in infos])}
    for theirs, ours in FIELDS.items():
        if all(theirs in info for info in infos):
            values = ints([info[theirs] for info in infos])
            columns[ours] = to_bps(values) if theirs in RATES else values
    return columns


def _metadata(document: Mapping[str, Any], read: Sequence[_Direction]) -> dict[str, Any]:
    return {
        "direction": " and ".join(each.flow.direction or "" for each in read),
        "version": document.get("Version"),
        "server": document.get("ServerIP"),
        "client": masked_address(document.get("ClientIP")),
        "client_metadata": {name: value for each in read for name, value in each.told.items()},
    }
