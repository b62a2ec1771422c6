"""The network path that a run's flows took, by the routes of both hosts: another interface or first hop is another path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_address, ip_network
from typing import Any

from downlink.domain.runs.outcome import FlowOutcome, Route

ENDS = ("receiver", "sender")


@dataclass(frozen=True, slots=True)
class Way:
    """The path of one run in words: `lan via 10.0.0.1`, empty where it is not known. addresses: under which senders saw their
    receivers."""

    receiver: str = ""
    sender: str = ""
    addresses: tuple[str, ...] = ()

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None) -> Way:
        """Read the path from its stored form."""
        return cls(stored["receiver"], stored["sender"], tuple(stored["addresses"])) if stored else cls()

    def to_dict(self) -> dict[str, Any]:
        return {"receiver": self.receiver, "sender": self.sender, "addresses": list(self.addresses)}

    @property
    def is_known(self) -> bool:
        return bool(self.receiver or self.sender)

    def words(self, *, with_receiver: bool = True, with_sender: bool = True, with_addresses: bool = False) -> str:
        """The way in words: `over lan via 10.0.0.1`, how packets left the sender, and the addresses of receivers that it saw."""
        parts = [f"over {self.receiver}"] if with_receiver and self.receiver else []
        parts += [f"sender over {self.sender}"] if with_sender and self.sender else []
        parts += [f"seen as {' and '.join(self.addresses)}"] if with_addresses and self.addresses else []
        return ", ".join(parts)


def way_of(ends: Iterable[tuple[str, str, FlowOutcome | None]]) -> Way:
    """Return the path of a run. ends: receiver or sender, the agent, and its outcome of a flow."""
    steps_of: dict[str, dict[str, list[str]]] = {end: {} for end in ENDS}
    addresses: list[str] = []
    for end, agent, outcome in ends:
        steps = [_step(outcome.way), _step(outcome.way_at_end)] if outcome else []
        steps_of[end].setdefault(agent, []).extend(step for step in steps if step)
        if end == "sender" and outcome and (address := _host(outcome.peer_address or "")):
            addresses.append(address)
    return Way(_told(steps_of["receiver"]), _told(steps_of["sender"]), tuple(sorted(set(addresses))))


def _step(route: Route | None) -> str:
    if route is None:
        return ""
    return f"{route.interface} via {route.next_hop}" if route.next_hop else str(route.interface)


def _told(by_agent: Mapping[str, list[str]]) -> str:
    """Describe the steps of several agents, each by its name; a change within the run as `sat, then lan`."""
    told = {agent: ", then ".join(_in_turn(steps)) for agent, steps in by_agent.items() if steps}
    if len(set(told.values())) <= 1:
        return next(iter(told.values()), "")
    return "; ".join(f"{agent} {steps}" for agent, steps in sorted(told.items()))


def _in_turn(steps: Iterable[str]) -> list[str]:
    """Each once, in the order in which it came."""
    return list(dict.fromkeys(steps))


def _host(address: str) -> str:
    return address.rpartition(":")[0].strip("[]")


def shortened(outcome: FlowOutcome, *, own: bool, peers: bool) -> FlowOutcome:
    """The outcome with the networks alone of this end's addresses, and of its peer's: 24 bits of IPv4, 48 of IPv6."""
    if peers and outcome.peer_address:
        outcome = replace(outcome, peer_address=_network_of(outcome.peer_address))
    if not own:
        return outcome
    local = outcome.local_address and _network_of(outcome.local_address)
    return replace(outcome, local_address=local, way=_shortened(outcome.way), way_at_end=_shortened(outcome.way_at_end))


def _shortened(route: Route | None) -> Route | None:
    return route and replace(route, source=route.source and _network(route.source))


def _network_of(address: str) -> str:
    """Return the network of an address with a port, in the same form: `203.0.113.0/24:8410`, `[2001:db8::/48]:8410`."""
    network, port = _network(_host(address)), address.rpartition(":")[2]
    return f"[{network}]:{port}" if ":" in network else f"{network}:{port}"


def _network(host: str) -> str:
    """A name, or what is short already, stays as it is."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    address = getattr(address, "ipv4_mapped", None) or address
    return str(ip_network((address, 24 if address.version == 4 else 48), strict=False))


@dataclass(frozen=True, slots=True)
class Differing:
    """The aspects in which the paths of a link's runs differ. An unknown value differs from nothing."""

    receivers: bool
    senders: bool
    addresses: bool

    @classmethod
    def among(cls, ways: Iterable[Way], *, by_address: bool = False) -> Differing:
        """by_address: a person wants public addresses told apart, which carriers change at will."""
        known = list(ways)
        receivers, senders = {each.receiver for each in known} - {""}, {each.sender for each in known} - {""}
        addresses = {each.addresses for each in known} - {()}
        return cls(len(receivers) > 1, len(senders) > 1, by_address and len(addresses) > 1)


def link_and_way(link: str, way: Way, differs: Differing) -> str:
    """Name the link of a group of runs, and its path if the campaign's runs took several."""
    words = way.words(with_receiver=differs.receivers, with_sender=differs.senders, with_addresses=differs.addresses)
    return f"{link}, {words}" if words else link
