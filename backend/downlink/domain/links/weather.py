"""Seeds of emulated links: runs that are compared with each other meet the same conditions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

SEED_BITS = 53
"""A whole number that every reader of JSON takes exactly."""


def link_seed(campaign_seed: int, cycle: int) -> int:
    """The seed of an emulated link in one cycle of a campaign: for all links, conditions and attempts alike.

    The first 53 bits of the SHA-256 of `downlink link 1 SEED CYCLE`. It stays as it is over versions: a campaign that is
    repeated years later meets the same weather.
    """
    digest = hashlib.sha256(f"downlink link 1 {campaign_seed} {cycle}".encode()).digest()
    return int.from_bytes(digest[:8]) >> (64 - SEED_BITS)


@dataclass(frozen=True, slots=True)
class LinkWindow:
    """One of `of` equal shares of a link's path trace, counted from 0: all that is compared in a cycle flies the same one.

    lasts_s: the longest that a run of the campaign may take, the same for all of them.
    """

    number: int
    of: int
    lasts_s: float


def link_window(cycle: int, cycles: int, deadlines_s: Iterable[float]) -> LinkWindow:
    """The window of a cycle, which counts from 1."""
    return LinkWindow(number=cycle - 1, of=cycles, lasts_s=max(deadlines_s))
