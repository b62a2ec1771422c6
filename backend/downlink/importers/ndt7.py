"""ndt7 archive files: one download or upload as the server's kernel saw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from downlink.domain.point import Point
from downlink.importers.model import Content, Direction, ImportedFlow, Ints, UnreadableError
from downlink.importers.reading import checked_columns, ints, listing, mapping, masked_address, moment, text_of, whole
from downlink.importers.tcp_fields import BY_NAME, RATES, to_bps

SECRETS = {"access_token"}


def is_ndt7(document: Mapping[str, Any]) -> bool:
    return ("Download" in document or "Upload" in document) and "StartTime" in document


def read_ndt7(document: Mapping[str, Any]) -> Content:
    """One flow. A download makes the server the sender, an upload the receiver."""
    held = [name for name in ("Download", "Upload") if document.get(name)]
    if len(held) != 1:
        raise UnreadableError("it holds neither a download nor an upload with content")
    direction = held[0]
    result = mapping(document[direction], direction)
    measured = listing(result.get("ServerMeasurements") or [], "ServerMeasurements")
    infos = [mapping(entry, "a measurement") for entry in measured]
    infos = [mapping(entry["TCPInfo"], "TCPInfo") for entry in infos if entry.get("TCPInfo")]
    if not infos:
        raise UnreadableError("the server measured nothing (no TCPInfo)")
    point = Point.SENDER if direction == "Download" else Point.RECEIVER
    columns, identity = checked_columns(_columns(infos)), {"uuid": result.get("UUID")}
    control, way = _control(measured), Direction(direction.lower())
    flow = ImportedFlow(1, point, columns, congestion_control=control, direction=way, metadata=identity)
    return Content((flow,), moment(result.get("StartTime")), _metadata(document, result, direction))


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


def _metadata(document: Mapping[str, Any], result: Mapping[str, Any], direction: str) -> dict[str, Any]:
    told = {}
    for entry in listing(result.get("ClientMetadata") or [], "ClientMetadata"):
        name = text_of(entry, "Name")
        if name and name not in SECRETS:
            told[name] = str(entry.get("Value"))
    return {
        "direction": direction.lower(),
        "version": document.get("Version"),
        "server": document.get("ServerIP"),
        "client": masked_address(document.get("ClientIP")),
        "client_metadata": told,
    }
