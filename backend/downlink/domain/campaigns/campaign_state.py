"""A campaign's life: its states, and what may follow what."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class CampaignState(StrEnum):
    DRAFT = "draft"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETE = "complete"
    CANCELLED = "cancelled"


ENDED = frozenset({CampaignState.COMPLETE, CampaignState.CANCELLED})
UNDER_WAY = frozenset({CampaignState.RUNNING, CampaignState.PAUSED})

_NEXT: Mapping[CampaignState, frozenset[CampaignState]] = MappingProxyType(
    {
        CampaignState.DRAFT: frozenset({CampaignState.RUNNING}),
        CampaignState.RUNNING: ENDED | {CampaignState.PAUSED},
        CampaignState.PAUSED: ENDED | {CampaignState.RUNNING},
        CampaignState.COMPLETE: frozenset({CampaignState.RUNNING}),  # failed runs are run again, a quick test is added
        CampaignState.CANCELLED: frozenset(),
    }
)


def may_follow(before: CampaignState, after: CampaignState) -> bool:
    """Return whether a campaign may go from one state to the other."""
    return after in _NEXT[before]
