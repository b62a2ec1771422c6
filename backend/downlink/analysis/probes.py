"""Results of a probe flow: round-trip times and losses that do not come from TCP."""

from __future__ import annotations

import numpy as np

from downlink.analysis.binning import BIN_US, LAST_BIN_TOLERANCE_US, Floats, divide
from downlink.analysis.series import COUNTED, Columns, FlowSeries, RttSamples
from downlink.domain.results.metric import QUANTITIES

RTT_FIELD = "probe_rtt_us"
"""Field of the sender's trace: -1 for a probe without an answer."""
USED_FIELDS = ("elapsed_us", RTT_FIELD)


def probe_series(columns: Columns, first_byte_us: int, duration_s: float | None = None) -> FlowSeries:
    """The series of a probe flow from its sender's trace: in each second the mean round-trip time of the probes that were sent in
    it and came back, and the share of those that did not. A flow of probes has no throughput and no window.

    columns: `elapsed_us`, rising, and `probe_rtt_us`. first_byte_us: the first probe on the clock of the samples.
    duration_s: the last second that is not full is left out.
    """
    sent_us = columns["elapsed_us"] - first_byte_us
    rtt_us = columns[RTT_FIELD]
    end_us = int(sent_us[-1]) if duration_s is None and len(sent_us) else round((duration_s or 0) * 1e6)
    bins = max(0, (end_us + LAST_BIN_TOLERANCE_US) // BIN_US)
    bin_of = sent_us // BIN_US
    is_inside = (bin_of >= 0) & (bin_of < bins)
    is_lost = rtt_us < 0
    sent, lost, answered = (
        np.bincount(bin_of[is_inside & which], minlength=bins).astype(float)
        for which in (np.ones(len(bin_of), bool), is_lost, ~is_lost)
    )
    came_back = is_inside & ~is_lost
    sums_ms = np.bincount(bin_of[came_back], weights=rtt_us[came_back] / 1e3, minlength=bins).astype(float)
    rows = {"rtt_ms": divide(sums_ms, answered), "probe_loss_percent": 100 * divide(lost, sent)}
    absent = np.full(bins, np.nan)
    counted = {"probes_sent": sent, "probes_lost": lost}
    return FlowSeries(
        values=np.stack([rows.get(name, absent) for name in QUANTITIES]),
        counted=np.stack([counted.get(name, absent) for name in COUNTED]),
        length_s=np.ones(bins),
        rtts=RttSamples(_seconds(sent_us[came_back]), rtt_us[came_back] / 1e3),
    )


def _seconds(moments_us: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Floats:
    seconds: Floats = moments_us / BIN_US
    return seconds
