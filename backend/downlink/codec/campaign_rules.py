"""Rules of a campaign file between several keys, checked after each key by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from downlink.codec.campaign_parts import shown
from downlink.codec.campaign_shape import CampaignFile, ConditionPart, StopPart
from downlink.codec.expect_shape import broken_expectations
from downlink.codec.published_shape import broken_values
from downlink.codec.timetable_shape import MAX_RUNS, NEEDS_CYCLES
from downlink.codec.until_shape import broken_until
from downlink.domain.campaigns.flow_plan import INTCP
from downlink.domain.results.metric import LINKED, METRICS, PHASES, STEADY_TIMES


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem and its position: `conditions[1].flows[0].cc`, or an empty text for the whole."""

    place: str
    message: str


def repeated(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what appears twice in a list whose parts must differ, whatever else may be wrong with them."""
    conditions = data.get("conditions")
    names = [part.get("name") if isinstance(part, Mapping) else None for part in _list(conditions)]
    for index, name in _again(names):
        message = f"{name!r} is the name of an earlier condition; each needs its own."
        yield Problem(f"conditions[{index}].name", message)
    windows = [part.get("name") if isinstance(part, Mapping) else None for part in _list(data.get("windows"))]
    for index, name in _again(windows):
        yield Problem(f"windows[{index}].name", f"{name!r} is the name of an earlier window; each needs its own.")
    for key in ("links", "primary_metrics"):
        for index, name in _again(_list(data.get(key))):
            yield Problem(f"{key}[{index}]", f"{name!r} appears twice.")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _again(names: Sequence[Any]) -> Iterator[tuple[int, str]]:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if isinstance(name, str):
            if name in seen:
                yield index, name
            seen.add(name)


def broken_rules(file: CampaignFile) -> Iterator[Problem]:
    """Yield violations of rules between several keys."""
    for number, condition in enumerate(file.conditions):
        stop = condition.stop or file.stop
        if stop is None:
            yield Problem(f"conditions[{number}].stop", "is required here, or once for all conditions at the top.")
            continue
        for index, flow in enumerate(condition.flows):
            if stop.seconds is not None and flow.start_s >= stop.seconds:
                position = f"conditions[{number}].flows[{index}].start_s"
                yield Problem(position, f"must be below the {stop.seconds:g} s after which the run stops.")
        yield from _broken_probes(number, condition, stop)
        yield from _broken_ways(number, condition)
        yield from _broken_receivers(number, condition)
    yield from _broken_vary(file)
    yield from _broken_timetable(file)
    yield from _broken_trigger(file)
    yield from _unknown_metrics(file)
    yield from _late_windows(file)
    flows = {condition.name: len(condition.flows) for condition in file.conditions}
    phases = (*PHASES, *(window.name for window in file.windows))
    yield from (Problem(*fault) for fault in broken_values(file.reproduces, flows, phases, file.links))
    if file.until:
        yield from (Problem(*fault) for fault in broken_until(file.until, phases, file.conditions, file.deliveries))
    broken = broken_expectations(file.expect, phases, file.conditions, file.links, file.deliveries)
    yield from (Problem(*fault) for fault in broken)
    runs = file.whole_timetable().runs_per_link(len(file.conditions)) * len(file.links)
    if runs > MAX_RUNS:
        position = "until.most_cycles" if file.until else "timetable"
        yield Problem(position, f"makes {runs} runs; a campaign holds at most {MAX_RUNS}.")


def _broken_timetable(file: CampaignFile) -> Iterator[Problem]:
    """Yield faults of the timetable, which gives the number of runs unless `until` does."""
    timetable = file.timetable
    if file.until is None:
        if timetable.cycles is None and timetable.duration_h is None:
            yield Problem("timetable", NEEDS_CYCLES)
        return
    if timetable.cycles is not None:
        message = "does not go with until, whose most_cycles says how many there are at most: leave out one of the two."
        yield Problem("timetable.cycles", message)
    if timetable.duration_h is not None:
        message = "does not go with until, which ends a campaign by its numbers and not by the clock: leave out one of the two."
        yield Problem("timetable.duration_h", message)
    if timetable.repeat is not None:
        message = (
            "does not go with until, whose cycles go on from day to day by themselves: use opening_hours for that."
        )
        yield Problem("timetable.repeat", message)
    if file.trigger is not None:
        message = "does not go with trigger, of which each firing plans its own cycles: give timetable.cycles instead."
        yield Problem("until", message)


def _broken_trigger(file: CampaignFile) -> Iterator[Problem]:
    """A trigger starts the timetable, so that this has no beginnings of its own; and its quantity is one of the links'."""
    if file.trigger is None:
        return
    if file.timetable.duration_h is not None:
        yield Problem("timetable", "needs cycles where a trigger starts it: how many each firing plans.")
    if file.timetable.repeat is not None:
        yield Problem("timetable.repeat", "cannot be combined with a trigger, which restarts the timetable by itself.")
    when, links = file.trigger.when, file.links
    if when.quantity and when.link is None and len(links) > 1:
        yield Problem("trigger.when.link", "is required: the campaign has several links; say whose quantity it is.")
    if when.link is not None and when.link not in links:
        yield Problem("trigger.when.link", f"must be one of {', '.join(links)}, not {shown(when.link)}.")
    runs = (file.timetable.cycles or 1) * len(file.conditions) * len(links) * file.trigger.most
    if runs > MAX_RUNS:
        yield Problem("trigger.most", f"would make up to {runs} runs; a campaign holds at most {MAX_RUNS}.")


def _unknown_metrics(file: CampaignFile) -> Iterator[Problem]:
    """Primary metrics of phases that the campaign does not have, or that nobody computes."""
    phases = (*PHASES, *(window.name for window in file.windows))
    known = [*(f"{phase}.{metric}" for phase in phases for metric in (*METRICS, *LINKED)), *STEADY_TIMES]
    for index, name in enumerate(file.primary_metrics):
        if name not in known:
            yield Problem(f"primary_metrics[{index}]", f"must be one of {', '.join(known)}, not {name!r}.")


def _late_windows(file: CampaignFile) -> Iterator[Problem]:
    """Windows that reach beyond the end of runs which stop by seconds."""
    stops = [condition.stop or file.stop for condition in file.conditions]
    known_s = [stop.seconds for stop in stops if stop is not None and stop.seconds is not None]
    for index, window in enumerate(file.windows):
        if known_s and window.to_s > min(known_s):
            yield Problem(
                f"windows[{index}].to_s", f"must be at most {min(known_s):g}, the seconds of the shortest run."
            )


def _broken_ways(number: int, condition: ConditionPart) -> Iterator[Problem]:
    """A relay has one neighbour upstream for all INTCP flows of a run."""
    senders = {flow.sender for flow in condition.flows if flow.transport == INTCP}
    options = [dict(flow.options) for flow in condition.flows if flow.transport == INTCP]
    position = f"conditions[{number}].flows"
    if len(senders) > 1:
        yield Problem(position, "has INTCP flows of several senders; all INTCP flows of a condition have one sender.")
    if any(each != options[0] for each in options):
        yield Problem(position, "gives its INTCP flows different options; all of a condition share them.")


def _broken_receivers(number: int, condition: ConditionPart) -> Iterator[Problem]:
    """Yield faults of receivers: a receiver asks for a content once, and the first receiver always takes part."""
    position = f"conditions[{number}].flows"
    if condition.flows and all(flow.receiver != 1 for flow in condition.flows):
        yield Problem(position, "has no flow to receiver 1, which restarts an emulated link for each run; give it one.")
    asked: dict[int, tuple[set[int], object]] = {}
    for index, flow in enumerate(condition.flows):
        if flow.content is None:
            continue
        receivers, offer = asked.setdefault(flow.content, (set(), flow.offer))
        if flow.receiver in receivers:
            why = (
                f"is the second flow to receiver {flow.receiver} with this content; a receiver asks for a content once."
            )
            yield Problem(f"{position}[{index}].content", why)
        if flow.offer != offer:
            yield Problem(f"{position}[{index}].offer", "differs from that of another flow with the same content.")
        receivers.add(flow.receiver)


def _broken_vary(file: CampaignFile) -> Iterator[Problem]:
    """A value for each link, and for no other."""
    for key, by_link in file.vary.items():
        if not isinstance(by_link, dict):
            continue  # taken apart before
        missing = [link for link in file.links if link not in by_link]
        strange = [link for link in by_link if link not in file.links]
        if missing or strange:
            what = f"lacks a value for {missing[0]}" if missing else f"names {strange[0]}, which is not among the links"
            yield Problem(f"vary.{key}", f"{what}; give each of the campaign's links one value.")


def _broken_probes(number: int, condition: ConditionPart, stop: StopPart) -> Iterator[Problem]:
    senders: set[int] = set()
    for index, flow in enumerate(condition.flows):
        if flow.probe is None:
            continue
        position = f"conditions[{number}].flows[{index}].probe"
        if stop.seconds is None:
            yield Problem(position, "needs a stop rule in seconds: probes have no bytes to end with.")
        if flow.sender in senders:
            yield Problem(position, f"is the second of sender {flow.sender}; a sender has one probe flow at most.")
        senders.add(flow.sender)
