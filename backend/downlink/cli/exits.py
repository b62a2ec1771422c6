"""`downlink exits` judges a trace file. It needs no server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from downlink.cli.output import AsJson, Column, note, print_json, print_table
from downlink.domain.errors import InvalidError, NotFoundError

if TYPE_CHECKING:
    from downlink.analysis.exits.flow import FlowExits
    from downlink.importers.model import ImportedTrace

VERDICT_COLUMNS: list[Column] = [
    ("flow", lambda v: v["flow"]),
    ("detector", lambda v: v["detector"]),
    ("version", lambda v: v["version"]),
    ("detect", lambda v: v["detect"]),
    ("exit", lambda v: None if v["exit_us"] is None else f"{v['exit_us'] / 1e6:.6f} s"),
    ("timing", lambda v: v["timing"]),
    ("cwnd", lambda v: v["cwnd_segments"]),
    ("reason", lambda v: v["reason"]),
]
SHOWN = (
    "exit_us", "cwnd_segments", "cwnd_source", "parameters", "reason", "quantities", "is_decidable", "is_too_late",
)  # fmt: skip


def exits_command(
    file: Annotated[
        Path, typer.Argument(help="Per-ACK CSV, M-Lab tcp-info, ndt7, iperf3 or flent file, plain or packed")
    ],
    rate_bps: Annotated[
        int | None,
        typer.Option(min=1, help="The link's rate, where one flow used it alone: separates early from good exits"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show when slow start ended in a trace, and when each detector would have ended it. Works without a server."""
    judged = list(_judged(load_file(file), rate_bps))
    verdicts = [row for flow, exits in judged for row in _rows(flow, exits)]
    if as_json:
        print_json(verdicts)
        return
    print_table(verdicts, VERDICT_COLUMNS)
    for flow, exits in judged:
        note(f"Flow {flow}: {_capacity_text(exits)}")


def load_file(file: Path) -> ImportedTrace:
    from downlink.importers.files import import_file

    return import_file(file.name, read_file(file))


def read_file(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise NotFoundError("file_unreadable", f"{file.name} cannot be read: {error.strerror}.") from error


def _judged(trace: ImportedTrace, rate_bps: int | None) -> Iterator[tuple[int, FlowExits]]:
    """Each flow that has a sender's view: only that can be judged."""
    from downlink.analysis.exits.capacity import LinkRate
    from downlink.analysis.exits.flow import judge_flow
    from downlink.analysis.exits.trace import trace_from_fields
    from downlink.domain.traces.point import Point

    senders = [flow for flow in trace.flows if flow.point == Point.SENDER]
    if not senders:
        raise InvalidError(
            "no_sender", f"{trace.name} has no sender's view of a flow; an exit cannot be seen without one."
        )
    rate = LinkRate(rate_bps) if rate_bps and len(senders) == 1 else None
    for flow in senders:
        cc, columns = flow.congestion_control, flow.columns
        acks = trace_from_fields(columns, is_per_ack=flow.is_per_ack, congestion_control=cc, first_byte_us=0)
        yield flow.flow, judge_flow(acks, rate)


def _rows(flow: int, exits: FlowExits) -> Iterator[dict[str, Any]]:
    """One object per detector, as in the REST API."""
    for verdict in exits.verdicts:
        own = {name: getattr(verdict, name) for name in SHOWN}
        yield {"flow": flow, **verdict.identity._asdict(), **own, "timing": exits.timing(verdict)}


def _capacity_text(exits: FlowExits) -> str:
    """Describe the evidence for calling exits early, good or late."""
    capacity = exits.capacity
    if capacity is None:
        return "no RTT on record, so that exits cannot be called early or good."
    when = "never" if capacity.at_us is None else f"{capacity.at_us / 1e6:.3f} s"
    rate = "" if capacity.rate_bps is None else f" of {capacity.rate_bps / 1e6:.1f} Mb/s"
    by = "90 % of the delivery plateau" if capacity.basis == "plateau" else "least RTT x the link's rate"
    return f"capacity reached: {when}, by {by}{rate}, least RTT {capacity.least_rtt_us / 1e3:.1f} ms."
