"""The quantities of Kachooei 2023 (SEARCH): bytes sent one RTT ago against bytes delivered now, over a long sliding window (SEARCH 1.0).

Times in microseconds since the flow's first data byte. Window = factor x first RTT, split into bins. What the paper leaves open:
`docs/exits.md`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.exits.bins import BinClock, hook_rows, too_coarse
from downlink.analysis.exits.sweep_parameters import swept
from downlink.analysis.exits.trace import AckTrace, Ints
from downlink.analysis.exits.verdict import Rule, Verdict

Floats = NDArray[np.float64]

TOTAL_BINS = 25
CAPACITY_NORM = 0.10


@dataclass(frozen=True)
class Search10:
    """Parameters of version 1.0. threshold_ratio: of the sent bytes, exceeded strictly."""

    window_factor: int = swept(35, 1, 10, "RTT", "Length of the window", steps=10)
    bins: int = swept(10, 2, 20, "bins", "Bins in the window")
    threshold_ratio: float = swept(0.25, 0.01, 1, "ratio", "Norm above which slow start ends", steps=0)

    @property
    def clock(self) -> BinClock:
        return BinClock(self.window_factor, self.bins, is_strict=True)


@dataclass(frozen=True)
class SlidingCurves:
    """The curves of Figures 4 to 7, one value per closed bin. NaN where a window does not fit yet.

    sent_bytes, norm_ratio: out of the bins. best_*: out of every row. delivered_bytes: the same for both, as a bin ends now.
    error_ratio: |norm - best norm|. rows: the row at which the bin was found to be full.
    """

    bin_us: int
    rows: Ints
    time_us: Ints
    sent_bytes: Floats
    delivered_bytes: Floats
    norm_ratio: Floats
    best_sent_bytes: Floats
    best_norm_ratio: Floats

    @property
    def error_ratio(self) -> Floats:
        return np.abs(self.norm_ratio - self.best_norm_ratio)

    def first_above(self, ratio: float, last_row: int | None = None) -> int | None:
        """Position of the first bin whose norm exceeds the ratio; of those found to be full by last_row, where one is given."""
        hits = np.flatnonzero(self.norm_ratio > ratio)
        return int(hits[0]) if hits.size and (last_row is None or self.rows[hits[0]] <= last_row) else None


@dataclass(frozen=True)
class ExitTimes:
    """One row of material for Table I of Kachooei 2023 (SEARCH), in microseconds; None when it never happened out of slow start.

    cg_us: norm above 0.10, the paper's capacity point. ex_us: SEARCH leaves slow start. dp_us: first loss. hr_us: headroom, dp - ex.
    is_success: cg <= ex < dp; a run that lost nothing counts as an endless dp.
    """

    cg_us: int | None
    ex_us: int | None
    dp_us: int | None

    @property
    def hr_us(self) -> int | None:
        return None if self.ex_us is None or self.dp_us is None else self.dp_us - self.ex_us

    @property
    def is_success(self) -> bool:
        if self.ex_us is None or self.cg_us is None:
            return False
        return self.cg_us <= self.ex_us and (self.dp_us is None or self.ex_us < self.dp_us)


def sliding_curves(trace: AckTrace, parameters: Search10 | None = None, *, whole_bins: bool = False) -> SlidingCurves:
    """All curves over the whole trace. The trace must know what was sent and be fine enough (see `too_coarse`).

    whole_bins: what was sent a round trip ago is summed to the nearest bin's edge, as in the pseudocode of Kachooei 2023; else a bin's
    part counts too, as in the later versions.
    """
    asked = parameters or Search10()
    if trace.snd_nxt_bytes is None:
        raise ValueError("the sliding window needs the bytes sent")
    hooked = hook_rows(trace)
    time_us = trace.time_us[hooked]
    bin_us = asked.clock.bin_us(int(trace.rtt_us[hooked[0]]))
    # Closed bins, by the row that finds them closed; a row after a silence closes several and judges the newest.
    indices = (time_us - time_us[0] - 1) // bin_us
    closing = np.flatnonzero(np.diff(indices, prepend=0) > 0)
    bins, rtt_us = indices[closing], np.maximum(trace.rtt_us[hooked[closing]], 1)
    ends_us = time_us[0] + bins * bin_us
    sent, acked = trace.snd_nxt_bytes[hooked], trace.acked_bytes[hooked]
    ago_us = (2 * rtt_us + bin_us) // (2 * bin_us) * bin_us if whole_bins else rtt_us
    window = _Window(time_us, bin_us, asked.bins)

    sent_window = window.binned(sent, bins, ago_us)
    delivered_window = window.growth(acked, ends_us)
    best_sent = window.growth(sent, ends_us - rtt_us)
    return SlidingCurves(
        bin_us, hooked[closing], time_us[closing],
        sent_window, delivered_window, _norm(sent_window, delivered_window),
        best_sent, _norm(best_sent, delivered_window),
    )  # fmt: skip


@dataclass(frozen=True)
class _Window:
    """A window of `bins` bins over rows at time_us."""

    time_us: Ints
    bin_us: int
    bins: int

    def growth(self, counter: Ints, ends_us: Ints) -> Floats:
        """Growth of a counter over each (end - window, end]; NaN where the window begins before the trace."""
        starts_us = ends_us - self.bins * self.bin_us
        late = counter[np.searchsorted(self.time_us, ends_us, side="right") - 1]
        early = counter[np.searchsorted(self.time_us, starts_us, side="right") - 1]
        return np.where(starts_us >= self.time_us[0], late - early, np.nan)

    def binned(self, counter: Ints, closed: Ints, ago_us: Ints) -> Floats:
        """The same of the window that ended `ago_us` before a bin closed, out of whole bins; a part of a bin counts in proportion."""
        earlier, part = closed - ago_us // self.bin_us, ago_us % self.bin_us / self.bin_us
        newer = self.growth(counter, self.time_us[0] + earlier * self.bin_us)
        older = self.growth(counter, self.time_us[0] + (earlier - 1) * self.bin_us)
        is_held = closed - earlier + self.bins < TOTAL_BINS - 1
        return np.where(is_held, newer * (1 - part) + older * part, np.nan)


def _norm(sent: Floats, delivered: Floats) -> Floats:
    return np.divide(sent - delivered, sent, out=np.full_like(sent, np.nan), where=sent > 0)


def exit_times(trace: AckTrace, curves: SlidingCurves) -> ExitTimes:
    """cg, ex and dp of one run. The curve counts as long as what it compares was sent in slow start (decision 0052)."""

    def when(ratio: float) -> int | None:
        position = curves.first_above(ratio, trace.last_curve_row)
        return None if position is None else int(curves.time_us[position])

    return ExitTimes(when(CAPACITY_NORM), when(Search10().threshold_ratio), trace.loss_us)


def mean_error_ratio(trace: AckTrace, curves: SlidingCurves) -> float | None:
    """The mean of Figure 6b: |norm - best norm| over the bins that count (see `exit_times`); None without such a bin."""
    is_counted = np.isfinite(curves.error_ratio) & (curves.rows <= trace.last_curve_row)
    return float(curves.error_ratio[is_counted].mean()) if is_counted.any() else None


def judge_search_10(
    trace: AckTrace, parameters: Search10 | None = None, curves: SlidingCurves | None = None
) -> Verdict:
    """SEARCH 1.0 as Kachooei 2023 describes it, with the history of the later versions. curves: where they are known already."""
    asked = parameters or Search10()
    rule = Rule("search", "1.0", asdict(asked))
    if trace.snd_nxt_bytes is None:
        return rule.undecidable("the trace does not say what was sent")
    if why := too_coarse(trace, asked.clock):
        return rule.undecidable(why)
    curves = curves or sliding_curves(trace, asked)
    quantities = {"bin_us": curves.bin_us}
    hit = curves.first_above(asked.threshold_ratio)
    if hit is None:
        return rule.without_exit(trace, f"the norm never exceeded {asked.threshold_ratio:g}", quantities)
    norm = float(curves.norm_ratio[hit])
    sums = {
        "norm_ratio": norm,
        "sent_bytes": float(curves.sent_bytes[hit]),
        "delivered_bytes": float(curves.delivered_bytes[hit]),
    }
    reason = f"norm {norm:.3f} > {asked.threshold_ratio:g}"
    return rule.exit_at(trace, int(curves.rows[hit]), reason, {**quantities, **sums})
