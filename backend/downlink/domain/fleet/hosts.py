"""The parts that hosts take in a campaign, and what an agent would refuse in every run.

Facts are what an agent last said of its host. What the agent judges when a run is prepared is judged here as it does
(agents/internal/agent/trial): a launch that would surely fail is not made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from downlink.domain.campaigns.campaign import BEST_EFFORT, RECEIVER_MS, SENDER_MS, Campaign, Condition, Sampling
from downlink.domain.campaigns.conflict import Conflict
from downlink.domain.campaigns.flow_plan import FlowPlan
from downlink.domain.campaigns.run_size import deadline_s
from downlink.domain.fleet.setting import ALWAYS_ASKED
from downlink.domain.links.link import Link
from downlink.domain.runs.budget import DOES_NOT_HOLD

SAMPLE_BYTES = 64
ACK_RATE_HZ = 10_000
DISK_RESERVE_BYTES = 64 << 20
"""The agent's estimate of the disk space that it needs (agents/internal/agent/trial/checks.go)."""


@dataclass(frozen=True, slots=True)
class Found:
    """The fingerprint of a host in a run (docs/agent-protocol.md section 5)."""

    at: datetime
    run_id: UUID
    fingerprint: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Host:
    """Knowledge about an agent's host. facts: the agent's last report; empty for an agent that does not exist.

    absence: why it can take no run now. found: its latest fingerprints, the last one first. rival: what is said of a second host
    with its identity.
    """

    facts: Mapping[str, Any]
    absence: Conflict | None = None
    found: Sequence[Found] = ()
    rival: str | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """One part that an agent takes: which condition, where, and what it is asked for. flows: with their place in the condition.

    part: sender, receiver or relay.
    """

    agent: str
    part: str
    link: Link
    number: int
    condition: Condition
    flows: tuple[tuple[int, FlowPlan], ...]

    @property
    def is_sender(self) -> bool:
        return self.part == "sender"

    @property
    def asked(self) -> Mapping[str, str]:
        """Settings by name, those of every run at its ends among them."""
        if self.part == "relay":
            return self.condition.relay
        return {**(self.condition.sender if self.is_sender else self.condition.receiver), **ALWAYS_ASKED}


def uses_of(campaign: Campaign, links: Sequence[Link]) -> list[Use]:
    """Every part of every condition on every link, receivers first, relays last."""
    uses = []
    for link in links:
        for number, condition in enumerate(campaign.conditions):
            flows = tuple(enumerate(condition.flows))
            for receiver in condition.receivers:
                own = tuple((index, flow) for index, flow in flows if flow.receiver == receiver)
                uses.append(Use(link.receivers[receiver - 1], "receiver", link, number, condition, own))
            for sender in condition.senders:
                own = tuple((index, flow) for index, flow in flows if flow.sender == sender)
                uses.append(Use(link.senders[sender - 1], "sender", link, number, condition, own))
            relayed = tuple((index, flow) for index, flow in flows if flow.passes_relays)
            for relay in link.relays if relayed else ():
                uses.append(Use(relay, "relay", link, number, condition, relayed))
    return uses


def find_refused(campaign: Campaign, links: Sequence[Link], hosts: Mapping[str, Host]) -> Iterator[Conflict]:
    """Yield conflicts for everything that an agent would refuse in every run: a part, a setting, too little disk space, a path trace
    that is too short.

    links: those that have every sender that is asked for. hosts: by agent; one that is not there, or says nothing of a
    matter, is not judged.
    """
    seen: set[tuple[str, str]] = set()
    uses = uses_of(campaign, links)
    for use in uses:
        host = hosts.get(use.agent)
        if host is None or not host.facts:
            continue
        for key, conflict in (
            *_part_refused(use, host),
            *_budget_unheld(campaign, use, host),
            *_settings_refused(use, host, campaign.settings == BEST_EFFORT),
            *_disk_short(campaign, use, host),
            *_acks_unrecorded(campaign, use, host),
        ):
            if (use.agent, key) not in seen:
                seen.add((use.agent, key))
                yield conflict
    yield from _traces_short(campaign, uses, hosts)


def _traces_short(campaign: Campaign, uses: Sequence[Use], hosts: Mapping[str, Host]) -> Iterator[Conflict]:
    """Links whose path trace has no room for the campaign's longest run, of which a window is long (decision 0134)."""
    links = {use.link.name: use.link for use in uses if use.link.is_emulated}
    for name, link in links.items():
        agents = dict.fromkeys(use.agent for use in uses if use.link.name == name and use.agent in hosts)
        traces = [trace for agent in agents if (trace := hosts[agent].facts.get("path_trace"))]
        number, longest = max(enumerate(campaign.conditions), key=lambda each: deadline_s(each[1], link))
        needs_s = deadline_s(longest, link)
        if traces and needs_s > traces[0]["lasts_s"]:
            yield _trace_short(link, number, longest, needs_s, traces[0])


def _trace_short(link: Link, number: int, longest: Condition, needs_s: float, trace: Mapping[str, Any]) -> Conflict:
    asked_s, lasts_s = longest.stop.seconds, trace["lasts_s"]
    longer = f"bring the link up with a path of {math.ceil(needs_s):,} s or more (`downlink paths make`)"
    if asked_s is None:
        what, helps = "a run with so many bytes", f"Let runs stop after fewer bytes, or {longer}"
    else:
        what, room_s = f"a run of {asked_s:,.0f} s", math.floor(lasts_s - (needs_s - asked_s))
        helps = f"Let runs stop after {room_s:,} s, or {longer}" if room_s > 0 else longer.capitalize()
    message = (
        f"{longest.name}, on link {link.name}: {what} may take {needs_s:,.0f} s until its deadline, and the path trace "
        f"{trace['name']}, which the link replays, has {lasts_s:,.0f} s. The link refuses every run of this campaign. {helps}."
    )
    return Conflict("trace_short", message, True, place=f"conditions[{number}].stop")


def _part_refused(use: Use, host: Host) -> Iterator[tuple[str, Conflict]]:
    roles, part = host.facts.get("roles"), use.part
    if roles is not None and part not in roles:
        message = f"{use.agent} may not be a {part}; add the role to its configuration and restart it."
        yield f"role {part}", Conflict("role_refused", message, True, place="links")


def _budget_unheld(campaign: Campaign, use: Use, host: Host) -> Iterator[tuple[str, Conflict]]:
    is_limited = campaign.limits.bytes is not None
    if not host.facts.get("holds_budget") and (is_limited or use.link.allowance_bytes is not None):
        message = f"{use.agent} {DOES_NOT_HOLD}"
        yield "budget", Conflict("budget_unheld", message, True, place="limits.bytes" if is_limited else "links")


def _what_helps(name: str, why: str | None) -> str:
    """Describe the remedy for a setting that cannot be made. why: the obstacle that the agent reported."""
    root = "Allow it there" if why else "Run the agent as root or with CAP_NET_ADMIN, allow the setting in its policy"
    else_ = "write `settings: best_effort` in the campaign file to measure without it, on record"
    if name in ALWAYS_ASKED:
        return f"Every run sets it. {root}, or {else_}."
    return f"{root}, leave the setting out, or {else_}."


def _settings_refused(use: Use, host: Host, is_best_effort: bool) -> Iterator[tuple[str, Conflict]]:
    side = use.part
    for name, value in use.asked.items():
        if can_have(host, name, value) is not False:
            continue
        here = host.facts["settings"].get(name)
        why = (host.facts.get("settings_refused") or {}).get(name)
        now = f"it is {here}" if here is not None else "this kernel does not have it now"
        sentence = (
            f"{use.condition.name}, on {use.agent}: {name} cannot be set to {value} ({now}{f'; {why}' if why else ''})."
        )
        position = "" if name in ALWAYS_ASKED else f"conditions[{use.number}].{side}.{name}"
        if is_best_effort:
            yield (
                name,
                Conflict(
                    "setting_unset", f"{sentence} It stays as it is, and each run's record notes that.", place=position
                ),
            )
        else:
            yield name, Conflict("setting_unwritable", f"{sentence} {_what_helps(name, why)}", True, place=position)


def can_have(host: Host, name: str, value: str) -> bool | None:
    """Return whether a host can have the setting at this value; None if its agent does not report that."""
    writable = host.facts.get("settings_writable")
    if writable is None:
        return None
    return name in writable or host.facts.get("settings", {}).get(name) == value


def _acks_unrecorded(campaign: Campaign, use: Use, host: Host) -> Iterator[tuple[str, Conflict]]:
    """A night of runs that were to record every ACK, and are polled."""
    why = host.facts.get("per_ack_refused")
    if why and use.is_sender and campaign.sampling is Sampling.PER_ACK:
        message = f"{use.agent} cannot record every ACK: {str(why).rstrip('.')}. Take another sender, or write `sampling: polled`."
        yield "per_ack", Conflict("per_ack_refused", message, True, place="sampling")


def _disk_short(campaign: Campaign, use: Use, host: Host) -> Iterator[tuple[str, Conflict]]:
    free, needed = host.facts.get("spool_free_bytes"), disk_bytes(campaign, use)
    if free is not None and free < needed:
        message = (
            f"{use.condition.name}, on {use.agent}: a run may need {megabytes(needed)} of disk, and {megabytes(free)} "
            "were free when the agent last said so. Free some, or let it upload what waits."
        )
        yield "disk", Conflict("disk_short", message, place="links")


def disk_bytes(campaign: Campaign, use: Use) -> int:
    """Return the bytes that one run's traces need at this end, as its agent estimates them."""
    lasts_s = use.condition.stop.seconds or deadline_s(use.condition, use.link)
    polled_ms = SENDER_MS if use.is_sender else RECEIVER_MS
    is_acks = use.is_sender and campaign.sampling is Sampling.PER_ACK
    rate_hz = ACK_RATE_HZ if is_acks else 1000 / polled_ms
    return round(len(use.flows) * lasts_s * rate_hz * SAMPLE_BYTES) + DISK_RESERVE_BYTES


def megabytes(volume: int) -> str:
    """Format a volume in MB, for people."""
    return f"{volume / 1e6:,.0f} MB"
