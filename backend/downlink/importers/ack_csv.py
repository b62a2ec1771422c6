"""Per-ACK sender logs as CSV (one row per ACK, columns by header), and our own exported traces.

The clock and the sequence numbers are 32 bits wide and wrap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from downlink.domain.partial import LeftOut
from downlink.domain.traces.point import Point
from downlink.domain.traces.sample import TIME_FIELD, fields, fields_of
from downlink.importers.ack_table import MAX_ROW_BYTES, Table, read_table
from downlink.importers.model import Content, ImportedFlow, Ints, UnreadableError
from downlink.importers.tcp_fields import to_bps
from downlink.importers.value_checks import LARGEST, checked_columns, refuse_beyond

NEEDED = ("now_us", "bytes_acked", "mss", "rtt_us")
PLAIN = {
    "mss": "snd_mss_bytes",
    "bytes_acked": "acked_bytes",
    "tp_delivered": "delivered_segments",
    "lost_pkt": "lost_total_segments",
    "total_retrans_pkt": "total_retrans_segments",
    "app_limited": "delivery_rate_app_limited",
    "snd_cwnd": "cwnd_segments",
    "snd_ssthresh": "ssthresh_segments",
}
# The same authors' kernel log of a flow: its names, and the names above that mean the same.
KERNEL_LOG = {"total_delv_B": "bytes_acked", "cwnd_pkt": "snd_cwnd", "ssthresh_pkt": "snd_ssthresh"}
KERNEL_ALWAYS = ("now_us", "rtt_us", "cwnd_MB", "total_sent_B", "total_delv_B", "ssthresh_pkt")
KERNEL_WINDOW = ("cwnd_pkt", "each_delv_MB")
"""Either of them says how large a segment is; `each_delv_MB` holds bytes, whatever its name says."""
KERNEL_OWN = {*KERNEL_ALWAYS, *KERNEL_WINDOW, "ss_status"} - {*NEEDED}
CANONICAL = {name.lower(): name for name in (*KERNEL_ALWAYS, *KERNEL_WINDOW)}
IN_EVERY_ROW = {"now_us", "bytes_acked", "mss"}
IN_EVERY_KERNEL_ROW = {"now_us", "total_delv_B", "cwnd_MB", "cwnd_pkt"}
NEVER_SET_SEGMENTS = 2_147_483_647
"""The spreadsheet form of our own tables leaves such a slow-start threshold empty."""
BYTES_PER_MB = 1_000_000
SEGMENT_TOLERANCE = 0.05
WRAP = 2**32
UNPACED = WRAP - 1
INITIAL_WINDOW_SEGMENTS = 10


def header_of(content: bytes) -> list[str]:
    """The column names of the first line."""
    line = content[: content.find(b"\n") if b"\n" in content[:65_536] else 65_536]
    return [name.strip() for name in line.decode("utf-8-sig", errors="replace").strip().split(",")]


def plain_table(content: bytes) -> bytes:
    """An ACK log or our own table as R and spreadsheets write it, with commas, without quotes; other texts as they are."""
    end = content.find(b"\n")
    first = content[:end] if 0 <= end < MAX_ROW_BYTES else b""
    delimiter = max((b",", b";", b"\t"), key=first.count)
    names = [_canonical(name.strip(b'" \r')) for name in first.split(delimiter)]
    header = b",".join(names)
    if header == first.rstrip(b"\r") or not _is_ours(header.decode(errors="replace").split(",")):
        return content
    body = content[end:].replace(b'"', b"")
    if delimiter == b";":
        body = body.replace(b",", b".")
    return header + body.replace(delimiter, b",")


def _canonical(name: bytes) -> bytes:
    lower = name.lower()
    return CANONICAL.get(lower.decode(errors="replace"), "").encode() or lower


def _is_ours(header: list[str]) -> bool:
    return is_ack_csv(header) or is_downlink_csv(header) or bool(missing_columns(header))


def is_ack_csv(header: list[str]) -> bool:
    return set(NEEDED) <= set(header) or _is_kernel_log(header)


def _is_kernel_log(header: list[str]) -> bool:
    return set(KERNEL_ALWAYS) <= set(header) and bool(set(KERNEL_WINDOW) & set(header))


def missing_columns(header: list[str]) -> list[str]:
    """Return the columns that a table lacks although it looks like an ACK log; none for any other table."""
    own = len(KERNEL_OWN & set(header))
    if own >= 2:
        lacking = [name for name in KERNEL_ALWAYS if name not in header]
        return lacking or [" or ".join(KERNEL_WINDOW)]
    return [name for name in NEEDED if name not in header] if len(set(NEEDED) & set(header)) >= 2 else []


def is_downlink_csv(header: list[str]) -> bool:
    return header[0] == "elapsed_us"


def read_ack_csv(content: bytes) -> Content:
    """One flow with every ACK. Sent bytes count from the flow's first byte. A further column with holes is left out and named."""
    header = header_of(content)
    read, bad_rows = read_table(content, header, IN_EVERY_ROW if set(NEEDED) <= set(header) else IN_EVERY_KERNEL_ROW)
    table = _as_ack_log(read)
    left_out = [name for name, column in table.items() if name not in NEEDED and not np.all(np.isfinite(column))]
    table = {name: column for name, column in table.items() if name not in left_out}
    columns = {ours: _whole(table[theirs], theirs) for theirs, ours in PLAIN.items() if theirs in table}
    refuse_beyond("snd_mss_bytes", columns["snd_mss_bytes"])
    columns["elapsed_us"] = _elapsed_us(_whole(table["now_us"], "now_us"))
    columns["ack_rtt_us"], without_rtt = _rtts_us(table["rtt_us"])
    if "snd_nxt" in table:
        columns["snd_nxt_bytes"] = _sent_bytes(table, columns)
    elif "total_sent_B" in table:
        columns["snd_nxt_bytes"] = np.maximum.accumulate(_whole(table["total_sent_B"], "total_sent_B"))
    if "sk_pacing_rate" in table:
        rate = _whole(np.minimum(table["sk_pacing_rate"], UNPACED), "sk_pacing_rate")
        columns["pacing_rate_bps"] = np.where(rate == UNPACED, -1, to_bps(rate))
    _check(columns)
    flow = ImportedFlow(1, Point.SENDER, checked_columns(columns, is_per_ack=True), is_per_ack=True)
    holes = tuple(LeftOut(name, "column", "it has holes") for name in left_out)
    return Content((flow,), metadata={"left_out": left_out}, left_out=(*bad_rows, *without_rtt, *holes))


def _rtts_us(column: NDArray[np.float64]) -> tuple[Ints, tuple[LeftOut, ...]]:
    """The RTT samples, -1 where an ACK has none, and how many cells hold no number."""
    is_number = np.isfinite(column)
    if not is_number.any():
        raise UnreadableError("column rtt_us holds no number; record the RTT of each ACK")
    rtt_us = _whole(np.where(is_number, column, -1), "rtt_us")
    absent = int(np.count_nonzero(~is_number))
    reason = f"no number in {absent:,} of {len(column):,} rows, which count as ACKs without an RTT sample"
    # A sample that was negative in the kernel arrives as a huge unsigned number.
    rtts_us = np.where((rtt_us < 0) | (rtt_us >= WRAP // 2), -1, rtt_us)
    return rtts_us, (LeftOut("rtt_us", "column", reason),) if absent else ()


def read_downlink_csv(content: bytes) -> Content:
    """A trace as Downlink exports it: the fields of `docs/fields.csv`, a row per poll or, with `ack_rtt_us`, per ACK."""
    table, bad_rows = read_table(content, header_of(content), {TIME_FIELD})
    strange = sorted(set(table) - set(fields()))
    known, holes = _without_holes({name: column for name, column in table.items() if name not in strange})
    if known.keys() <= {TIME_FIELD}:
        raise UnreadableError(
            f"it has columns that are not measured fields: {', '.join(strange)[:200]}"
            if strange or not holes
            else f"each of its columns has cells without a value: {', '.join(each.what for each in holes)[:200]}"
        )
    is_per_ack = "ack_rtt_us" in known
    columns = checked_columns({name: _whole(column, name) for name, column in known.items()}, is_per_ack=is_per_ack)
    point = Point.RECEIVER if set(columns) <= {field.name for field in fields_of(Point.RECEIVER)} else Point.SENDER
    unknown = tuple(LeftOut(name[:40], "column", "it is no measured field of this version") for name in strange)
    flow = ImportedFlow(1, point, columns, is_per_ack=is_per_ack)
    return Content((flow,), left_out=(*bad_rows, *holes, *unknown))


def _without_holes(table: Table) -> tuple[Table, tuple[LeftOut, ...]]:
    """The columns that have a value in each row; an empty threshold is one that was never set."""
    whole = {name: column for name, column in table.items() if not np.any(np.isnan(column))}
    if "ssthresh_segments" in table.keys() - whole.keys():
        thresholds = table["ssthresh_segments"]
        whole["ssthresh_segments"] = np.where(np.isnan(thresholds), NEVER_SET_SEGMENTS, thresholds)
    holes = tuple(LeftOut(name, "column", "it has holes") for name in table if name not in whole)
    return {name: whole[name] for name in table if name in whole}, holes


def _as_ack_log(table: Table) -> Table:
    """A kernel log under the names of an ACK log, with the size of its segments."""
    if set(NEEDED) <= set(table) or not _is_kernel_log(list(table)):
        return table
    renamed = {KERNEL_LOG.get(name, name): column for name, column in table.items()}
    window_bytes = table["cwnd_MB"] * BYTES_PER_MB
    if "cwnd_pkt" in table:
        with np.errstate(divide="ignore", invalid="ignore"):
            renamed["mss"] = np.rint(window_bytes / table["cwnd_pkt"])
    else:
        mss = _first_segment(table["each_delv_MB"])
        renamed["mss"] = np.full(len(window_bytes), mss)
        renamed["snd_cwnd"] = _in_segments(window_bytes, mss)
    return renamed


def _first_segment(delivered_bytes: NDArray[np.float64]) -> float:
    """The first ACK of a flow acknowledges one segment."""
    delivered = delivered_bytes[delivered_bytes > 0]
    if not delivered.size:
        raise UnreadableError(
            "it has no column cwnd_pkt, and each_delv_MB, which would give the segment size, holds nothing"
        )
    return float(delivered[0])


def _in_segments(window_bytes: NDArray[np.float64], mss: float) -> NDArray[np.float64]:
    segments = window_bytes / mss
    if np.median(np.abs(segments - np.rint(segments))) > SEGMENT_TOLERANCE:
        raise UnreadableError(
            f"it has no column cwnd_pkt, and cwnd_MB is not a whole number of segments of {mss:g} bytes, as each_delv_MB has them"
        )
    whole: NDArray[np.float64] = np.rint(segments)
    return whole


def _whole(column: NDArray[np.float64], name: str) -> Ints:
    if not np.all(np.isfinite(column)) or np.any(np.abs(column) > LARGEST):
        raise UnreadableError(f"column {name} holds a value that is not a usable number")
    return column.astype(np.int64)


def unwrapped(values: Ints) -> Ints:
    """A 32-bit counter as it would be without its width, from 0 on. A step back of less than half the range stays a step back."""
    steps = (np.diff(values) + WRAP // 2) % WRAP - WRAP // 2
    return np.concatenate(([0], np.cumsum(steps)))


def _elapsed_us(now_us: Ints) -> Ints:
    """Time since the first ACK; a clock beyond 32 bits does not wrap."""
    return now_us - now_us[0] if np.any(now_us >= WRAP) else unwrapped(now_us)


def _sent_bytes(table: Table, columns: dict[str, Ints]) -> Ints:
    """New bytes sent since the flow's start. Without snd_una a full initial window is taken to be out at the first ACK."""
    snd_nxt = _whole(table["snd_nxt"], "snd_nxt")
    acked = int(columns["acked_bytes"][0])
    if "snd_una" in table:
        first = acked + (int(snd_nxt[0]) - int(table["snd_una"][0])) % WRAP
    else:
        first = max(INITIAL_WINDOW_SEGMENTS * int(columns["snd_mss_bytes"][0]), acked)
    return np.maximum.accumulate(first + unwrapped(snd_nxt))


def _check(columns: dict[str, Ints]) -> None:
    if np.any(columns["snd_mss_bytes"] <= 0):
        raise UnreadableError("column mss holds a value that is not above 0")
    falls = np.flatnonzero(np.diff(columns["acked_bytes"]) < 0)
    if falls.size:
        raise UnreadableError(f"bytes_acked falls at row {int(falls[0]) + 3}, so that it is not one flow")
    for name, column in columns.items():
        if name not in {"ack_rtt_us", "pacing_rate_bps"} and np.any(column < 0):
            raise UnreadableError(f"{name} is negative somewhere")
