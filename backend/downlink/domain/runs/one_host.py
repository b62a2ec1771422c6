"""Conflicts between agents of one kernel in one run: a setting or a congestion control of the kernel exists once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from downlink.domain.campaigns.campaign import Campaign, Condition
from downlink.domain.campaigns.conflict import Conflict
from downlink.domain.fleet.setting import is_host_wide
from downlink.domain.links.link import Link


def find_contested(campaign: Campaign, links: Collection[Link], hosts: Mapping[str, str]) -> Iterator[Conflict]:
    """One conflict per link and condition whose run would have two agents of one host change the same thing.

    hosts: agent to host (boot id); an agent that is not named there is a host of its own.
    """
    for link in links:
        for condition in campaign.conditions:
            message = _twice_set(condition, link, hosts) or _two_options(condition, link, hosts)
            if message:
                yield Conflict("host_contested", f"{condition.name}, on {link.name}: {message}", True)


def _twice_set(condition: Condition, link: Link, hosts: Mapping[str, str]) -> str | None:
    """Settings of the whole host are changed, and put back, by one agent of it alone."""
    sides = [(link.senders[number - 1], condition.sender) for number in condition.senders]
    holders: dict[str, tuple[str, str]] = {}
    receiving = [(link.receivers[number - 1], condition.receiver) for number in condition.receivers]
    for agent, settings in (*sides, *receiving):
        name = next(filter(is_host_wide, settings), None)
        if name is None:
            continue
        host = hosts.get(agent, agent)
        if host in holders:
            first, setting = holders[host]
            named = f"{setting} and {name}" if setting != name else name
            return (
                f"{first} and {agent} share one kernel, and only one of them can change {named}. "
                "Use one sender, or a congestion control that does the same by flow (dl_cubic_nohs is Cubic without HyStart)."
            )
        holders[host] = (agent, name)
    return None


def _two_options(condition: Condition, link: Link, hosts: Mapping[str, str]) -> str | None:
    """A control is registered in a kernel under one name, with one set of options."""
    asked: dict[tuple[str, str], Mapping[str, object]] = {}
    for flow in condition.flows:
        agent, tcp = link.senders[flow.sender - 1], flow.tcp
        if tcp is None:
            continue
        options = asked.setdefault((hosts.get(agent, agent), tcp.cc), tcp.options)
        if options != tcp.options:
            return f"flows of one kernel give {tcp.cc} different options. Measure them in two conditions."
    return None
