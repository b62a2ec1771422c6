"""Checks of each host before a campaign starts: is it online, does it have what the plan needs, what has changed.

Pure: facts are what an agent last said of its host, and what runs found there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.flow_plan import INTCP, PROBE, FlowPlan, Split
from downlink.domain.fleet.control import read_host_controls
from downlink.domain.fleet.hosts import Host, Use, can_have, disk_bytes, megabytes, uses_of
from downlink.domain.links.link import Link

CLOCK_TOLERANCE_MS = 2_000.0
"""An agent that knows the server's clock less surely takes no run (agents/internal/agent/trial/checks.go)."""
HYSTART, BUFFERS = "tcp_cubic.hystart", ("mem", "rmem_max", "wmem_max", "tcp_moderate_rcvbuf")
_OF_THE_CLOCK = frozenset({"clock_offset_ms", "clock_error_ms"})


class Level(StrEnum):
    """BAD: runs fail. NOTE: worth knowing. UNKNOWN: nobody has said yet."""

    OK = "ok"
    NOTE = "note"
    BAD = "bad"
    UNKNOWN = "unknown"


class Check(StrEnum):
    """Subjects of the checks of a host, in the order in which they are shown."""

    ONLINE = "online"
    CONTROLS = "controls"
    HYSTART = "hystart"
    BUFFERS = "buffers"
    SETTINGS = "settings"
    DISK = "disk"
    CLOCK = "clock"
    DATA_PORT = "data_port"
    CHANGES = "changes"


@dataclass(frozen=True, slots=True)
class QuickTestOf:
    """The quick test that answers an open check: over this link, from its sender of this number."""

    link: str
    sender: int


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer in a sentence. todo: what to do about it, empty for nothing. at, run_id: when, and in which run, it was found.

    quick_test: the quick test that answers it.
    """

    check: Check
    level: Level
    sentence: str
    todo: str = ""
    at: datetime | None = None
    run_id: UUID | None = None
    quick_test: QuickTestOf | None = None


@dataclass(frozen=True, slots=True)
class Reached:
    """The last run in which a receiver called a sender's data port, and whether data came of it."""

    at: datetime
    run_id: UUID
    has_come: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class HostAnswers:
    """The answers for one agent. parts: what it is in the campaign, `receiver of geo`."""

    agent: str
    parts: tuple[str, ...]
    answers: tuple[Answer, ...]


def judge_hosts(
    campaign: Campaign,
    links: Sequence[Link],
    hosts: Mapping[str, Host],
    reached: Mapping[tuple[str, str], Reached],
) -> tuple[HostAnswers, ...]:
    """Every agent that the campaign uses, receivers first as in their links. reached: by (sender, receiver)."""
    by_agent: dict[str, list[Use]] = {}
    for use in uses_of(campaign, links):
        by_agent.setdefault(use.agent, []).append(use)
    return tuple(
        HostAnswers(
            agent,
            tuple(dict.fromkeys(f"{use.part} of {use.link.name}" for use in uses)),
            tuple(_answers(campaign, uses, hosts.get(agent, Host({})), reached)),
        )
        for agent, uses in by_agent.items()
    )


def _answers(
    campaign: Campaign, uses: Sequence[Use], host: Host, reached: Mapping[tuple[str, str], Reached]
) -> Iterator[Answer]:
    yield _online(host)
    if not host.facts:
        return
    sending = [use for use in uses if use.is_sender]
    if sending:
        yield _controls(sending, host)
        yield _setting_group(Check.HYSTART, "HyStart", uses, host, lambda name: name == HYSTART, (HYSTART,))
    elif any(flow.passes_relays for use in uses for _, flow in use.flows):
        yield _controls(uses, host)
    if all(use.part == "relay" for use in uses):  # its host is left as it is
        yield from (_disk(campaign, uses, host), _clock(host), _changes(host))
        return
    buffers = ("net.ipv4.tcp_wmem",) if sending else ("net.ipv4.tcp_rmem",)
    yield _setting_group(Check.BUFFERS, "Socket buffers", uses, host, is_buffer, buffers)
    yield _setting_group(
        Check.SETTINGS, "Other settings", uses, host, lambda name: name != HYSTART and not is_buffer(name), ()
    )
    yield _disk(campaign, uses, host)
    yield _clock(host)
    yield from _data_port(uses, reached)
    yield _changes(host)


def is_buffer(name: str) -> bool:
    """Return whether a setting limits a socket's buffers."""
    return name.endswith(BUFFERS)


def _online(host: Host) -> Answer:
    if host.rival is not None:
        return Answer(Check.ONLINE, Level.NOTE, host.rival)
    if host.absence is None:
        return Answer(Check.ONLINE, Level.OK, "Its agent is online.")
    return Answer(Check.ONLINE, Level.BAD, host.absence.message)


def _controls(uses: Sequence[Use], host: Host) -> Answer:
    asked = dict.fromkeys(_carrier(use, flow) for use in uses for _, flow in use.flows)
    controls, known = read_host_controls(host.facts), host.facts.get("congestion_controls", ())
    if controls is None:
        return Answer(Check.CONTROLS, Level.UNKNOWN, "Its agent does not say which controls it has.")
    faults = dict.fromkeys(
        fault for use in uses for _, flow in use.flows for fault in controls.part_faults(flow, use.part)
    )
    if faults:
        level = Level.BAD if any(fault.is_certain for fault in faults) else Level.NOTE
        return Answer(Check.CONTROLS, level, " ".join(fault.sentence for fault in faults))
    unseen = [name for name in asked if name not in (*known, PROBE, INTCP, "")]
    if unseen:
        sentence = f"Its kernel has not loaded {_and(unseen)}; it may when a run asks for it."
        return Answer(Check.CONTROLS, Level.NOTE, sentence, f"Load it before: modprobe tcp_{unseen[0]}.")
    has = _and([name for name in asked if name]) or "what its part in split flows needs"
    return Answer(Check.CONTROLS, Level.OK, f"It has {has}, with the options that are asked for.")


def _carrier(use: Use, flow: FlowPlan) -> str:
    """Return what an agent's own part of a flow uses: a congestion control or a kind of transport; empty where it only receives TCP."""
    if isinstance(flow.transport, Split) and use.part == "relay":
        return flow.transport.relay_cc
    if flow.tcp:
        return flow.tcp.cc if use.is_sender else ""
    return flow.kind


def _setting_group(
    check: Check, title: str, uses: Sequence[Use], host: Host, is_own: Callable[[str], bool], watched: Sequence[str]
) -> Answer:
    """One answer for settings of a kind. watched: those of which it is told although no condition asks for them."""
    asked = [(name, value) for use in uses for name, value in use.asked.items() if is_own(name)]
    refused = list(dict.fromkeys(name for name, value in asked if can_have(host, name, value) is False))
    writable = host.facts.get("settings_writable")
    if writable is None:
        return Answer(check, Level.UNKNOWN, f"{title}: its agent does not say what it may change.")
    if refused:
        todo = "Run the agent as root, and allow the setting in its policy."
        return Answer(check, Level.BAD, f"{title}: {_and(refused)} cannot be changed there.", todo)
    if asked:
        names = _and(list(dict.fromkeys(name for name, _ in asked)))
        return Answer(check, Level.OK, f"{title}: {names} can be as asked.")
    here = [f"{name} is {value}" for name in watched if (value := host.facts.get("settings", {}).get(name)) is not None]
    closed = [name for name in watched if name not in writable]
    now = f" ({_and(here)})" if here else ""
    may = "could not be changed there" if closed else "could be changed there"
    return Answer(check, Level.NOTE if closed else Level.OK, f"{title}: not asked for{now}; {may}.")


def _disk(campaign: Campaign, uses: Sequence[Use], host: Host) -> Answer:
    free, needed = host.facts.get("spool_free_bytes"), max(disk_bytes(campaign, use) for use in uses)
    if free is None:
        return Answer(Check.DISK, Level.UNKNOWN, "Its agent does not say how much disk is free.")
    sentence = f"{megabytes(free)} of disk are free; a run may need {megabytes(needed)} until it is uploaded."
    if free < needed:
        return Answer(Check.DISK, Level.BAD, sentence, "Free some, or let the agent upload what waits.")
    return Answer(Check.DISK, Level.OK, sentence)


def _clock(host: Host) -> Answer:
    last = next(iter(host.found), None)
    told = (last.fingerprint.get("clock_offset_ms"), last.fingerprint.get("clock_error_ms")) if last else (None, None)
    offset_ms, error_ms = (float(each) if isinstance(each, int | float) else None for each in told)
    if last is None or offset_ms is None or error_ms is None:
        return Answer(Check.CLOCK, Level.UNKNOWN, "How far its clock is off is found in its first run.")
    sentence = (
        f"Its clock was {offset_ms:+.1f} ms off the server's, known within {error_ms:.1f} ms; runs allow for that."
    )
    if error_ms > CLOCK_TOLERANCE_MS:
        todo = "The control channel is too slow to know the clock; give the agent a faster way to the server."
        return Answer(Check.CLOCK, Level.BAD, sentence, todo, last.at, last.run_id)
    return Answer(Check.CLOCK, Level.OK, sentence, "", last.at, last.run_id)


def _data_port(uses: Sequence[Use], reached: Mapping[tuple[str, str], Reached]) -> Iterator[Answer]:
    """Yield the receivers' answers on data ports, one for each sender that they call."""
    pairs = dict.fromkeys(
        (use.link.senders[flow.sender - 1], use.agent, QuickTestOf(use.link.name, flow.sender))
        for use in uses
        if use.part == "receiver"
        for _, flow in use.flows
        if not flow.passes_relays  # then it calls the last relay
    )
    for sender, receiver, quick_test in pairs:
        last = reached.get((sender, receiver))
        if last is None:
            sentence = f"Whether it reaches the data port of {sender} is not known: no run has tried it."
            todo = f"A quick test on {quick_test.link} tries it."
            yield Answer(Check.DATA_PORT, Level.UNKNOWN, sentence, todo, quick_test=quick_test)
        elif last.has_come:
            sentence = f"It reached the data port of {sender} in their last run."
            yield Answer(Check.DATA_PORT, Level.OK, sentence, "", last.at, last.run_id, quick_test)
        else:
            sentence = f"It did not reach the data port of {sender} in their last run. {last.detail}".rstrip()
            todo = f"Open the port in the sender's firewall; a quick test on {quick_test.link} tries it again."
            yield Answer(Check.DATA_PORT, Level.NOTE, sentence, todo, last.at, last.run_id, quick_test)


def _changes(host: Host) -> Answer:
    """Against the run before, and what the agent says now against the last run."""
    last = next(iter(host.found), None)
    if last is None:
        return Answer(Check.CHANGES, Level.UNKNOWN, "It has had no run yet with which it could be compared.")
    if ways := _ways(host):
        sentence = f"Its last {len(host.found)} runs took several ways: {_and(ways)}. Runs of different ways are never one mean."
        todo = "See its routes: each run shows the way that its flows took."
        return Answer(Check.CHANGES, Level.NOTE, sentence, todo, last.at, last.run_id)
    since = _differences(last.fingerprint, {name: host.facts.get(name) for name in ("kernel", "boot_id")})
    if since:
        return Answer(Check.CHANGES, Level.NOTE, f"Since its last run: {_and(since)}.", "", last.at, last.run_id)
    before = host.found[1] if len(host.found) > 1 else None
    changed = _differences(before.fingerprint, last.fingerprint) if before else []
    if changed:
        sentence = f"Between its last two runs: {_and(changed)}."
        return Answer(Check.CHANGES, Level.NOTE, sentence, "", last.at, last.run_id)
    sentence = "As in its last run." if before is None else "As in its last two runs."
    return Answer(Check.CHANGES, Level.OK, sentence, "", last.at, last.run_id)


def _ways(host: Host) -> list[str]:
    """Interfaces that its packets left by in its last runs, with counts; nothing where it was always the same."""
    counted = Counter(str(name) for each in host.found if (name := each.fingerprint.get("interface")))
    return [f"{name} ({count} runs)" for name, count in counted.most_common()] if len(counted) > 1 else []


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Describe the differences of two fingerprints in words. Facts that one of them lacks are not compared."""
    shared = [name for name in before if name in after and name not in _OF_THE_CLOCK and after[name] is not None]
    return [_difference(name, before[name], after[name]) for name in shared if before[name] != after[name]]


def _difference(name: str, before: Any, after: Any) -> str:
    if name == "boot_id":
        return "the host was restarted"
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        parts = [f"{key} {_word(before.get(key))} to {_word(after.get(key))}" for key in {**before, **after}
                 if before.get(key) != after.get(key)]  # fmt: skip
        return f"{name} ({_and(parts)})"
    return f"{name} {_word(before)} to {_word(after)}"


def _word(value: Any) -> str:
    """Return the text of a value that an agent sent, which may have any type."""
    words = ((True, "on"), (False, "off"), (None, "unknown"))
    return next((word for known, word in words if value is known), str(value))


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""
