"""A test of another tool as it is kept: its flows packed, small enough to hold many of them while the rest is checked."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from downlink.codec.chunk import MAX_SAMPLES, PART_CHUNKS
from downlink.codec.flow_shape import CC_NAME
from downlink.codec.parquet import columns_to_parquet
from downlink.domain.campaigns.campaign import Condition, Sampling, StopRule
from downlink.domain.campaigns.flow_plan import FlowPlan, Tcp
from downlink.domain.partial import LeftOut
from downlink.domain.runs.outcome import FlowOutcome
from downlink.domain.traces.point import Point
from downlink.importers.model import ImportedFlow, ImportedTrace, ToolSummary

UNKNOWN = "unknown"
MAX_CONDITION_CHARS = 100
PART_SAMPLES = PART_CHUNKS * MAX_SAMPLES


@dataclass(frozen=True)
class SealedTrace:
    """One point of a flow, packed: parts are Parquet with its number of samples. start_s: from the test's first flow on."""

    flow: int
    point: Point
    control: str | None
    direction: str | None
    start_s: float
    outcome: FlowOutcome
    parts: tuple[tuple[bytes, int], ...]


@dataclass(frozen=True)
class SealedFile:
    """A checked test, small enough to keep many of them while the rest is checked.

    test, failure, summaries: what its file says of the test, why it failed, and the tool's own totals. left_out: parts of it that
    cannot be used.
    """

    name: str
    source: str
    sha256: str
    started_at: datetime | None
    duration_s: float
    traces: tuple[SealedTrace, ...]
    test: str | None
    failure: str | None
    summaries: tuple[ToolSummary, ...]
    left_out: tuple[LeftOut, ...] = ()

    @cached_property
    def controls(self) -> dict[int, str | None]:
        """The congestion control of each flow, by number; None where the file does not say."""
        control_of: dict[int, str | None] = {}
        for trace in self.traces:
            control_of[trace.flow] = control_of.get(trace.flow) or trace.control
        return dict(sorted(control_of.items()))

    def condition(self, name: str | None) -> Condition:
        """Return the condition of the file's run: its author's name, or one from the test and its flows."""
        numbers = range(1, max(self.controls, default=0) + 1)  # one between them may be left out
        flows = tuple(FlowPlan(Tcp(self.controls.get(each) or UNKNOWN)) for each in numbers)
        return Condition(name or self._default_condition(), {}, {}, flows or (FlowPlan(Tcp(UNKNOWN)),), StopRule())

    def _default_condition(self) -> str:
        """Test, controls and directions: what differs in one of them is not to be averaged."""
        unnamed = UNKNOWN if any(self.controls.values()) else self.source
        directions = {trace.flow: trace.direction for trace in self.traces}
        flows = [f"{cc or unnamed} {directions[flow] or ''}".strip() for flow, cc in self.controls.items()]
        counted = Counter(flows or [self.source]).items()
        told = " + ".join(label if count == 1 else f"{count} x {label}" for label, count in counted)
        return _shortened(f"{self.test}: {told}" if self.test else told)


def _shortened(name: str) -> str:
    return name if len(name) <= MAX_CONDITION_CHARS else f"{name[: MAX_CONDITION_CHARS - 1]}…"


def seal_file(trace: ImportedTrace) -> SealedFile:
    """An imported test's flows as they are kept."""
    duration_s = max((flow.start_s + int(flow.columns["elapsed_us"][-1]) / 1e6 for flow in trace.flows), default=0.0)
    origin = (trace.name, trace.kind.value, trace.sha256, trace.started_at)
    told = (trace.test, trace.failure, trace.content.summaries, trace.content.left_out)
    return SealedFile(*origin, duration_s, tuple(_seal(flow) for flow in trace.flows), *told)


def _seal(flow: ImportedFlow) -> SealedTrace:
    pieces = tuple(
        ({name: values[start : start + PART_SAMPLES] for name, values in flow.columns.items()})
        for start in range(0, flow.samples, PART_SAMPLES)
    )
    parts = tuple((columns_to_parquet(piece), len(piece["elapsed_us"])) for piece in pieces)
    control = flow.congestion_control
    known = control if control and re.fullmatch(CC_NAME, control) else None
    outcome = _outcome(flow, known, len(chunk_sizes(flow.samples)))
    return SealedTrace(flow.flow, flow.point, known, flow.direction, flow.start_s, outcome, parts)


def chunk_sizes(samples: int) -> list[int]:
    """The samples of each chunk, as an agent would have cut so many."""
    return [min(MAX_SAMPLES, samples - start) for start in range(0, samples, MAX_SAMPLES)]


def _outcome(flow: ImportedFlow, control: str | None, chunks: int) -> FlowOutcome:
    """Return the outcome that an agent would have reported, as far as the file has it; without a last byte, sampling is not checked."""
    carried = ("app_bytes", "received_bytes", "acked_bytes")
    app_bytes = next((int(flow.columns[name][-1]) for name in carried if name in flow.columns), None)
    sampling = Sampling.PER_ACK if flow.is_per_ack else Sampling.POLLED
    return FlowOutcome(
        first_byte_us=0,
        app_bytes=app_bytes,
        actual_cc=control if flow.point == Point.SENDER else None,
        sampling=sampling if flow.point == Point.SENDER else None,
        samples=flow.samples,
        chunks=chunks,
    )
