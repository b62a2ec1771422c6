"""Verdicts of detectors about a trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from downlink.analysis.exits.trace import AckTrace

UNDECIDABLE = "not decidable at this sampling"


class DetectorId(NamedTuple):
    """The identity of a detector. detect: HyStart's mask (1 ACK train, 2 delay, 3 both)."""

    detector: str
    version: str
    detect: int | None

    @classmethod
    def of(cls, detector: str, version: str, parameters: Mapping[str, Any]) -> DetectorId:
        return cls(detector, version, parameters.get("detect"))


@dataclass(frozen=True)
class Verdict:
    """The moment at which a detector would have ended slow start, and the reason.

    exit_us: microseconds since the flow's first data byte; None when it never did. cwnd_segments: the window at that row.
    parameters: everything the verdict depends on besides the trace. quantities: the numbers that decided. is_decidable: False
    where the samples do not allow an answer. is_too_late: the exit came at or after the flow's first loss.
    cwnd_source: `recorded`, or `modelled` where the flow itself was no longer in slow start.
    """

    detector: str
    version: str
    exit_us: int | None
    cwnd_segments: int | None
    parameters: Mapping[str, Any]
    reason: str
    quantities: Mapping[str, Any] = field(default_factory=dict)
    is_decidable: bool = True
    is_too_late: bool = False
    cwnd_source: str | None = None

    @property
    def identity(self) -> DetectorId:
        return DetectorId.of(self.detector, self.version, self.parameters)


@dataclass(frozen=True)
class Rule:
    """The judge: a detector's name, its version and its parameters."""

    detector: str
    version: str
    parameters: Mapping[str, Any]

    def undecidable(self, why: str) -> Verdict:
        return self._silent(f"{UNDECIDABLE}: {why}", {}, is_decidable=False)

    def never(self, why: str, quantities: Mapping[str, Any] | None = None) -> Verdict:
        """No exit in the whole trace."""
        return self._silent(why, quantities or {})

    def without_exit(self, trace: AckTrace, why: str, quantities: Mapping[str, Any]) -> Verdict:
        """No exit, either to the end of the trace or to the loss that ended slow start."""
        if trace.loss_us is not None:
            why = f"slow start ended with the first loss at {trace.loss_us / 1e6:.3f} s; until then {why}"
        return self._silent(why, quantities)

    def exit_at(
        self, trace: AckTrace, row: int, why: str, quantities: Mapping[str, Any], *, cwnd: int | None = None
    ) -> Verdict:
        """An exit at a row; one that the first loss forestalled keeps its time and is marked as too late (decision 0020).

        cwnd: the window, where it is not the slow-start window of the row.
        """
        is_too_late = trace.loss_row is not None and row >= trace.loss_row
        if is_too_late and trace.loss_us is not None:
            why = f"{why}; too late: slow start ended with the first loss at {trace.loss_us / 1e6:.3f} s"
        source = "recorded" if cwnd is None and trace.is_cwnd_recorded(row) else "modelled"
        window = int(trace.slow_start_cwnd_segments[row]) if cwnd is None else cwnd
        return self._at(trace, row, window, why, quantities, is_too_late=is_too_late, cwnd_source=source)

    def seen_at(self, trace: AckTrace, row: int, why: str, quantities: Mapping[str, Any]) -> Verdict:
        """Return a verdict about what the flow itself did at a row, with the window that it had there."""
        cwnd = None if trace.cwnd_segments is None else int(trace.cwnd_segments[row])
        return self._at(trace, row, cwnd, why, quantities, cwnd_source=None if cwnd is None else "recorded")

    def _at(
        self, trace: AckTrace, row: int, cwnd: int | None, why: str, quantities: Mapping[str, Any], **marks: Any
    ) -> Verdict:
        at_us = int(trace.time_us[row])
        return Verdict(self.detector, self.version, at_us, cwnd, self.parameters, why, quantities, **marks)

    def _silent(self, reason: str, quantities: Mapping[str, Any], *, is_decidable: bool = True) -> Verdict:
        return Verdict(
            self.detector, self.version, None, None, self.parameters, reason, quantities, is_decidable=is_decidable
        )
