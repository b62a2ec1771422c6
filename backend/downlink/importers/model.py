"""What an imported file becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from downlink.domain.errors import InvalidError
from downlink.domain.sample import End

Ints = NDArray[np.int64]


class SourceKind(StrEnum):
    """The formats that are read."""

    IPERF3 = "iperf3"
    NDT7 = "ndt7"
    TCP_INFO = "tcp-info"
    FLENT = "flent"
    ACK_CSV = "ack-csv"
    DOWNLINK_CSV = "downlink-csv"


@dataclass(frozen=True)
class ImportedFlow:
    """One flow at one end.

    columns: int64 arrays of equal length, `elapsed_us` first and strictly increasing (not falling when is_per_ack), named as in
    `docs/fields.csv`; per-ACK sources add ack_rtt_us (-1 for none), snd_nxt_bytes and lost_total_segments.
    """

    flow: int
    end: End
    columns: Mapping[str, Ints]
    is_per_ack: bool = False
    congestion_control: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def samples(self) -> int:
        return len(self.columns["elapsed_us"])

    @property
    def duration_s(self) -> float:
        elapsed_us = self.columns["elapsed_us"]
        return float(elapsed_us[-1] - elapsed_us[0]) / 1e6


@dataclass(frozen=True)
class ImportedTrace:
    """One imported file. sha256: of the file as it came. started_at: when the source says so. metadata: what the source tells besides."""

    kind: SourceKind
    name: str
    sha256: str
    started_at: datetime | None
    flows: tuple[ImportedFlow, ...]
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class Content:
    """What a reader of a format returns: an ImportedTrace before its origin is known."""

    flows: tuple[ImportedFlow, ...]
    started_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


class UnreadableError(Exception):
    """Why a file is refused, as the end of a sentence; the caller knows the file's name."""


def refused(name: str, why: str) -> InvalidError:
    return InvalidError("import_refused", f"{name} is not imported: {why}.", {"file": name, "reason": why})
