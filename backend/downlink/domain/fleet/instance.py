"""Instances of an agent: if its identity was copied to a second host, only one of them may use it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

HEADER = re.compile(r"(?P<id>[0-9a-f]{8,64}) (?P<seat>[0-9a-f]{8,64})")
UNNAMED = "a host that has not said its name"


@dataclass(frozen=True, slots=True)
class Instance:
    """One start of an agent. seat: a digest of the boot and of the state file that it locks, where no two agents run at once."""

    id: str
    seat: str


def read_instance(header: str | None) -> Instance | None:
    """None for an agent of before, which sends none, and for what is no such header."""
    match = HEADER.fullmatch(header or "")
    return Instance(match["id"], match["seat"]) if match else None


def takes_over(current: Mapping[str, Any] | None, shown: Instance, is_current_there: bool) -> bool | None:
    """Return whether this instance becomes the agent; None if it is the agent already, False if another one is.

    A restart in the same place ends the start before it: one lock keeps two from running there. Elsewhere it has to be silent first.
    """
    if current is None:
        return True
    if current["id"] == shown.id:
        return None
    return current["seat"] == shown.seat or not is_current_there


def both_named(agent: str, current: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """The sentence for both hosts and for people."""
    return (
        f"Two hosts use the identity of agent {agent}: {_named(current)} since {current['since']}, which goes on, and {_named(other)} "
        f"since {other['since']}, which is refused. A state folder was copied. On the host that is not {agent}, remove that folder and "
        "enrol the host with `downlink-agent join` under a name of its own. If it takes the place of the other, stop the agent "
        "there: a minute later it goes on here."
    )


def _named(each: Mapping[str, Any]) -> str:
    return f"{each['hostname'] or UNNAMED} at {each['address']}"
