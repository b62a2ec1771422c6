"""Recorded beside emulated: the same statistics of both, by the same program, each with a distance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy

from downlink.analysis.linkfit.fit import Fit, usages
from downlink.analysis.linkfit.frames import beginning, bursts
from downlink.analysis.linkfit.grants import grants
from downlink.analysis.linkfit.orders import CUBIC
from downlink.analysis.linkfit.recordings import Acks, Floats, Recorded

OBJECTS_MB = (1, 5, 30)
BEGINNING_US = 10_000_000


@dataclass(frozen=True)
class Compared:
    """recorded, emulated: medians where there are samples (ks is then the two-sample Kolmogorov-Smirnov distance, 0 to 1), else the
    statistic itself. NaN: never. n: samples, or flows."""

    title: str
    unit: str
    recorded: float
    emulated: float
    ks: float | None
    n: tuple[int, int]

    @property
    def off_percent(self) -> float:
        """Return the deviation of the emulated value from the recorded one, in percent."""
        return 100 * (self.emulated / self.recorded - 1) if self.recorded else math.nan


def compare(recorded: Recorded, emulated: Recorded, fit: Fit) -> list[Compared]:
    """Rows for what both sides have."""
    return [*_samples(recorded, emulated, fit), *_numbers(recorded, emulated, fit)]


def _samples(recorded: Recorded, emulated: Recorded, fit: Fit) -> Iterator[Compared]:
    ways: list[tuple[str, str, Callable[[Recorded], Floats]]] = [
        ("idle RTT", "ms", _idle_rtts),
        ("idle RTT, change from probe to probe", "ms", _changes),
        ("RTT of CUBIC's first 10 s", "ms", _first_rtts),
        ("rate while the link is full", "Mb/s", lambda side: _full_rates(side, fit)),
    ]
    if fit.frame_ms:
        ways.insert(2, ("ACKs in a burst, first 10 s", "", _burst_sizes))
    for title, unit, of in ways:
        a, b = of(recorded), of(emulated)
        if len(a) > 1 and len(b) > 1:
            distance = float(scipy.stats.ks_2samp(a, b).statistic)
            yield Compared(title, unit, float(np.median(a)), float(np.median(b)), distance, (len(a), len(b)))


def _idle_rtts(side: Recorded) -> Floats:
    return np.concatenate([np.zeros(0), *(each.rtt_us[each.answered] / 1e3 for each in side.idle)])


def _changes(side: Recorded) -> Floats:
    return np.concatenate([np.zeros(0), *(np.abs(np.diff(each.rtt_us[each.answered])) / 1e3 for each in side.idle)])


def _cubic(side: Recorded) -> list[Acks]:
    return [each for each in side.flows if each.cc == CUBIC and len(each.time_us)]


def _first_rtts(side: Recorded) -> Floats:
    parts = [each.rtt_us[(each.time_us < BEGINNING_US) & (each.rtt_us > 0)] / 1e3 for each in _cubic(side)]
    return np.concatenate([np.zeros(0), *parts])


def _burst_sizes(side: Recorded) -> Floats:
    return np.concatenate([np.zeros(0), *(bursts(beginning(each)).sizes for each in _cubic(side))])


def _full_rates(side: Recorded, fit: Fit) -> Floats:
    bins = [each.rate_bps for each in usages(side, fit.delays, fit.frame_ms.value if fit.frame_ms else None)]
    rates = np.concatenate([np.zeros(0), *bins])
    full: Floats = rates[np.isfinite(rates)] / 1e6
    return full


def _numbers(recorded: Recorded, emulated: Recorded, fit: Fit) -> Iterator[Compared]:
    yield from _idle_numbers(recorded, emulated)
    rates = _full_rates(recorded, fit), _full_rates(emulated, fit)
    if all(len(each) > 1 for each in rates):
        yield _row("rate, mean", "Mb/s", rates, np.mean)
        yield _row("rate, standard deviation", "Mb/s", rates, np.std)
    yield from _grant_numbers(recorded, emulated, fit)
    for mb in OBJECTS_MB:
        times = _object_s(_cubic(recorded), mb), _object_s(_cubic(emulated), mb)
        if all(len(each) for each in times):
            yield _row(f"CUBIC: {mb} MB after the first byte, mean", "s", times, np.mean)
    exits = _first_losses(recorded), _first_losses(emulated)
    if all(len(each) for each in exits):
        yield _row("CUBIC: first loss, mean", "s", exits, np.mean)


def _idle_numbers(recorded: Recorded, emulated: Recorded) -> Iterator[Compared]:
    rtts = _idle_rtts(recorded), _idle_rtts(emulated)
    if all(map(len, rtts)):
        for title, ratio in (("least", 0.0), ("0.5 % below", 0.005), ("0.5 % above", 0.995)):
            yield _row(f"idle RTT, {title}", "ms", rtts, partial(np.quantile, q=ratio))
        yield _row("idle RTT, mean", "ms", rtts, np.mean)
        yield _row("idle RTT, standard deviation", "ms", rtts, np.std)
        lost = _lost(recorded), _lost(emulated)
        yield _row("idle loss, both ways", "%", lost, lambda values: 100 * np.mean(values))


def _grant_numbers(recorded: Recorded, emulated: Recorded, fit: Fit) -> Iterator[Compared]:
    if not fit.frame_ms:
        return
    a, b = (grants(side.flows, fit.frame_ms.value) for side in (recorded, emulated))
    if a and b:
        n = len(recorded.flows), len(emulated.flows)
        yield Compared("ACKs a frame before grants", "", a.acks_a_frame.value, b.acks_a_frame.value, None, n)
        if a.delay_frames and b.delay_frames:
            yield Compared("delay of grants", "frames", a.delay_frames.value, b.delay_frames.value, None, n)


def _lost(side: Recorded) -> Floats:
    return np.concatenate([np.zeros(0), *((~each.answered).astype(float) for each in side.idle)])


def _object_s(flows: Sequence[Acks], mb: int) -> Floats:
    """Return the seconds until `mb` megabytes, for the flows that came so far."""
    places = [(each, int(np.searchsorted(each.delivered_bytes, mb * 1_000_000))) for each in flows]
    return np.array([each.time_us[row] / 1e6 for each, row in places if row < len(each.time_us)])


def _first_losses(side: Recorded) -> Floats:
    flows = [each for each in _cubic(side) if each.lost_segments[-1] > each.lost_segments[0]]
    return np.array([each.time_us[int(np.argmax(each.lost_segments > each.lost_segments[0]))] / 1e6 for each in flows])


def _row(title: str, unit: str, sides: tuple[Floats, Floats], of: Callable[[Floats], np.floating]) -> Compared:
    a, b = sides
    return Compared(title, unit, float(of(a)), float(of(b)), None, (len(a), len(b)))
