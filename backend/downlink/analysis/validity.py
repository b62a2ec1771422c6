"""Reasons for which a flow's trace must not count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.binning import MAX_GAP_US
from downlink.analysis.series import Columns, has_every_ack
from downlink.domain.traces.sample import FieldKind, fields

MIN_COVERED_RATIO = 0.9
MIN_RATE_HZ = 10.0


@dataclass(frozen=True)
class TraceFault:
    """reason: a code of `docs/agent-protocol.md` section 7. detail: a sentence for people."""

    reason: str
    detail: str


def find_fault(columns: Columns, first_byte_us: int, last_byte_us: int, dropped_samples: int = 0) -> TraceFault | None:
    """Explain why this trace cannot stand for its flow; None if it can.

    columns: the fields of one trace. first_byte_us, last_byte_us: the transfer on the clock of the samples. A trace must
    hold samples, and no counter may fall. Polls must cover 90 % of the transfer (time in gaps over 2 s is not covered) and
    average 10 a second. Of ACKs 90 % must be on record: how many came, and when, is the flow's own doing. Probes that are
    not there are a finding. dropped_samples: ACKs that were not recorded.
    """
    time_us = columns.get("elapsed_us", np.zeros(0, np.int64))
    within = time_us[(time_us >= first_byte_us) & (time_us <= last_byte_us)]
    if not len(within):
        return TraceFault("no_samples", "There is no sample of the transfer.")
    if fallen := [name for name in columns if fields()[name].kind is FieldKind.COUNTER and _falls(columns[name])]:
        return TraceFault("internal", f"Counters fell, as if two sockets were mixed: {', '.join(fallen)}.")
    if "probe_number" in columns:
        return None
    if has_every_ack(columns):
        return _few_acks(len(time_us), dropped_samples)
    return _few_polls(within, first_byte_us, last_byte_us)


def _few_acks(recorded: int, dropped: int) -> TraceFault | None:
    if recorded >= MIN_COVERED_RATIO * (recorded + dropped):
        return None
    return TraceFault(
        "thin_trace",
        f"{dropped} of {recorded + dropped} ACKs were not recorded; at least {MIN_COVERED_RATIO:.0%} must be.",
    )


def _few_polls(within: NDArray[np.int64], first_byte_us: int, last_byte_us: int) -> TraceFault | None:
    length_us = max(1, last_byte_us - first_byte_us)
    covered = 1 - _in_gaps_us(within, first_byte_us, last_byte_us) / length_us
    if covered < MIN_COVERED_RATIO:
        return TraceFault(
            "thin_trace", f"Samples cover {covered:.0%} of the transfer; at least {MIN_COVERED_RATIO:.0%} is needed."
        )
    rate_hz = len(within) * 1e6 / length_us
    if rate_hz < MIN_RATE_HZ:
        return TraceFault(
            "thin_trace", f"{rate_hz:.1f} samples a second were taken; at least {MIN_RATE_HZ:g} are needed."
        )
    return None


def _falls(counter: NDArray[np.int64]) -> bool:
    return bool((np.diff(counter) < 0).any())


def _in_gaps_us(within: NDArray[np.int64], first_byte_us: int, last_byte_us: int) -> int:
    gaps_us = np.diff(within, prepend=first_byte_us, append=last_byte_us)
    return int(gaps_us[gaps_us > MAX_GAP_US].sum())
