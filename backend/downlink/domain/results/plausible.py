"""Checks for values that a link cannot produce: a rate above its own, a round trip below what its orbit's height allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

RATE_TOLERANCE = 0.5
"""Margin above a link's nominal rate, as a share of it, unless the link names its own: providers state what is usual, and
terminals get more at times."""
LIGHT_KM_PER_MS = 299.792458
HEIGHT_KM = {"GEO": 35_786.0, "MEO": 2_000.0, "LEO": 300.0}
"""The least heights at which such satellites stand; a bent pipe goes up and down twice in a round trip."""
SPLIT = "split"


@dataclass(frozen=True, slots=True)
class Measured:
    """The values of one flow that are checked. rate_bps: received, else written. least_rtt_ms: by its sender's kernel. path: whether
    a proxy ends TCP on its way; None where that was not judged. is_end_to_end: one TCP connection, without relays."""

    flow: int
    receiver: str
    rate_bps: float | None
    least_rtt_ms: float | None
    path: str | None
    is_end_to_end: bool


def least_rtt_ms(orbit: str | None) -> float | None:
    """The least round trip over a satellite of this orbit; None where there is none."""
    height_km = HEIGHT_KM.get(orbit or "")
    return None if height_km is None else 4 * height_km / LIGHT_KM_PER_MS


def implausible(
    flows: Sequence[Measured],
    nominal_rate_bps: float | None,
    orbit: str | None,
    rate_tolerance: float = RATE_TOLERANCE,
) -> list[str]:
    """Sentences on what the link cannot have given these flows. rate_tolerance: how far it may exceed its nominal rate, as a ratio."""
    return [*_rates(flows, nominal_rate_bps, rate_tolerance), *_round_trips(flows, orbit)]


def _rates(flows: Sequence[Measured], nominal_rate_bps: float | None, rate_tolerance: float) -> Iterator[str]:
    if not nominal_rate_bps:
        return
    by_receiver: dict[str, float] = {}
    for each in flows:
        if each.is_end_to_end and each.rate_bps:
            by_receiver[each.receiver] = by_receiver.get(each.receiver, 0.0) + each.rate_bps
    alone = max((each.rate_bps or 0.0 for each in flows), default=0.0)
    rate_bps = max([alone, *by_receiver.values()])
    if rate_bps > (1 + rate_tolerance) * nominal_rate_bps:
        yield (
            f"Its flows moved {rate_bps / 1e6:,.1f} Mb/s, {rate_bps / nominal_rate_bps:,.1f} times the link's nominal rate of "
            f"{nominal_rate_bps / 1e6:,.1f} Mb/s; {rate_tolerance:.0%} more than nominal is taken for possible."
        )


def _round_trips(flows: Sequence[Measured], orbit: str | None) -> Iterator[str]:
    floor_ms = least_rtt_ms(orbit)
    if floor_ms is None:
        return
    below = [
        each
        for each in flows
        if each.is_end_to_end and each.path != SPLIT and each.least_rtt_ms and each.least_rtt_ms < floor_ms
    ]
    if below:
        least = min(below, key=lambda each: each.least_rtt_ms or 0.0)
        yield (
            f"Flow {least.flow} has round trips of {least.least_rtt_ms:,.2f} ms. Over {orbit} none is below {floor_ms:,.1f} ms, and "
            "no proxy on the way was found that would explain it."
        )
