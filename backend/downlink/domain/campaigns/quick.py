"""The quick test: one download over a link, now. Those of a link are kept in one campaign, a cycle each."""

from __future__ import annotations

from typing import Any

from downlink.domain.campaigns.campaign import BEST_EFFORT, Campaign
from downlink.domain.links.link import Link

SECONDS = 15
"""Slow start over a GEO link takes about ten round trips; what is behind them is steady enough to look at."""
NOTES = "One download for each time that somebody asked for one: tries a link and the agents at its ends."


def condition_name(sender: int) -> str:
    """Return the name of the condition of quick tests from a link's sender, counted from 1."""
    return f"Download from sender {sender}"


def quick_file(link: Link, sender: int) -> dict[str, Any]:
    """The campaign file of one quick test."""
    return {
        "name": f"Quick tests on {link.name}",
        "notes": NOTES,
        "links": [link.name],
        "stop": {"seconds": SECONDS},
        "timetable": {"cycles": 1},
        "settings": BEST_EFFORT,  # it asks for none but what every run sets; a plain container can be tried too
        "limits": {"attempts": 1},  # who waits for it sees why it failed, and asks again
        "conditions": [{"name": condition_name(sender), "flows": [{"sender": sender}]}],
    }


def kept_file(link: Link, tests: int, before: Campaign | None) -> dict[str, Any]:
    """The file of the campaign that keeps them. before: as it was until this test; conditions that it has stay."""
    known = len(before.conditions) if before else 0
    numbers = range(1, max(len(link.senders), known) + 1)
    conditions = [condition for number in numbers for condition in quick_file(link, number)["conditions"]]
    return {**quick_file(link, 1), "timetable": {"cycles": tests}, "conditions": conditions}
