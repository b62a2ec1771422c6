"""Which way a run's flows really took, by the routes of both hosts: another interface or first hop is another path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Outcome = Mapping[str, Any]
ENDS = ("receiver", "sender")


@dataclass(frozen=True, slots=True)
class Way:
    """Of one run, in words: `lan via 10.0.0.1`, empty where it is not known. addresses: under which senders saw their receivers."""

    receiver: str = ""
    sender: str = ""
    addresses: tuple[str, ...] = ()

    @classmethod
    def of(cls, said: Mapping[str, Any] | None) -> Way:
        """As it is stored."""
        return cls(said["receiver"], said["sender"], tuple(said["addresses"])) if said else cls()

    def to_dict(self) -> dict[str, Any]:
        return {"receiver": self.receiver, "sender": self.sender, "addresses": list(self.addresses)}

    @property
    def is_known(self) -> bool:
        return bool(self.receiver or self.sender)

    def words(self, *, with_receiver: bool = True, with_sender: bool = True) -> str:
        """`over lan via 10.0.0.1`, and by which the sender's packets left."""
        parts = [f"over {self.receiver}"] if with_receiver and self.receiver else []
        parts += [f"sender over {self.sender}"] if with_sender and self.sender else []
        return ", ".join(parts)


def way_of(ends: Iterable[tuple[str, str, Outcome | None]]) -> Way:
    """Of a run. ends: receiver or sender, the agent, and its outcome of a flow."""
    found: dict[str, dict[str, list[str]]] = {end: {} for end in ENDS}
    addresses: list[str] = []
    for end, agent, outcome in ends:
        steps = [_step(outcome.get(name)) for name in ("way", "way_at_end")] if outcome else []
        found[end].setdefault(agent, []).extend(step for step in steps if step)
        if end == "sender" and outcome and (address := _host(outcome.get("peer_address") or "")):
            addresses.append(address)
    return Way(_told(found["receiver"]), _told(found["sender"]), tuple(sorted(set(addresses))))


def _step(way: Mapping[str, Any] | None) -> str:
    if not way:
        return ""
    return f"{way['interface']} via {way['next_hop']}" if way.get("next_hop") else str(way["interface"])


def _told(by_agent: Mapping[str, list[str]]) -> str:
    """Of several agents each by its name; a change within the run as `sat, then lan`."""
    told = {agent: ", then ".join(_in_turn(steps)) for agent, steps in by_agent.items() if steps}
    if len(set(told.values())) <= 1:
        return next(iter(told.values()), "")
    return "; ".join(f"{agent} {steps}" for agent, steps in sorted(told.items()))


def _in_turn(steps: Iterable[str]) -> list[str]:
    """Each once, in the order in which it came."""
    return list(dict.fromkeys(steps))


def _host(address: str) -> str:
    return address.rpartition(":")[0].strip("[]")


def differing(ways: Iterable[Way]) -> tuple[bool, bool]:
    """Whether receivers' ways differ among these, and senders'. What is not known differs from nothing."""
    known = list(ways)
    receivers, senders = {each.receiver for each in known} - {""}, {each.sender for each in known} - {""}
    return len(receivers) > 1, len(senders) > 1


def place_name(link: str, way: Way, differs: tuple[bool, bool]) -> str:
    """What a group of runs is of: the link, and by which way where the campaign's runs went several."""
    words = way.words(with_receiver=differs[0], with_sender=differs[1])
    return f"{link}, {words}" if words else link
