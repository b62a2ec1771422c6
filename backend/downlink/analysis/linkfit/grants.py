"""The capacity of a framed return channel: what it carries unasked, and when it carries more after a request."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from downlink.analysis.linkfit.estimate import Estimate, each_over_runs, over_runs
from downlink.analysis.linkfit.frames import bursts
from downlink.analysis.linkfit.recordings import Acks, Floats, Ints
from downlink.analysis.linkfit.requests import DELAYS, NUMBERS, nearest, squares

BEGINNING_S = 8.0
"""Time in which the way back is short of capacity and the way down is not yet full."""
MOST_DELAY_FRAMES = 250
LEAST_FRAMES = 20
NEAR_FRAMES = 3
IN_A_ROW, OFTEN = 5, 3
CLEAR_GAIN = 0.8
"""A hold, or requests for rates, are taken for real when they leave at most this share of the squares that none of it leaves."""


@dataclass(frozen=True)
class Grants:
    """acks_a_frame: that a frame carries unasked. delay_frames, hold_s: None where no flow ever got more. request_frames: over so
    many frames rates and shares are asked for, None where all that waits is. most_acks: the most in one burst. between_us: from one
    acknowledgement of a burst to the next, None where bursts were too small."""

    acks_a_frame: Estimate
    delay_frames: Estimate | None
    request_frames: Estimate | None
    hold_s: Estimate | None
    most_acks: int
    between_us: Estimate | None


@dataclass(frozen=True)
class _Frames:
    """A flow's beginning, by frame from its first acknowledgement on: how many waited for it at most, and how many it carried."""

    waited: Ints
    carried: Ints


def grants(flows: Sequence[Acks], length_ms: float) -> Grants | None:
    """None where no flow shows its beginning."""
    seen = [each for each in (_by_frame(flow, length_ms * 1e3) for flow in flows) if each is not None]
    if not seen:
        return None
    n = f"{len(seen)} flows' beginnings"
    unasked = over_runs(seen, _unasked, n)
    base = round(unasked.value)
    most = max(int(each.carried.max()) for each in seen)
    spaces = _spaces(flows)
    between = over_runs(spaces, lambda some: float(np.median(np.concatenate(some))), n) if spaces else None
    if not any(np.any(each.carried > base + 1) for each in seen):
        return Grants(unasked, None, None, None, most, between)
    delay, hold = _delay_and_hold(seen, base, length_ms)
    if rated := _rated(seen, base, round(delay.value), round(hold.value * 1e3 / length_ms)):
        return Grants(unasked, rated[0], rated[1], Estimate(0, hold.error, n), most, between)
    rtt_s = min(float(flow.rtt_us[flow.rtt_us > 0].min()) / 1e6 for flow in flows if np.any(flow.rtt_us > 0))
    if hold.value and delay.value * length_ms / 1e3 >= rtt_s:
        # Handshake and request are no silence then: the hold has lasted for two round trips at the first acknowledgement.
        hold = Estimate(hold.value + 2 * rtt_s, hold.error, hold.n)
    return Grants(unasked, delay, None, hold, most, between)


def _rated(seen: Sequence[_Frames], base: int, delay: int, hold: int) -> tuple[Estimate, Estimate] | None:
    """The delay and the number of request frames, where they explain what waited clearly better than asking for all of it does."""
    off = [squares(each, base, DELAYS, NUMBERS) for each in seen]
    if np.sum(off, axis=0).min() > CLEAR_GAIN * _plain_squares(seen, base, delay, hold):
        return None
    estimates = each_over_runs(off, nearest, f"{len(seen)} flows' beginnings")
    delay_frames, request_frames = (_with_rounding(each) for each in estimates)
    return delay_frames, request_frames


def _plain_squares(seen: Sequence[_Frames], base: int, delay: int, hold: int) -> float:
    """Return the squares of a law that asks for all that waits. The queue swings under it, and one frame changes much: the nearest
    one counts."""
    delays = np.arange(max(1, delay - NEAR_FRAMES), delay + NEAR_FRAMES + 1)
    everything = np.zeros(len(delays), int)
    holds = range(max(0, hold - NEAR_FRAMES), hold + NEAR_FRAMES + 1) if hold else (0,)
    return min(
        float(np.sum([squares(each, base, delays, everything, first) for each in seen], axis=0).min())
        for first in holds
    )


def _with_rounding(estimate: Estimate) -> Estimate:
    """Half a frame cannot be seen, nor a twentieth of many: acknowledgements are counted, and the terminal counts bytes."""
    return Estimate(estimate.value, max(0.5, 0.05 * estimate.value, estimate.error), estimate.n)


def _by_frame(flow: Acks, length_us: float) -> _Frames | None:
    known = flow.rtt_us > 0
    time, rtt = flow.time_us[known], flow.rtt_us[known]
    if len(time) == 0:
        return None
    part = time < time[0] + BEGINNING_S * 1e6
    time, rtt = time[part], rtt[part]
    frame = np.round((time - _phase(time, length_us)) / length_us).astype(int)
    waits_from = (time - (rtt - rtt.min()) - _phase(time, length_us)) / length_us
    first, last = frame[0], frame[-1]
    if last - first < LEAST_FRAMES:
        return None
    numbers = np.arange(first, last + 1)
    carried = np.bincount(frame - first, minlength=len(numbers))
    came = np.searchsorted(np.sort(waits_from), numbers + 0.25, side="right")
    return _Frames(came - (np.cumsum(carried) - carried), carried)


def _phase(time: Ints, length_us: float) -> float:
    """Return the phase of the beginnings of bursts, in microseconds."""
    starts = bursts(time).start_us
    angle = np.angle(np.exp(2j * np.pi * (starts - starts[0]) / length_us).mean())
    return float(starts[0] + angle / (2 * np.pi) * length_us)


def _unasked(seen: Sequence[_Frames]) -> float:
    """The usual number of acknowledgements in frames for which more waited, before the first larger burst."""
    sizes = np.concatenate([_before_grants(each) for each in seen])
    return float(np.bincount(sizes).argmax()) if len(sizes) else math.nan


def _before_grants(frames: _Frames) -> Ints:
    full = frames.carried[(frames.waited > frames.carried) & (frames.carried > 0)]
    usual = int(np.median(full[:LEAST_FRAMES])) if len(full) else 0
    larger = np.flatnonzero(full > usual + 1)
    return full[: larger[0]] if len(larger) else full


def _delay_and_hold(seen: Sequence[_Frames], base: int, length_ms: float) -> tuple[Estimate, Estimate]:
    """The delay and hold that best predict the number of acknowledgements in each frame from what waited before."""
    n = f"{len(seen)} flows' beginnings"
    delay = over_runs(seen, lambda some: float(_best(some, base)[0]), n)
    hold = over_runs(seen, lambda some: _best(some, base)[1] * length_ms / 1e3, n)
    # Frames are whole: less than half of one cannot be told.
    return Estimate(delay.value, max(0.5, delay.error), n), Estimate(hold.value, max(length_ms / 2e3, hold.error), n)


def _best(seen: Sequence[_Frames], base: int) -> tuple[int, int]:
    """Return in frames: the delay, and the hold, 0 unless it explains clearly more. Frames carry more from the longer of both on, so
    the beginning is known; among the delays near it those decide that explain best how much the frames carry."""
    first = _first_grants(seen, base)
    near = np.arange(max(1, first - NEAR_FRAMES), first + NEAR_FRAMES + 1)
    squares = _sums(seen, base, near, 0)
    plain, left = int(near[int(np.argmin(squares))]), float(squares.min())
    shorter = np.arange(1, max(2, first - NEAR_FRAMES))
    held = _sums(seen, base, shorter, first)
    if held.min() < CLEAR_GAIN * left:
        return int(shorter[int(np.argmin(held))]), first
    return plain, 0


def _first_grants(seen: Sequence[_Frames], base: int) -> int:
    """The frame, from the first acknowledgement's on, from which frames carry more than base: of five in a row three at least. A single
    one may be what the handshake had asked for."""
    firsts = []
    for each in seen:
        more = each.carried > base
        often = np.convolve(more, np.ones(IN_A_ROW), "full")[IN_A_ROW - 1 :] >= OFTEN
        frames = np.flatnonzero(more & often)
        if len(frames):
            firsts.append(int(frames[0]))
    return int(np.median(firsts)) if firsts else MOST_DELAY_FRAMES


def _sums(seen: Sequence[_Frames], base: int, delays: Ints, hold: int) -> Floats:
    return np.array([math.fsum(_squares(each, base, int(delay), hold) for each in seen) for delay in delays])


def _holds(seen: Sequence[_Frames], base: int) -> Ints:
    """Holds that may be: about when the first burst larger than base came."""
    firsts = [np.flatnonzero(each.carried > base + 1)[:1] for each in seen]
    holds = np.unique(np.concatenate(firsts))
    return np.unique(np.clip(np.concatenate([holds + d for d in (-2, -1, 0, 1)]), 1, None)) if len(holds) else holds


def _squares(frames: _Frames, base: int, delay: int, hold: int) -> float:
    """Return the squared differences of the roots of the numbers, so that large bursts do not decide alone."""
    earlier = np.concatenate([np.zeros(min(delay, len(frames.waited)), int), frames.waited[:-delay]])
    asked = np.where(np.arange(len(frames.waited)) >= hold, earlier, 0)
    expected = np.minimum(frames.waited, base + asked)
    off: Floats = np.sqrt(np.maximum(expected, 0)) - np.sqrt(frames.carried)
    return float(off @ off)


def _spaces(flows: Sequence[Acks]) -> list[Floats]:
    """Return the spaces between neighbours in bursts of some, in us: how fast the channel sends, and not how fast data came."""
    spaces = []
    for flow in flows:
        time = flow.time_us[flow.time_us < flow.time_us[0] + BEGINNING_S * 1e6] if len(flow.time_us) else flow.time_us
        some = bursts(time)
        grouped = (some.sizes >= 3) & (some.sizes <= 200)
        if grouped.any():
            spaces.append(some.width_us[grouped] / (some.sizes[grouped] - 1))
    return spaces
