"""M-Lab tcp-info archives: one connection's inet_diag snapshots, a JSON object per line."""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Any

import orjson

from downlink.domain.partial import LeftOut
from downlink.domain.traces.point import Point
from downlink.importers.documents import parsed_line
from downlink.importers.model import Content, Direction, ImportedFlow, UnreadableError
from downlink.importers.tcp_fields import decode_structs
from downlink.importers.value_checks import checked_columns, ints, mapping, moment_of_table, text_of, usable

INFO, CONGESTION_CONTROL = 2, 4
SHORTEST_STRUCT_BYTES = 104
MICROSECOND = timedelta(microseconds=1)


def is_tcp_info(first_line: object) -> bool:
    return (
        isinstance(first_line, Mapping)
        and "Timestamp" in first_line
        and ("Metadata" in first_line or "RawIDM" in first_line)
    )


def read_tcp_info(content: bytes) -> Content:
    """One flow. The end that acknowledged more than it received is the sender's. A line that cannot be read is left out."""
    snapshots, left_out = usable(
        (f"line {number}", partial(_snapshot, line, number))
        for number, line in enumerate(io.BytesIO(content), start=1)
        if line.strip()
    )
    infos = [each.info for each in snapshots if each.info is not None]
    told = [info for info, _ in groupby(infos)]
    if not told:
        raise UnreadableError(f"no line holds a tcp_info{'; ' + str(left_out[0]) if left_out else ''}")
    if len(left_out) > len(told):
        raise UnreadableError(str(left_out[0]))
    identity = next((each.identity for each in snapshots if each.identity), None)
    control = next((each.control for each in reversed(snapshots) if each.control), None)
    stamps, structs = [stamp for stamp, _ in told], [struct for _, struct in told]
    columns = decode_structs(structs)
    columns["elapsed_us"] = ints([(stamp - stamps[0]) // MICROSECOND for stamp in stamps])
    point = (
        Point.RECEIVER if columns.get("received_bytes", [0])[-1] > columns.get("acked_bytes", [0])[-1] else Point.SENDER
    )
    # M-Lab's servers take these snapshots.
    direction = Direction.DOWNLOAD if point == Point.SENDER else Direction.UPLOAD
    identified = {"uuid": identity}
    flow = ImportedFlow(
        1, point, checked_columns(columns), congestion_control=control, direction=direction, metadata=identified
    )
    more = len(infos) - len(told)
    repeated = (LeftOut("", "snapshots", f"{more} that repeat the one before"),) if more else ()
    return Content((flow,), stamps[0], {"struct_bytes": min(map(len, structs))}, left_out=(*left_out, *repeated))


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """One line of a file. info: its time and tcp_info, where it has one."""

    identity: str | None
    info: tuple[datetime, bytes] | None = None
    control: str | None = None


def _snapshot(line: bytes, line_number: int) -> _Snapshot:
    entry = _line(line, line_number)
    identity = text_of(entry.get("Metadata"), "UUID")
    if (struct := _attribute(entry, INFO, line_number)) is None:
        return _Snapshot(identity)
    name = _attribute(entry, CONGESTION_CONTROL, line_number)
    control = name.rstrip(b"\0").decode("ascii", errors="replace") if name else None
    return _Snapshot(identity, (_stamp(entry, line_number), struct), control)


def _line(line: bytes, line_number: int) -> Mapping[str, Any]:
    try:
        return mapping(parsed_line(line), f"line {line_number}")
    except orjson.JSONDecodeError as error:
        raise UnreadableError(f"line {line_number} is not JSON ({error})") from error


def _attribute(snapshot: Mapping[str, Any], index: int, line_number: int) -> bytes | None:
    attributes = snapshot.get("Attributes")
    if not isinstance(attributes, list) or len(attributes) <= index or not attributes[index]:
        return None
    try:
        value = base64.b64decode(attributes[index], validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise UnreadableError(f"line {line_number} holds an attribute that is not base64") from error
    if index == INFO and len(value) < SHORTEST_STRUCT_BYTES:
        raise UnreadableError(f"line {line_number} holds a tcp_info of only {len(value)} bytes")
    return value


def _stamp(snapshot: Mapping[str, Any], line_number: int) -> datetime:
    stamp = moment_of_table(snapshot.get("Timestamp"))
    if stamp is None:
        raise UnreadableError(f"line {line_number} has no readable Timestamp")
    return stamp
