"""The result of an import: traces, flows, and the parts that were left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from downlink.domain.errors import InvalidError
from downlink.domain.partial import LeftOut
from downlink.domain.traces.point import Point

Ints = NDArray[np.int64]


class SourceKind(StrEnum):
    """The formats that are read."""

    IPERF3 = "iperf3"
    NDT7 = "ndt7"
    TCP_INFO = "tcp-info"
    FLENT = "flent"
    ACK_CSV = "ack-csv"
    DOWNLINK_CSV = "downlink-csv"


class Direction(StrEnum):
    """The direction of a flow's data, as the test's client sees it."""

    UPLOAD = "upload"
    DOWNLOAD = "download"


@dataclass(frozen=True)
class ImportedFlow:
    """One flow at one end.

    columns: int64 arrays of equal length, `elapsed_us` first and strictly increasing (not falling when is_per_ack), named as in
    `docs/fields.csv`; per-ACK sources add ack_rtt_us (-1 for none), snd_nxt_bytes and lost_total_segments.
    direction: None where the source does not say. start_s: when it began, from the test's first flow on.
    """

    flow: int
    point: Point
    columns: Mapping[str, Ints]
    is_per_ack: bool = False
    congestion_control: str | None = None
    direction: Direction | None = None
    start_s: float = 0.0
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def samples(self) -> int:
        return len(self.columns["elapsed_us"])

    @property
    def duration_s(self) -> float:
        """Seconds from the flow's start to its last sample: the first one may be of a second's end."""
        return float(self.columns["elapsed_us"][-1]) / 1e6


@dataclass(frozen=True)
class ToolSummary:
    """The values that the tool itself prints for all flows of one direction. omitted_s: seconds at the start that it does not count."""

    direction: Direction
    sent_bps: float | None = None
    received_bps: float | None = None
    retransmitted_segments: int | None = None
    duration_s: float | None = None
    omitted_s: float | None = None


@dataclass(frozen=True)
class Content:
    """The result of a format's reader: an ImportedTrace before its origin is known.

    test: the test's name and title. failure: why the test failed, as the file says; then there may be no flows. left_out: parts
    that cannot be used.
    """

    flows: tuple[ImportedFlow, ...]
    started_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    test: str | None = None
    failure: str | None = None
    summaries: tuple[ToolSummary, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True)
class ImportedTrace:
    """One test of an imported file. sha256: of the file as it came, or of the test's own bytes where a file holds several."""

    kind: SourceKind
    name: str
    sha256: str
    content: Content

    @property
    def flows(self) -> tuple[ImportedFlow, ...]:
        return self.content.flows

    @property
    def started_at(self) -> datetime | None:
        return self.content.started_at

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.content.metadata

    @property
    def test(self) -> str | None:
        return self.content.test

    @property
    def failure(self) -> str | None:
        return self.content.failure


class UnreadableError(Exception):
    """The file is refused; the text is the end of a sentence, to which the caller adds the file's name."""


def refused(name: str, why: str) -> InvalidError:
    return InvalidError("import_refused", f"{name} is not imported: {why}.", {"file": name, "reason": why})
