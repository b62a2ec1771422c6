"""A fit as the text of a link profile (docs/link-profiles.md), with a comment wherever a value was not measured."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING

from downlink.domain.errors import InvalidError

if TYPE_CHECKING:
    from downlink.analysis.linkfit.delays import Part, Quantiles
    from downlink.analysis.linkfit.estimate import Estimate
    from downlink.analysis.linkfit.fit import Fit
    from downlink.analysis.linkfit.losses import Losses

ACK_BYTES = 52
LARGEST_SHORT_OF_NEXT = ACK_BYTES - 4
NO_GRANTS_FRAMES = 10_000
UP_SHARE = 0.1
STEP_MS = 100
LEAST_RANGE = 0.01  # of a target: errors of a few runs alike come near 0


def profile_name(stem: str) -> str:
    """The link's name in campaign files. InvalidError for a file whose name does not make one."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", stem):
        raise InvalidError(
            "profile_name_invalid",
            f"A profile is called as its file: 1-40 of a-z, 0-9 and -, which {stem!r} is not. Name the file so.",
        )
    return stem


def profile_text(name: str, orbit: str, nominal_bps: float, fit: Fit, runs: Sequence[str], on: date) -> str:
    """The whole file. nominal_bps: of the link that was measured; written where no flow said the rate."""
    rate = fit.rates.mean_bps.value if fit.rates else nominal_bps
    count = f"{len(runs)} run{'s' * (len(runs) != 1)}"
    lines = [
        f"# Fitted from {count} on {on.isoformat()} by downlink links fit. Values without a remark were measured.",
        *(f"# run {run}" for run in runs),
        f"name: {name}",
        f"description: Fitted from measurements of {on.isoformat()}",
        f"orbit: {orbit}",
        "seed: 1",
        "",
        "down:",
        *_indented(_down(fit, rate)),
        "",
        "up:",
        *_indented(_up(fit, rate)),
        "",
        "facts:",
        *_indented(_facts(fit, rate, f"{count}, {on.isoformat()}")),
    ]
    return "\n".join(lines) + "\n"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _g(value: float) -> str:
    """Four digits, without an exponent where YAML would take it for a word."""
    text = f"{value:.4g}"
    return f"{value:.10f}".rstrip("0").rstrip(".") if "e-" in text else f"{float(text):.0f}" if "e" in text else text


def _down(fit: Fit, rate: float) -> Iterator[str]:
    yield from _rate(fit, rate)
    base_rtt_s = fit.delays.least_ms.value / 1e3
    waited = fit.queue.bytes_ if fit.queue else 0.0
    limit, remark = (
        max(waited, rate / 8 * base_rtt_s),
        " # not measured: the most that waited, or one bandwidth-delay product",
    )
    if fit.queue and fit.queue.is_full:
        limit, remark = waited, ""
    yield f"queue: {{limit_bytes: {max(3000, round(limit))}}}{remark}"
    yield from _gap(fit)
    yield from _loss(fit.down)
    yield f"delay:{'' if _variations(fit, 'down') else _half(fit)}"
    if _variations(fit, "down"):
        yield f"  base_ms: {_base(fit)} # half of the least RTT: how it divides is not known"
        yield from _variations(fit, "down")


def _half(fit: Fit) -> str:
    return f" {{base_ms: {_base(fit)}}} # half of the least RTT: how it divides is not known"


def _base(fit: Fit) -> str:
    return f"{fit.delays.least_ms.value / 2:.2f}"


def _rate(fit: Fit, rate: float) -> Iterator[str]:
    rates = fit.rates
    if rates is None:
        yield f"rate: {{constant_bps: {round(rate)}}} # not measured: the link's nominal rate"
        return
    if rates.slot_sd_ratio is None or fit.handovers is None:
        kind = f"constant_bps: {round(rate)}"
    else:
        low, high = (max(1e3, rate * (1 + side * math.sqrt(3) * rates.slot_sd_ratio.value)) for side in (-1, 1))
        kind = (
            f"steps: {{period_s: {_g(fit.handovers.period_s.value)}, low_bps: {round(low)}, high_bps: {round(high)}}}"
        )
    if rates.sd_ratio is None or rates.memory_s is None:
        yield f"rate: {{{kind}}}"
        return
    yield "rate:"
    yield f"  {kind}"
    low_ratio, high_ratio = rates.low_ratio, rates.high_ratio
    yield f"  varies: {{step_ms: {STEP_MS}, correlation_s: {_g(rates.memory_s.value)}, sd_ratio: {_g(min(1, rates.sd_ratio.value))}, low_ratio: {_g(low_ratio)}, high_ratio: {_g(high_ratio)}}}"  # noqa: E501


def _gap(fit: Fit) -> Iterator[str]:
    if fit.handovers:
        yield "gap:"
        yield f"  every_s: {_g(fit.handovers.period_s.value)}"
        yield f"  lengths: {_points(fit.handovers.lengths)}"


def _points(quantiles: Quantiles) -> str:
    return "[" + ", ".join(f"{{ratio: {_g(ratio)}, delay_ms: {_g(ms)}}}" for ratio, ms in quantiles) + "]"


def _loss(losses: Losses | None) -> Iterator[str]:
    parts = []
    if losses and losses.independent_ratio:
        parts.append(f"independent_ratio: {_g(losses.independent_ratio.value)}")
    if losses and losses.length_ms and losses.spacing_s:
        length, spacing = max(0.1, losses.length_ms.value), max(0.01, losses.spacing_s.value)
        parts.append(f"outages: {{mean_length_ms: {_g(length)}, mean_spacing_s: {_g(spacing)}}}")
    if parts:
        yield f"loss: {{{', '.join(parts)}}}"
    elif losses:
        yield f"# no loss: none among {losses.source}, so at most {losses.most_ratio:.1g}"
    else:
        yield "# loss is not known: no idle probes whose receiver's trace says which came"


def _variations(fit: Fit, way: str) -> list[str]:
    """Behind the frames a change of delay would move the bursts, so with frames it is written before them."""
    if way != ("down" if fit.frame_ms else "up"):
        return []
    parts = [part for part in (fit.delays.slow, fit.delays.fast) if part]
    return ["  variations:", *(line for part in parts for line in _variation(part))] if parts else []


def _variation(part: Part) -> Iterator[str]:
    yield f"    - hold_ms: {_g(part.hold_ms.value)}"
    yield f"      quantiles: {_points(part.quantiles)}"


def _up(fit: Fit, rate: float) -> Iterator[str]:
    grants = fit.grants
    if fit.frame_ms and grants and grants.between_us:
        up = ACK_BYTES * 8 / grants.between_us.value * 1e6
        yield f"rate: {{constant_bps: {round(up)}}} # within a burst"
    else:
        up = UP_SHARE * rate
        yield f"rate: {{constant_bps: {max(1000, round(up))}}} # not measured: a tenth of the way down's"
    yield f"queue: {{limit_bytes: {max(100_000, round(up / 8))}}} # not measured: a second's worth"
    yield from _frames(fit, up)
    yield from _gap(fit)
    yield from _loss(fit.up)
    yield f"delay:{'' if _variations(fit, 'up') else _half(fit)}"
    if _variations(fit, "up"):
        yield f"  base_ms: {_base(fit)} # half of the least RTT: how it divides is not known"
        yield from _variations(fit, "up")


def _frames(fit: Fit, up: float) -> Iterator[str]:
    if not fit.frame_ms:
        return
    length, grants = fit.frame_ms.value, fit.grants
    yield "frames:"
    yield f"  length_ms: {_g(length)}"
    unasked = max(1, round(grants.acks_a_frame.value)) if grants else 1
    base = ACK_BYTES * unasked + LARGEST_SHORT_OF_NEXT
    remark = (
        f"{unasked} ACK{'s' * (unasked > 1)} of {ACK_BYTES} bytes and not one more{'' if grants else ': not measured'}"
    )
    yield f"  base_bytes: {base} # {remark}"
    most = max(base, round(up / 8 * length / 1e3), ACK_BYTES * (grants.most_acks if grants else 0))
    yield f"  most_bytes: {most} # not measured: what the rate carries in a frame"
    if grants and grants.delay_frames:
        yield f"  grant_delay_frames: {max(1, round(grants.delay_frames.value))}"
        if grants.request_frames:
            yield f"  request_frames: {max(1, round(grants.request_frames.value))}"
        yield f"  hold_s: {_g(grants.hold_s.value) if grants.hold_s else 0}"
    else:
        yield f"  grant_delay_frames: {NO_GRANTS_FRAMES} # no grants were seen"


def _facts(fit: Fit, rate: float, source: str) -> Iterator[str]:
    yield f'source: "{source}"'
    yield f"nominal_rate_bps: {round(rate)}"
    usual = fit.delays.least_ms.value + (fit.frame_ms.value / 2 if fit.frame_ms else 0)
    usual += sum(float(_median(part)) for part in (fit.delays.slow, fit.delays.fast) if part)
    yield f"base_rtt_ms: {_g(usual)}"
    targets = [line for name, estimate in _measured(fit) for line in _target(name, estimate)]
    if targets:
        yield "targets: # `downlink-agent link show` prints the link's own beside them"
        yield from targets


def _measured(fit: Fit) -> Iterator[tuple[str, Estimate]]:
    """Yield the estimates that are statistics of links by themselves (docs/link-profiles.md)."""
    yield "idle_rtt_least_ms", fit.delays.least_ms
    if fit.rates:
        mean = fit.rates.mean_bps
        yield "rate_mean_mbps", replace(mean, value=mean.value / 1e6, error=mean.error / 1e6)
    if fit.handovers:
        yield "stall_median_ms", fit.handovers.median_ms


def _target(name: str, estimate: Estimate) -> Iterator[str]:
    """Within three errors. One run alone has no error, so that there is nothing to hold the link to."""
    if not math.isnan(estimate.error):
        value, half = estimate.value, max(3 * estimate.error, LEAST_RANGE * estimate.value)
        low, high = _g(value - half), _g(value + half)
        yield f'  - {{statistic: {name}, value: {_g(value)}, low: {low}, high: {high}, use: fit, source: "measured, {estimate.n}"}}'


def _median(part: Part) -> float:
    """Return the value at which the quantile function passes one half."""
    points = part.quantiles
    for (a, low), (b, high) in pairwise(points):
        if a <= 0.5 <= b:
            return low + (high - low) * (0.5 - a) / (b - a)
    return points[-1][1]
