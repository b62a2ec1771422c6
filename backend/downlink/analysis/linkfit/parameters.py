"""A fit as a table: each parameter with its error and where it comes from; and what the runs do not show."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from downlink.analysis.linkfit.estimate import Estimate
from downlink.analysis.linkfit.fit import Fit
from downlink.analysis.linkfit.losses import Losses
from downlink.analysis.linkfit.recordings import HEADER_BYTES

LEAST_COURSE_S = 60
"""Time at the link's rate below which its course is hardly seen."""


@dataclass(frozen=True)
class Parameter:
    """key: of the profile. error: one standard error, NaN where it is not known."""

    key: str
    title: str
    unit: str
    value: float
    error: float
    source: str


def parameters(fit: Fit) -> list[Parameter]:
    """Return the parameters in the order of the profile's keys."""
    return [
        *_rates(fit),
        *_queue(fit),
        *_frames(fit),
        *_handovers(fit),
        *_loss("down", fit.down),
        *_loss("up", fit.up),
        *_delays(fit),
    ]


def _of(key: str, title: str, unit: str, estimate: Estimate | None, scale: float = 1.0) -> Iterator[Parameter]:
    if estimate is not None:
        yield Parameter(key, title, unit, estimate.value * scale, estimate.error * scale, estimate.n)


def _rates(fit: Fit) -> Iterator[Parameter]:
    if fit.rates:
        yield from _of("down.rate", "rate, mean", "Mb/s", fit.rates.mean_bps, 1e-6)
        yield from _of("down.rate.varies.sd_ratio", "rate, standard deviation over mean", "", fit.rates.sd_ratio)
        yield from _of("down.rate.varies.correlation_s", "rate, memory", "s", fit.rates.memory_s)
        yield from _of("down.rate.steps", "slots' means, standard deviation over mean", "", fit.rates.slot_sd_ratio)


def _queue(fit: Fit) -> Iterator[Parameter]:
    if fit.queue and fit.queue.is_full:
        source = f"waits at {fit.queue.events} losses of a full queue"
        yield Parameter("down.queue.limit_bytes", "queue", "MB", fit.queue.bytes_ / 1e6, math.nan, source)


def _frames(fit: Fit) -> Iterator[Parameter]:
    yield from _of("up.frames.length_ms", "frame of the return channel", "ms", fit.frame_ms)
    if fit.grants:
        yield from _of(
            "up.frames.base_bytes", f"ACKs of {HEADER_BYTES} bytes a frame, unasked", "", fit.grants.acks_a_frame
        )
        yield from _of("up.frames.grant_delay_frames", "delay of grants", "frames", fit.grants.delay_frames)
        yield from _of("up.frames.request_frames", "frames of a request", "frames", fit.grants.request_frames)
        yield from _of("up.frames.hold_s", "hold before the first grant", "s", fit.grants.hold_s)
        yield from _of("up.rate", "between ACKs of a burst", "us", fit.grants.between_us)


def _handovers(fit: Fit) -> Iterator[Parameter]:
    if fit.handovers:
        yield from _of("down.gap.every_s", "period of handovers", "s", fit.handovers.period_s)
        yield from _of("down.gap.lengths", "handover, median length", "ms", fit.handovers.median_ms)


def _loss(way: str, losses: Losses | None) -> Iterator[Parameter]:
    if losses:
        yield from _of(f"{way}.loss.independent_ratio", f"loss by packet, {way}", "%", losses.independent_ratio, 100)
        yield from _of(f"{way}.loss.outages.mean_length_ms", f"outages, {way}: mean length", "ms", losses.length_ms)
        yield from _of(f"{way}.loss.outages.mean_spacing_s", f"outages, {way}: mean spacing", "s", losses.spacing_s)


def _delays(fit: Fit) -> Iterator[Parameter]:
    yield from _of("delay.base_ms", "RTT, least, both ways", "ms", fit.delays.least_ms)
    for part, title in ((fit.delays.slow, "slow part"), (fit.delays.fast, "fast part")):
        if part:
            span = part.quantiles[-1][1]
            yield from _of("delay.variations", f"RTT, {title}: how long a value holds", "ms", part.hold_ms)
            yield Parameter("delay.variations", f"RTT, {title}: range", "ms", span, math.nan, part.hold_ms.n)


def unknown(fit: Fit) -> list[str]:
    """Return what these runs do not show, and what would."""
    return [
        *_unknown_idle(fit),
        *_unknown_rates(fit),
        *_unknown_losses(fit),
        "How the delay divides between the two ways: halves are written.",
    ]


def _unknown_idle(fit: Fit) -> Iterator[str]:
    if not fit.delays.is_idle:
        yield (
            "How the idle link's RTT varies, and what it loses: no run has a probe flow alone. "
            "The least RTT of TCP flows is written. A condition with `flows: [{probe: {every_ms: 73}}]` shows it."
        )
    elif fit.delays.fast and math.isnan(fit.delays.fast.hold_ms.error):
        hold_ms = fit.delays.fast.hold_ms.value
        yield f"How long the RTT's fast part holds: less than from one probe to the next. {hold_ms:.3g} ms are written."


def _unknown_rates(fit: Fit) -> Iterator[str]:
    if fit.rates is None:
        yield "The rate, its course and the queue: no TCP flow with every ACK (`sampling: per_ack`) filled the link for 5 s."
    elif fit.rates.full_s < LEAST_COURSE_S:
        yield f"How the rate varies: the link was full for {fit.rates.full_s:.0f} s alone. Longer runs of flows that fill it show it."
    elif fit.rates.memory_s is not None and fit.rates.full_s < 20 * fit.rates.memory_s.value:
        yield f"The rate's memory, well: {fit.rates.full_s:.0f} s at the link's rate are few of it. More or longer runs show it."
    if fit.rates is not None and fit.queue is not None and not fit.queue.is_full:
        yield "How much the queue holds: no flow filled it. The most that waited is written."
    if fit.frame_ms is None:
        yield "The way up's rate: acknowledgements never filled it. A tenth of the way down's is written."
    elif fit.grants is None or fit.grants.delay_frames is None:
        yield "When the return channel carries more than it does unasked: no flow's beginning shows it. No grants within 400 s are written."


def _unknown_losses(fit: Fit) -> Iterator[str]:
    for way, losses in (("down", fit.down), ("up", fit.up)):
        if losses is None:
            yield f"Losses on the way {way}: there are no idle probes whose receiver's trace says which of them came. None are written."
        elif losses.independent_ratio is None and losses.length_ms is None:
            most_percent = f"{100 * losses.most_ratio:.2g} % (95 %)"
            yield f"Losses on the way {way}: none among {losses.source}, so at most {most_percent}. None are written."
