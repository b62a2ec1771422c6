"""Losses that are not a full queue's: packet by packet, or in outages."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from downlink.analysis.linkfit.estimate import Estimate
from downlink.analysis.linkfit.recordings import Echoes, Floats, Ints, Recorded

GROUP_S = 0.01
"""Losses closer together than this are one event."""
LEVELS = 10
STANDS_OUT = 1e-3
"""Chance below which more losses at a longer queue are taken for the queue's own."""
MIN_RATIO, MAX_RATIO = 1e-9, 0.5


@dataclass(frozen=True)
class Losses:
    """independent_ratio: of packets; length_ms, spacing_s: means of outages. None: not needed to explain what was seen.
    most_ratio: where nothing was lost, what the ratio is at most (95 %)."""

    independent_ratio: Estimate | None
    length_ms: Estimate | None
    spacing_s: Estimate | None
    most_ratio: float
    source: str


@dataclass(frozen=True)
class Stretch:
    """Probes between two losses, or none, and the loss behind them, if there is one. first_s: from the probe before to the first of
    them; apart_s, counts: from one to the next, alike ones together; loss_s: from the last probe to the lost one, None at the end."""

    first_s: float
    apart_s: Floats
    counts: Ints
    n: int
    loss_s: float | None


@dataclass(frozen=True)
class Echoed:
    """Probes of one way."""

    sent: int
    lost: int
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True)
class Events:
    """Losses of TCP flows while no queue made them: sizes of events in packets, packets and seconds in which they could have come,
    and how far apart packets were, in s."""

    sizes: Ints
    packets: float
    seconds: float
    apart_s: float


def down_losses(recorded: Recorded, events: Sequence[Events]) -> Losses | None:
    """Return the losses on the way down, from idle probes whose receiver reported arrivals, and from flows that used much of the
    link. None without either."""
    probes = [_echoed(each, each.came) for each in recorded.idle if each.came is not None]
    return _losses(probes, events)


def up_losses(recorded: Recorded) -> Losses | None:
    """Return the losses on the way up, from probes that reached the receiver and did not return."""
    probes = [
        _echoed(_only(each, each.came), each.answered[each.came])
        for each in recorded.idle
        if each.came is not None and each.came.any()
    ]
    return _losses(probes, [])


def _only(each: Echoes, which: NDArray[np.bool_]) -> Echoes:
    return Echoes(each.run, each.sent_us[which], each.rtt_us[which], None, each.is_alone)


def _echoed(each: Echoes, came: NDArray[np.bool_]) -> Echoed:
    """Distances are rounded to milliseconds, so that many are alike."""
    after_s = np.round(np.diff(each.sent_us, prepend=each.sent_us[0] - 1_000_000_000) / 1e3) / 1e3
    ends = [*np.flatnonzero(~came).tolist(), len(came)]
    begins = [0, *(end + 1 for end in ends[:-1])]
    return Echoed(
        len(came), int((~came).sum()), tuple(_stretch(after_s, a, b) for a, b in zip(begins, ends, strict=True))
    )


def _stretch(after_s: Floats, begin: int, end: int) -> Stretch:
    apart, counts = np.unique(after_s[begin + 1 : end], return_counts=True)
    first = float(after_s[begin]) if begin < len(after_s) else 0.0
    return Stretch(first, apart, counts, end - begin, float(after_s[end]) if end < len(after_s) else None)


def _losses(probes: Sequence[Echoed], events: Sequence[Events]) -> Losses | None:
    sent = sum(each.sent for each in probes)
    packets = sum(each.packets for each in events)
    if not sent and not packets:
        return None
    lost = int(sum(each.lost for each in probes) + sum(len(each.sizes) for each in events))
    source = " and ".join(
        text for text, there in ((f"{sent} idle probes", sent), (f"{packets:.3g} packets of flows", packets)) if there
    )
    most = 3 / (sent + packets)
    if lost == 0:
        return Losses(None, None, None, most, source)
    return _best(probes, events, lost, most, source)


def _best(probes: Sequence[Echoed], events: Sequence[Events], lost: int, most: float, source: str) -> Losses:
    """The process that explains the losses with the fewest parameters (Schwarz's criterion)."""
    tried = [
        _fitted(lambda x: (math.exp(x[0]), None, None), [[-6.0], [-10.0]], probes, events),
        _fitted(lambda x: (0.0, math.exp(x[0]), math.exp(x[1])), _OUTAGE_STARTS, probes, events),
        _fitted(
            lambda x: (math.exp(x[2]), math.exp(x[0]), math.exp(x[1])),
            [[*s, -9.0] for s in _OUTAGE_STARTS],
            probes,
            events,
        ),
    ]
    values, errors = min(tried, key=lambda each: 2 * each[2] + len(each[0]) * math.log(max(lost, 3)))[:2]
    made = [
        Estimate(math.exp(v), math.exp(v) * e, f"{lost} losses or events") for v, e in zip(values, errors, strict=True)
    ]
    if len(made) == 1:
        return Losses(made[0], None, None, most, source)
    length = Estimate(made[0].value * 1e3, made[0].error * 1e3, made[0].n)
    return Losses(made[2] if len(made) == 3 else None, length, made[1], most, source)


_OUTAGE_STARTS = [[math.log(length), math.log(spacing)] for length in (0.01, 0.1) for spacing in (5.0, 100.0)]
Parameters = tuple[float, float | None, float | None]


def _fitted(
    meaning: Callable[[Floats], Parameters],
    starts: Sequence[Sequence[float]],
    probes: Sequence[Echoed],
    events: Sequence[Events],
) -> tuple[Floats, Floats, float]:
    """Logarithms of the parameters, their standard errors, and minus the log-likelihood."""

    def cost(x: Floats) -> float:
        if np.any(np.abs(x) > 25):
            return 1e12
        return -_log_likelihood(meaning(x), probes, events)

    fit = min(
        (
            scipy.optimize.minimize(cost, start, method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-3})
            for start in starts
        ),
        key=lambda f: f.fun,
    )
    return fit.x, _errors(cost, fit.x), float(fit.fun)


def _errors(cost: Callable[[Floats], float], at: Floats) -> Floats:
    """Return errors from the curvature at the least cost; NaN if that is no valley."""
    n, step = len(at), 0.05
    eye = np.eye(n) * step
    hessian = np.array([
        [(cost(at + a + b) - cost(at + a - b) - cost(at - a + b) + cost(at - a - b)) / (4 * step**2) for b in eye] for a in eye
    ])  # fmt: skip
    try:
        variances = np.diag(np.linalg.inv(hessian))
    except np.linalg.LinAlgError:
        return np.full(n, math.nan)
    return np.sqrt(np.where(variances > 0, variances, math.nan))


def _log_likelihood(parameters: Parameters, probes: Sequence[Echoed], events: Sequence[Events]) -> float:
    ratio, length, spacing = parameters
    if ratio >= MAX_RATIO or (length is not None and spacing is not None and length >= spacing):
        return -1e11
    total = sum(_of_probes(each, ratio, length, spacing) for each in probes)
    return total + sum(_of_events(each, max(ratio, MIN_RATIO), length, spacing) for each in events)


def _of_probes(probe: Echoed, ratio: float, length: float | None, spacing: float | None) -> float:
    """A chain of two states, seen at each probe: in an outage every packet is lost, between two of them a share of them."""
    ratio = max(ratio, MIN_RATIO)
    if length is None or spacing is None:
        return probe.lost * math.log(ratio) + (probe.sent - probe.lost) * math.log1p(-ratio)
    share, pace = length / (length + spacing), 1 / length + 1 / spacing
    outage, total = share, 0.0  # how likely the last probe was in an outage
    for each in probe.stretches:
        if each.n:
            good = 1 - _still(outage, share, pace, each.first_s)
            stays = float(each.counts @ np.log(1 - share + share * np.exp(-pace * each.apart_s)))
            total += math.log(good) + stays + each.n * math.log1p(-ratio)
            outage = 0.0
        if each.loss_s is not None:
            good = 1 - _still(outage, share, pace, each.loss_s)
            seen = good * ratio + 1 - good
            total += math.log(seen)
            outage = (1 - good) / seen
    return total


def _still(outage: float, share: float, pace: float, after_s: float) -> float:
    """Return the probability of an outage `after_s` after it was `outage`."""
    return share + (outage - share) * math.exp(-pace * after_s)


def _of_events(seen: Events, ratio: float, length: float | None, spacing: float | None) -> float:
    """An outage of exponential length takes a packet with the chance that it lasts to the next one, and further ones likewise."""
    singles, longer = int(np.sum(seen.sizes == 1)), seen.sizes[seen.sizes > 1]
    if length is None or spacing is None:
        expected = ratio * seen.packets
        # Two losses of one event are then two chances within one round.
        near = min(0.5, ratio * GROUP_S / seen.apart_s)
        return _poisson(len(seen.sizes), expected) + float(np.sum(longer - 1)) * math.log(near)
    goes_on = math.exp(-seen.apart_s / length)
    outages = seen.seconds / (length + spacing) * length / seen.apart_s * (1 - goes_on)
    total = _poisson(singles, ratio * seen.packets + outages * (1 - goes_on)) + _poisson(len(longer), outages * goes_on)
    return (
        total
        + float(np.sum(longer - 2)) * math.log(max(goes_on, 1e-300))
        + len(longer) * math.log(max(1 - goes_on, 1e-300))
    )


def _poisson(count: int, expected: float) -> float:
    return count * math.log(max(expected, 1e-300)) - expected - math.lgamma(count + 1)
