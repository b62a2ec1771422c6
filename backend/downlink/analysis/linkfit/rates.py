"""The hop's rate as a process: mean, how far and for how long it departs from that, and what changes with handovers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from downlink.analysis.linkfit.delays import Quantiles, quantile_points
from downlink.analysis.linkfit.estimate import Estimate, each_over_runs, over_runs
from downlink.analysis.linkfit.recordings import Floats
from downlink.analysis.linkfit.usage import Usage

LEAST_FULL_S = 5.0
STEP_S = 0.1
"""Step in which a varying rate is written down."""
MEMORIES_S = np.geomspace(0.05, 60, 60)
PERIODS_S = np.arange(60, 2, -0.02)
LEAST_STALLS = 12
IN_STEP = 0.9
LEAST_SD_RATIO = 0.01
"""The least variation of a rate that is not constant: rounding of acknowledgements alone comes near it."""
LONGEST_LAG_S = 30.0


@dataclass(frozen=True)
class Handovers:
    """The link stands still once in each period. lengths: points (share, ms) of how long."""

    period_s: Estimate
    median_ms: Estimate
    lengths: Quantiles


@dataclass(frozen=True)
class Rates:
    """mean_bps: of IP packets while the link was full. sd_ratio, memory_s: of a deviation that wanders; None where the rate is
    constant. slot_sd_ratio: of the slots' means, None without handovers or where they are alike. low, high: of the deviation."""

    mean_bps: Estimate
    sd_ratio: Estimate | None
    memory_s: Estimate | None
    slot_sd_ratio: Estimate | None
    low_ratio: float
    high_ratio: float
    full_s: float


def handovers(used: Sequence[Usage]) -> Handovers | None:
    """The longest period with which silences are in step; None where there are too few of them, or none is."""
    seen = [np.array(each.stalls) for each in used if len(each.stalls) >= 3]
    if sum(map(len, seen)) < LEAST_STALLS:
        return None
    score = _in_step(seen, PERIODS_S)
    score[max(float(np.ptp(each[:, 0])) for each in seen) / 2 * 1.01 < PERIODS_S] = 0
    if score.max() < IN_STEP:
        return None
    n = f"{sum(map(len, seen))} silences in {len(seen)} runs"
    # Fractions of the period are as much in step as it is: the longest one is it, at its own best.
    longest = PERIODS_S[int(np.flatnonzero(score >= max(IN_STEP, 0.97 * score.max()))[0])]
    period = float(PERIODS_S[int(np.argmax(np.where((longest * 0.8 <= PERIODS_S) & (longest >= PERIODS_S), score, 0)))])
    fine = over_runs(seen, lambda some: _finest(some, period), n)
    lengths = [_of_period(each, fine.value) for each in seen]
    median = over_runs(lengths, lambda some: float(np.median(np.concatenate(some))), n)
    return Handovers(
        Estimate(fine.value, max(fine.error, 0.01), n),
        median,
        quantile_points(np.concatenate(lengths), from_zero=False),
    )


def _in_step(seen: Sequence[Floats], periods: Floats) -> Floats:
    """Mean coherence of silences, the long ones counting more."""
    together: Floats = np.mean([_weighted(each, periods) for each in seen], axis=0)
    return together


def _weighted(stalls: Floats, periods: Floats) -> Floats:
    angles = np.exp(2j * np.pi * stalls[:, 0][:, None] / periods[None, :])
    lengths: Floats = np.abs((stalls[:, 1][:, None] * angles).sum(axis=0)) / stalls[:, 1].sum()
    return lengths


def _finest(seen: Sequence[Floats], near_s: float) -> float:
    grid = near_s * np.linspace(0.99, 1.01, 401)
    return float(grid[int(np.argmax(_in_step(seen, grid)))])


def _of_period(stalls: Floats, period_s: float) -> Floats:
    """Lengths of the silences that are in step."""
    angles = np.exp(2j * np.pi * stalls[:, 0] / period_s)
    phase = (stalls[:, 1] * angles).sum()
    in_step: Floats = stalls[np.abs(np.angle(angles / phase)) < 0.3, 1]
    return in_step


def rates(used: Sequence[Usage], slot_s: float | None) -> Rates | None:
    """None where no flow filled the link for LEAST_FULL_S."""
    seen = [each for each in used if each.full_s >= LEAST_FULL_S]
    if not seen:
        return None
    full_s = sum(each.full_s for each in seen)
    n = f"{full_s:.0f} s at the link's rate, {len(seen)} flows"
    mean = over_runs(seen, _mean_bps, n)
    parts = each_over_runs(seen, lambda some: _process(some, slot_s), n)
    varies = parts[0].value >= LEAST_SD_RATIO
    low, high = _range(seen, slot_s)
    return Rates(
        mean, parts[0] if varies else None, parts[1] if varies else None,
        parts[2] if slot_s and parts[2].value >= LEAST_SD_RATIO else None, low, high, full_s,
    )  # fmt: skip


def _mean_bps(used: Sequence[Usage]) -> float:
    return float(np.nanmean(np.concatenate([each.rate_bps for each in used])))


def _process(used: Sequence[Usage], slot_s: float | None) -> tuple[float, float, float]:
    """Standard deviation over mean and memory in s of what wanders, and the former of the slots, by their variogram."""
    bin_s = used[0].bin_s
    lags, values, pairs = _variogram(used)
    weight = np.sqrt(pairs)
    noise = np.where(lags == 1, 3.0, 2.0)
    slots = np.minimum(lags * bin_s / slot_s, 1) if slot_s else np.zeros(len(lags))
    best, left = (0.0, math.nan, 0.0), math.inf
    for memory in MEMORIES_S:
        model = np.stack([_wandering(lags, bin_s, memory), noise, slots], axis=1)
        parts, rest = scipy.optimize.nnls(model * weight[:, None], values * weight)
        if rest < left:
            best, left = (math.sqrt(parts[0]), float(memory), math.sqrt(parts[2])), rest
    mean = _mean_bps(used)
    return best[0] / mean, best[1], best[2] / mean


def _variogram(used: Sequence[Usage]) -> tuple[Floats, Floats, Floats]:
    """Half the mean squared difference of bins, by lag in bins; and how many pairs each is of. Lags are close at first, then wider."""
    most = min(max(len(each.rate_bps) for each in used) // 2, int(LONGEST_LAG_S / used[0].bin_s))
    lags = np.unique(np.round(np.geomspace(1, max(most, 2), 40)).astype(int))
    values, pairs = [], []
    for lag in lags:
        off = np.concatenate([each.rate_bps[lag:] - each.rate_bps[:-lag] for each in used])
        off = off[np.isfinite(off)]
        values.append(float(off @ off) / max(1, len(off)) / 2)
        pairs.append(len(off))
    return lags.astype(float), np.array(values), np.array(pairs, float)


def _wandering(lags: Floats, bin_s: float, memory_s: float) -> Floats:
    """The variogram of means over bins of a process of variance 1 that is drawn each STEP_S, at no fixed phase of the bins."""
    within = (np.arange(41) - 20) / 20
    weight = (1 - np.abs(within)) / (1 - np.abs(within)).sum()

    def covariance(lag_s: Floats) -> Floats:
        steps = np.abs(lag_s[:, None] + bin_s * within[None, :]) / STEP_S
        whole = np.floor(steps)
        keeps = math.exp(-STEP_S / memory_s)
        between: Floats = keeps**whole * (1 - (steps - whole) * (1 - keeps)) @ weight
        return between

    return covariance(np.zeros(1)) - covariance(lags * bin_s)


def _range(used: Sequence[Usage], slot_s: float | None) -> tuple[float, float]:
    """Return how far single bins lie from the mean of their surroundings, as ratios; 1 in 200 on either side is left out."""
    ratios = []
    for each in used:
        width = len(each.rate_bps) if slot_s is None else round(slot_s / each.bin_s)
        for begin in range(0, len(each.rate_bps), width):
            part = each.rate_bps[begin : begin + width]
            if np.isfinite(part).sum() > width / 4:
                ratios.append(part[np.isfinite(part)] / np.nanmean(part))
    if not ratios:
        return 0.5, 1.5
    low, high = np.quantile(np.concatenate(ratios), (0.005, 0.995))
    return max(0.01, min(0.999, float(low))), min(10.0, max(1.001, float(high)))
