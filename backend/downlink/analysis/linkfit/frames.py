"""The return channel's frames, from the moments at which acknowledgements and echoes come back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.linkfit.estimate import Estimate, over_runs
from downlink.analysis.linkfit.recordings import Acks, Echoes, Floats, Ints, Recorded

BURST_GAP_US = 5_000
"""Acknowledgements further apart belong to different bursts."""
BEGINNING_US = 10_000_000
LEAST_PERIOD_US, MOST_PERIOD_US = 4_000.0, 200_000.0
COHERENT = 0.9
"""Length of the mean of unit vectors at the bursts' phases: 1 when all begin at one phase. By chance it is about 1 / sqrt(n)."""
INCOHERENT = 0.5
LEAST_BURSTS = 20
ROUNDING = 1e-5


@dataclass(frozen=True)
class Bursts:
    """start_us: of each burst, its first acknowledgement; sizes: acknowledgements in it; width_us: first to last."""

    start_us: Ints
    sizes: Ints
    width_us: Ints


def bursts(time_us: Ints) -> Bursts:
    begins = np.flatnonzero(np.diff(time_us, prepend=-math.inf) > BURST_GAP_US)
    ends = np.append(begins[1:], len(time_us)) - 1
    return Bursts(time_us[begins], ends - begins + 1, time_us[ends] - time_us[begins])


def beginning(flow: Acks) -> Ints:
    """The flow's first acknowledgements, of 10 s."""
    return (
        flow.time_us[: np.searchsorted(flow.time_us, flow.time_us[0] + BEGINNING_US)]
        if len(flow.time_us)
        else flow.time_us
    )


def coherence(moments_us: Ints, period_us: Floats) -> Floats:
    """Return the coherence of moments at each of the periods, from 0 to 1, of shape (periods,)."""
    since = (moments_us - moments_us[0]).astype(float)
    lengths: Floats = np.array([abs(np.exp(2j * np.pi * since / period).mean()) for period in period_us])
    return lengths


TICK_US = 250
_TURNS = 2**18
FREQUENCIES = np.fft.rfftfreq(_TURNS, TICK_US)
_WANTED = (FREQUENCIES >= 1 / MOST_PERIOD_US) & (FREQUENCIES <= 1 / LEAST_PERIOD_US)
PERIODS_US: Floats = 1 / FREQUENCIES[_WANTED]
"""Periods from the longest one on, so close that the phases of 10 s turn by a sixth at most from one to the next."""


def coherences(moments_us: Ints) -> Floats:
    """The coherence at PERIODS_US of moments of the first 10 s, which are rounded to ticks."""
    ticks = np.zeros(_TURNS)
    since = (moments_us - moments_us[0]) // TICK_US
    np.add.at(ticks, since[since < _TURNS], 1.0)
    lengths: Floats = np.abs(np.fft.rfft(ticks))[_WANTED] / ticks.sum()
    return lengths


def _informative(flow: Acks) -> bool:
    """Return whether bursts come so often within a round trip that its length does not space them."""
    starts = bursts(beginning(flow)).start_us
    rtts = flow.rtt_us[flow.rtt_us > 0]
    return len(rtts) > 0 and int(np.sum(np.diff(starts) < rtts.min() / 2)) >= LEAST_BURSTS


def frame_length(recorded: Recorded) -> tuple[Estimate, float] | None:
    """The period in ms in step with which everything comes back, and the mean coherence; None where there is none."""
    moments, is_open = _moments(recorded)
    if not moments:
        return None
    together = np.where(is_open, np.mean([coherences(each) for each in moments], axis=0), 0)
    if together.max() < COHERENT:
        return None
    # Fractions of the period are as coherent as it is: the longest one is it.
    first = int(np.flatnonzero(together >= max(COHERENT, 0.97 * together.max()))[0])
    length = over_runs(moments, lambda some: _finest(some, float(PERIODS_US[first])), f"{len(moments)} flows' bursts")
    error = max(length.error, ROUNDING * length.value)
    return Estimate(length.value / 1e3, error / 1e3, length.n), float(together[first])


def _moments(recorded: Recorded) -> tuple[list[Ints], NDArray[np.bool_]]:
    """Return the moments of bursts on the way back, of TCP flows or else of probes, and a mask of the periods that the probes allow."""
    idle = [each for each in map(_first_echoes, recorded.idle) if len(each[0]) >= LEAST_BURSTS]
    back = [sent + rtt for sent, rtt in idle]
    starts = [bursts(beginning(flow)).start_us for flow in recorded.flows if _informative(flow)]
    is_open = np.ones(len(PERIODS_US), bool)
    for each, (sent, _) in zip(back, idle, strict=True):
        is_open &= coherences(each) > INCOHERENT if starts else coherences(sent) < INCOHERENT
    return (starts or back), is_open


def _first_echoes(probe: Echoes) -> tuple[Ints, Ints]:
    part = probe.answered & (probe.sent_us < probe.sent_us[0] + BEGINNING_US)
    return probe.sent_us[part], probe.rtt_us[part]


def _finest(moments: Sequence[Ints], near_us: float) -> float:
    """The period around a known one at which the moments agree best."""
    grid = near_us * np.linspace(0.9995, 1.0005, 101)
    return float(grid[int(np.argmax(np.mean([coherence(each, grid) for each in moments], axis=0)))])
