"""`downlink exits` judges a trace file. It needs no server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from downlink.cli.output import AsJson, Column, print_json, print_table
from downlink.domain.errors import InvalidError, NotFoundError

if TYPE_CHECKING:
    from downlink.importers.model import ImportedFlow, ImportedTrace

VERDICT_COLUMNS: list[Column] = [
    ("flow", lambda v: v["flow"]),
    ("detector", lambda v: v["detector"]),
    ("version", lambda v: v["version"]),
    ("detect", lambda v: v["parameters"].get("detect")),
    ("exit", lambda v: None if v["exit_us"] is None else f"{v['exit_us'] / 1e6:.6f} s"),
    ("cwnd", lambda v: v["cwnd_segments"]),
    ("reason", lambda v: v["reason"]),
]


def exits_command(
    file: Annotated[
        Path, typer.Argument(help="Per-ACK CSV, M-Lab tcp-info, ndt7, iperf3 or flent file, plain or packed")
    ],
    as_json: AsJson = False,
) -> None:
    """Say when slow start ended in a trace, and when each detector would have ended it. Works without a server."""
    verdicts = list(_verdicts(load_file(file)))
    if as_json:
        print_json(verdicts)
    else:
        print_table(verdicts, VERDICT_COLUMNS)


def load_file(file: Path) -> ImportedTrace:
    from downlink.importers.files import import_file

    return import_file(file.name, read_file(file))


def read_file(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise NotFoundError("file_unreadable", f"{file.name} cannot be read: {error.strerror}.") from error


def _verdicts(trace: ImportedTrace) -> Iterator[dict[str, Any]]:
    """One object per flow and detector; only a sender's view can be judged."""
    from downlink.domain.sample import End

    senders = [flow for flow in trace.flows if flow.end is End.SENDER]
    if not senders:
        raise InvalidError(
            "no_sender", f"{trace.name} holds no sender's view of a flow, without which no exit can be seen."
        )
    for flow in senders:
        yield from _verdicts_of(flow)


def _verdicts_of(flow: ImportedFlow) -> Iterator[dict[str, Any]]:
    from downlink.analysis.exits.panel import judge_all
    from downlink.analysis.exits.trace import trace_from_fields

    ack_trace = trace_from_fields(flow.columns, is_per_ack=flow.is_per_ack, congestion_control=flow.congestion_control)
    for verdict in judge_all(ack_trace):
        yield {
            "flow": flow.flow,
            "detector": verdict.detector,
            "version": verdict.version,
            "exit_us": verdict.exit_us,
            "cwnd_segments": verdict.cwnd_segments,
            "parameters": dict(verdict.parameters),
            "reason": verdict.reason,
            "quantities": dict(verdict.quantities),
        }
