"""The idle link's round-trip time: its least value, how the rest is distributed, and for how long it stays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from downlink.analysis.linkfit.estimate import Estimate, over_runs
from downlink.analysis.linkfit.recordings import Acks, Echoes, Floats, Recorded

WINDOW_S = 2.0
LEAST_IN_WINDOW = 10
HOLDS_S = np.geomspace(2 * WINDOW_S, 120, 100)
LEAST_RANGE_MS = 0.3
"""The least variation that is written down."""
USUAL_HOLD_MS = 20.0
"""Time for which a change from one probe to the next is held: nothing says how much faster it is."""
MOST_POINTS = 12
FRAME_SLACK_MS = 1.0
USUAL_RANGE = 1.3
ALIKE = 0.8
Quantiles = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Part:
    """A part of the delay that is drawn every hold_ms. quantiles: points (share of draws, ms), from 0 ms on."""

    hold_ms: Estimate
    quantiles: Quantiles


@dataclass(frozen=True)
class Delays:
    """least_ms: round trip, when nothing waits for a frame. slow: what outlasts 2 s; fast: what does not; None where neither is seen.
    is_idle: probes of an idle link said so; else the least round-trip time of flows."""

    least_ms: Estimate
    slow: Part | None
    fast: Part | None
    is_idle: bool


@dataclass(frozen=True)
class _Windows:
    """A probe flow in windows: the level of each (NaN where it is not known), and how far single round-trip times lie above it."""

    level_ms: Floats
    above_ms: Floats


def delays(recorded: Recorded, frame_ms: float | None, slot_s: float | None) -> Delays | None:
    """frame_ms: answers wait for a frame of the return channel, from nothing to so long. slot_s: how often the link is known to
    change as a whole. None where nothing gave a round-trip time."""
    if not recorded.idle:
        return _of_flows(recorded.flows)
    idle = recorded.idle
    echoes = sum(int(each.answered.sum()) for each in idle)
    least = over_runs(idle, _least_ms, f"{echoes} echoes of {len(idle)} idle runs")
    least = Estimate(least.value, max(least.error, LEAST_RANGE_MS / 3), least.n)
    windows = [_windows(each, frame_ms) for each in idle]
    slow = _slow(windows, least.value, slot_s)
    fast = None if frame_ms is not None else _fast(idle, windows if slow else None, least.value)
    return Delays(least, slow, fast, is_idle=True)


def _of_flows(flows: Sequence[Acks]) -> Delays | None:
    seen = [flow for flow in flows if np.any(flow.rtt_us > 0)]
    if not seen:
        return None
    least = over_runs(
        seen, lambda some: min(float(f.rtt_us[f.rtt_us > 0].min()) / 1e3 for f in some), f"{len(seen)} flows"
    )
    return Delays(least, None, None, is_idle=False)


def _least_ms(idle: Sequence[Echoes]) -> float:
    return min(float(each.rtt_us[each.answered].min()) / 1e3 for each in idle)


def _windows(probe: Echoes, frame_ms: float | None) -> _Windows:
    """The level is what each echo has beside the wait for a frame or, without frames, the window's least."""
    number = ((probe.sent_us - probe.sent_us[0]) // round(WINDOW_S * 1e6)).astype(int)
    level, above = np.full(number[-1] + 1, math.nan), []
    for window in range(len(level)):
        rtt = probe.rtt_us[(number == window) & probe.answered] / 1e3
        if len(rtt) < LEAST_IN_WINDOW:
            continue
        if frame_ms is None:
            level[window] = rtt.min()
        elif np.ptp(rtt) <= frame_ms + FRAME_SLACK_MS:  # else the level changed meanwhile
            level[window] = (rtt.min() + rtt.max() - frame_ms) / 2
        above.append(rtt - rtt.min())
    # Where the level changed within a window, or a handover held probes back, the range is not that of short changes alone.
    usual = USUAL_RANGE * float(np.median([np.ptp(each) for each in above])) if above else 0.0
    calm = [each for each in above if np.ptp(each) <= usual]
    return _Windows(level, np.concatenate(calm) if calm else np.zeros(0))


def _slow(windows: Sequence[_Windows], least_ms: float, slot_s: float | None) -> Part | None:
    """Fit the differences from window to window; None if chance makes as much of those within windows."""
    levels = np.concatenate([each.level_ms for each in windows])
    levels = levels[np.isfinite(levels)]
    if len(levels) < 2 or np.quantile(levels, 0.9) - np.quantile(levels, 0.1) < LEAST_RANGE_MS:
        return None
    share = _lasting(windows)
    if share < 0.5:
        return None
    known = Estimate(slot_s or 0.0, 0.0, "the period of handovers")
    estimate = over_runs(windows, _hold_s, f"{len(levels)} windows of {WINDOW_S:g} s")
    hold = known if slot_s else estimate
    return Part(Estimate(hold.value * 1e3, hold.error * 1e3, hold.n), quantile_points(levels - least_ms))


def _variogram(windows: Sequence[_Windows]) -> tuple[Floats, Floats, Floats]:
    """Half the mean squared difference of levels, by lag in s up to half the longest run; and how many pairs each is of."""
    most = max(2, max(len(each.level_ms) for each in windows) // 2)
    lags, values, pairs = [], [], []
    for lag in range(1, most + 1):
        off = np.concatenate([each.level_ms[lag:] - each.level_ms[:-lag] for each in windows])
        off = off[np.isfinite(off)]
        if len(off):
            lags.append(lag * WINDOW_S)
            values.append(float(off @ off) / len(off) / 2)
            pairs.append(len(off))
    return np.array(lags), np.array(values), np.array(pairs, float)


def _fitted(variogram: tuple[Floats, Floats, Floats], hold_s: float) -> tuple[Floats, float]:
    """Fit levels that are drawn each hold_s: return the variance within and between draws, and the remaining error."""
    lags, values, pairs = variogram
    weight = np.sqrt(pairs)
    model = np.stack([np.ones(len(lags)), np.minimum(lags / hold_s, 1)], axis=1)
    parts, left = scipy.optimize.nnls(model * weight[:, None], values * weight)
    return parts, float(left)


def _hold_s(windows: Sequence[_Windows]) -> float:
    variogram = _variogram(windows)
    return float(HOLDS_S[int(np.argmin([_fitted(variogram, hold)[1] for hold in HOLDS_S]))])


def _lasting(windows: Sequence[_Windows]) -> float:
    """The share of the levels' variance that outlasts a window."""
    variogram = _variogram(windows)
    if len(variogram[0]) < 2:
        return 0.0
    parts = _fitted(variogram, _hold_s(windows))[0]
    return float(parts[1] / parts.sum()) if parts.sum() > 0 else 0.0


def _fast(idle: Sequence[Echoes], windows: Sequence[_Windows] | None, least_ms: float) -> Part | None:
    if windows is None:
        above = np.concatenate([each.rtt_us[each.answered] / 1e3 - least_ms for each in idle])
    else:
        above = np.concatenate([each.above_ms for each in windows])
    if len(above) < LEAST_IN_WINDOW or np.quantile(above, 0.95) < LEAST_RANGE_MS:
        return None
    return Part(_fast_hold(idle, f"{len(above)} echoes"), quantile_points(above))


def _fast_hold(idle: Sequence[Echoes], n: str) -> Estimate:
    """Estimate the hold from the likeness of neighbours; without an error, and at most USUAL_HOLD_MS, if they are not alike."""
    every_ms = min(each.every_us for each in idle) / 1e3
    if _likeness(idle) < ALIKE:
        return over_runs(idle, lambda some: every_ms / max(_likeness(some), 0.01), n)
    return Estimate(min(every_ms, USUAL_HOLD_MS), math.nan, n)


def _likeness(idle: Sequence[Echoes]) -> float:
    """The square of how much an echo differs from the one before, over that from the one three before; by medians, since handovers
    and changes of the level are rare."""
    rtts = [np.where(each.answered, each.rtt_us / 1e3, math.nan) for each in idle]
    near, far = (
        float(np.nanmedian(np.concatenate([np.abs(rtt[lag:] - rtt[:-lag]) for rtt in rtts]))) for lag in (1, 3)
    )
    return (near / far) ** 2 if far > 0 else 1.0


def quantile_points(values: Floats, *, from_zero: bool = True) -> Quantiles:
    """Points between which the quantile function of values runs straight, as few as leave it within 1 % of their range."""
    ratios = np.linspace(0, 1, max(2, min(len(values), 400)))
    curve = np.maximum(0, np.quantile(values, ratios))
    if from_zero:
        curve -= curve[0]
    kept = [0, len(ratios) - 1]
    while len(kept) < min(MOST_POINTS, len(ratios)):
        off = np.abs(np.interp(ratios, ratios[kept], curve[kept]) - curve)
        if off.max() <= 0.01 * np.ptp(curve):
            break
        kept = sorted({*kept, int(off.argmax())})
    return tuple((round(float(ratios[i]), 4), round(float(curve[i]), 2)) for i in kept)
