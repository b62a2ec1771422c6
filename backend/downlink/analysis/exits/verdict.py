"""What a detector says about a trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from downlink.analysis.exits.trace import AckTrace

UNDECIDABLE = "not decidable at this sampling"


@dataclass(frozen=True)
class Verdict:
    """When a detector would have ended slow start, and why.

    exit_us: microseconds since the trace's first row; None when it never did. An exit at or after the flow's first loss
    came too late: the reason says so and `quantities.is_too_late` is true. cwnd_segments: the window at that row.
    parameters: everything the verdict depends on besides the trace. quantities: the numbers that decided.
    """

    detector: str
    version: str
    exit_us: int | None
    cwnd_segments: int | None
    parameters: Mapping[str, Any]
    reason: str
    quantities: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_decidable(self) -> bool:
        return not self.reason.startswith(UNDECIDABLE)


@dataclass(frozen=True)
class Rule:
    """Who judges: the detector's name, its version and its parameters."""

    detector: str
    version: str
    parameters: Mapping[str, Any]

    def undecidable(self, why: str) -> Verdict:
        return self._silent(f"{UNDECIDABLE}: {why}", {})

    def without_exit(self, trace: AckTrace, why: str, quantities: Mapping[str, Any]) -> Verdict:
        """No exit, either to the end of the trace or to the loss that ended slow start."""
        if trace.loss_row is not None:
            loss_s = int(trace.time_us[trace.loss_row]) / 1e6
            why = f"slow start ended with the first loss at {loss_s:.3f} s; until then {why}"
        return self._silent(why, quantities)

    def exit_at(
        self, trace: AckTrace, row: int, why: str, quantities: Mapping[str, Any], *, cwnd: int | None = None
    ) -> Verdict:
        """An exit at a row; one that the first loss forestalled keeps its time and is marked as too late (decision 0020).

        cwnd: the window, where it is not the slow-start window of the row.
        """
        at_us = int(trace.time_us[row])
        is_too_late = trace.loss_row is not None and row >= trace.loss_row
        if is_too_late:
            why = f"{why}; too late: slow start ended with the first loss at {int(trace.time_us[trace.loss_row]) / 1e6:.3f} s"
            quantities = {**quantities, "is_too_late": True}
        source = {"cwnd_source": "recorded" if cwnd is None and trace.is_cwnd_recorded(row) else "modelled"}
        window = int(trace.slow_start_cwnd_segments[row]) if cwnd is None else cwnd
        return Verdict(self.detector, self.version, at_us, window, self.parameters, why, {**quantities, **source})

    def _silent(self, reason: str, quantities: Mapping[str, Any]) -> Verdict:
        return Verdict(self.detector, self.version, None, None, self.parameters, reason, quantities)
