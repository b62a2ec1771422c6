"""ndt7 archive files: a download, an upload or both, as the server's kernel saw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from downlink.domain.partial import LeftOut
from downlink.domain.point import Point
from downlink.importers.model import Content, Direction, ImportedFlow, Ints, UnreadableError
from downlink.importers.reading import (
    checked_columns,
    ints,
    listing,
    mapping,
    masked_address,
    moment,
    text_of,
    usable,
    whole,
)
from downlink.importers.tcp_fields import BY_NAME, RATES, to_bps

DIRECTIONS = ("Download", "Upload")
SECRETS = {"access_token"}


def is_ndt7(document: Mapping[str, Any]) -> bool:
    said = _row(document)
    directions = [said[name] for name in DIRECTIONS if name in said]
    return bool(directions) and (
        "StartTime" in said or any(isinstance(each, Mapping) and "ServerMeasurements" in each for each in directions)
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
    """What is said of one direction. told: what the client says of itself."""

    flow: ImportedFlow
    started_at: datetime | None
    told: Mapping[str, str]
    left_out: tuple[LeftOut, ...]


def _direction(name: str, said: object) -> _Direction:
    result = mapping(said, name)
    measured = listing(result.get("ServerMeasurements") or [], "ServerMeasurements")
    entries = [mapping(entry, "a measurement") for entry in measured]
    infos = [mapping(entry["TCPInfo"], "TCPInfo") for entry in entries if entry.get("TCPInfo")]
    if not infos:
        raise UnreadableError("the server measured nothing (no TCPInfo)")
    kept = [info for place, info in enumerate(infos) if not place or info != infos[place - 1]]
    point = Point.SENDER if name == "Download" else Point.RECEIVER
    columns, identity = checked_columns(_columns(kept)), {"uuid": result.get("UUID")}
    control, way = _control(measured), Direction(name.lower())
    flow = ImportedFlow(1, point, columns, congestion_control=control, direction=way, metadata=identity)
    more = len(infos) - len(kept)
    repeated = (LeftOut("", name.lower(), f"{more} measurements that repeat the one before"),) if more else ()
    return _Direction(flow, moment(result.get("StartTime")), _told(result), repeated)


def _told(result: Mapping[str, Any]) -> dict[str, str]:
    told = {}
    for entry in listing(result.get("ClientMetadata") or [], "ClientMetadata"):
        name = text_of(entry, "Name")
        if name and name not in SECRETS:
            told[name] = str(entry.get("Value"))
    return told


def _control(measured: Sequence[Any]) -> str | None:
    """BBR gives itself away by a bandwidth of its own (`BW`, in old files `MaxBandwidth`); others are not named."""
    states = [entry.get("BBRInfo") for entry in measured]
    found = any(isinstance(state, Mapping) and (state.get("BW") or state.get("MaxBandwidth")) for state in states)
    return "bbr" if found else None


def _columns(infos: list[Mapping[str, Any]]) -> dict[str, Ints]:
    """The fields that every measurement has."""
    columns = {"elapsed_us": ints([whole(info.get("ElapsedTime"), "ElapsedTime") for info in infos])}
    for theirs, ours in {**BY_NAME, **RATES}.items():
        if all(theirs in info for info in infos):
            values = ints([whole(info[theirs], theirs) for info in infos])
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
