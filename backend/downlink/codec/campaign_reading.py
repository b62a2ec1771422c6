"""The reading of plain data as a checked campaign. All problems are reported at once, each with its position.

The sentences follow from the JSON Schema of the place, so that a range is written down once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import filterfalse
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from downlink.codec.campaign_parts import shown
from downlink.codec.campaign_shape import CampaignFile, ConditionPart, StopPart, campaign_schema, first_shape
from downlink.codec.campaign_vary import expand
from downlink.codec.expect_shape import broken_expectations
from downlink.codec.published_shape import broken_values
from downlink.codec.timetable_shape import MAX_RUNS, NEEDS_CYCLES
from downlink.codec.until_shape import broken_until
from downlink.domain.campaigns.campaign import INTCP, Campaign
from downlink.domain.errors import InvalidError
from downlink.domain.results.metric import LINKED, METRICS, PHASES, STEADY_TIMES

Loc = Sequence[int | str]


MOST_PROBLEMS = 100
MOST_NODES = 10_000
"""Of keys and values; the largest file among the examples has 661. Reading takes time for each."""
TOO_MANY_NODES = f"A campaign file has at most {MOST_NODES} keys and values."


def has_more_nodes(data: Any, most: int) -> bool:
    """Return whether nested data has more than `most` keys and values; no more of them are visited."""
    waiting, found = [data], 0
    while waiting and found <= most:
        part = waiting.pop()
        found += 1
        if isinstance(part, Mapping):
            found += len(part)
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part[: most + 1])
    return found > most


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem and its position: `conditions[1].flows[0].cc`, or an empty text for the whole."""

    place: str
    message: str


def campaign_from_dict(data: Any) -> Campaign:
    """The campaign that data (a campaign file, parsed) describes.

    Raises InvalidError `campaign_invalid`; its details hold `problems`, a list of {place, message}.
    """
    found = find_campaign(data)
    if isinstance(found, Campaign):
        return found
    raise campaign_error([{"place": problem.place, "message": problem.message} for problem in found])


def campaign_error(problems: list[dict[str, Any]]) -> InvalidError:
    """One error for all the problems: {place, message} and where known `line`."""
    first, shown = problems[0], problems[:MOST_PROBLEMS]
    line = f"line {first['line']}: " if first.get("line") else ""
    place = f"{first['place']}: " if first["place"] else ""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return InvalidError("campaign_invalid", f"{line}{place}{first['message']}{more}", {"problems": shown})


def find_campaign(data: Any) -> Campaign | list[Problem]:
    """The campaign, or everything that is wrong with it."""
    if not isinstance(data, Mapping):
        return [Problem("", "A campaign must be a mapping of keys to values.")]
    if has_more_nodes(data, MOST_NODES):
        return [Problem("", TOO_MANY_NODES)]
    expanded = expand(data)
    if isinstance(expanded, str):
        return [Problem("vary", expanded)]
    found = _judged(expanded.data)
    if isinstance(found, Campaign):
        return found
    return list(dict.fromkeys(Problem(expanded.place(each.place), each.message) for each in found))


def _judged(data: Mapping[str, Any]) -> Campaign | list[Problem]:
    problems = list(_repeated(data))
    try:
        file = CampaignFile.model_validate(data)
    except ValidationError as refused:
        return [*map(_problem, filterfalse(_is_other_form, refused.errors(include_url=False))), *problems]
    problems += _broken_rules(file)
    return problems or file.to_domain()


def _repeated(data: Mapping[str, Any]) -> Iterator[Problem]:
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


def _broken_rules(file: CampaignFile) -> Iterator[Problem]:
    """Yield violations of rules between several keys."""
    for number, condition in enumerate(file.conditions):
        stop = condition.stop or file.stop
        if stop is None:
            yield Problem(f"conditions[{number}].stop", "is required here, or once for all conditions at the top.")
            continue
        for index, flow in enumerate(condition.flows):
            if stop.seconds is not None and flow.start_s >= stop.seconds:
                place = f"conditions[{number}].flows[{index}].start_s"
                yield Problem(place, f"must be below the {stop.seconds:g} s after which the run stops.")
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
    yield from (Problem(*found) for found in broken_values(file.reproduces, flows, phases, file.links))
    if file.until:
        yield from (Problem(*found) for found in broken_until(file.until, phases, file.conditions, file.deliveries))
    broken = broken_expectations(file.expect, phases, file.conditions, file.links, file.deliveries)
    yield from (Problem(*found) for found in broken)
    runs = file.whole_timetable().runs_per_link(len(file.conditions)) * len(file.links)
    if runs > MAX_RUNS:
        place = "until.most_cycles" if file.until else "timetable"
        yield Problem(place, f"makes {runs} runs; a campaign holds at most {MAX_RUNS}.")


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
    place = f"conditions[{number}].flows"
    if len(senders) > 1:
        yield Problem(place, "has INTCP flows of several senders; all INTCP flows of a condition have one sender.")
    if any(each != options[0] for each in options):
        yield Problem(place, "gives its INTCP flows different options; all of a condition share them.")


def _broken_receivers(number: int, condition: ConditionPart) -> Iterator[Problem]:
    """Yield faults of receivers: a receiver asks for a content once, and the first receiver always takes part."""
    place = f"conditions[{number}].flows"
    if condition.flows and all(flow.receiver != 1 for flow in condition.flows):
        yield Problem(place, "has no flow to receiver 1, which restarts an emulated link for each run; give it one.")
    asked: dict[int, tuple[set[int], object]] = {}
    for index, flow in enumerate(condition.flows):
        if flow.content is None:
            continue
        receivers, offer = asked.setdefault(flow.content, (set(), flow.offer))
        if flow.receiver in receivers:
            why = (
                f"is the second flow to receiver {flow.receiver} with this content; a receiver asks for a content once."
            )
            yield Problem(f"{place}[{index}].content", why)
        if flow.offer != offer:
            yield Problem(f"{place}[{index}].offer", "differs from that of another flow with the same content.")
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
        place = f"conditions[{number}].flows[{index}].probe"
        if stop.seconds is None:
            yield Problem(place, "needs a stop rule in seconds: probes have no bytes to end with.")
        if flow.sender in senders:
            yield Problem(place, f"is the second of sender {flow.sender}; a sender has one probe flow at most.")
        senders.add(flow.sender)


FORMS = ("list[", "dict[")
"""How pydantic names the forms that a value of `vary` may have, within a place."""


def _is_other_form(error: ErrorDetails) -> bool:
    """Return whether an error reports a mapping as no list; the error of the other form is the useful one."""
    return any(str(part).startswith("list[") for part in error["loc"]) and isinstance(error["input"], Mapping)


def _problem(error: ErrorDetails) -> Problem:
    loc = [part for part in error["loc"] if part != "[key]" and not str(part).startswith(FORMS)]
    context = error.get("ctx", {})
    if error["type"] == "at_key":
        return Problem(_place([*loc, context["key"]]), context["message"])
    if error["type"] == "extra_forbidden":
        return Problem(_place(loc), f"unknown key. Allowed here: {', '.join(_node(loc[:-1])['properties'])}.")
    node = _node(loc)
    if error["type"] == "missing":
        return Problem(_place(loc), _required(node))
    own = str(context.get("error", ""))
    return Problem(_place(loc), own if own.endswith(".") else f"must be {_wanted(node)}, not {_there(error['input'])}.")


def _there(value: Any) -> str:
    return f"one of {len(value)}" if isinstance(value, list) else shown(value)


def _place(loc: Loc) -> str:
    place = ""
    for part in loc:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else part
    return place


def _required(node: Mapping[str, Any]) -> str:
    says = node.get("description", "")
    return f"is required: {says[0].lower()}{says[1:].rstrip('.')}." if says else "is required."


@cache
def _schema() -> Mapping[str, Any]:
    return campaign_schema()


def _node(loc: Loc) -> Mapping[str, Any]:
    """The schema of a place."""
    node = _schema()
    for part in loc:
        inner = node["items"] if isinstance(part, int) else node.get("properties", {}).get(part)
        node = first_shape(inner or node.get("additionalProperties") or {})
    return node


def _wanted(node: Mapping[str, Any]) -> str:
    """Describe in words what a key accepts."""
    if "enum" in node:
        return f"one of {', '.join(node['enum'])}"
    if "pattern" in node:
        return f"a text of the form {node['pattern'].strip('^$')}"
    words = _WORDS.get(str(node.get("type")), "a mapping of keys to values")
    return words.format_map({"minLength": 0, "maxLength": 200, **node, **_bounds(node)})


def _bounds(node: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the bounds of a number without exponents."""
    found = {name: node[name] for name in ("minimum", "maximum") if name in node}
    return {name: f"{bound:.0f}" if float(bound).is_integer() else f"{bound:g}" for name, bound in found.items()}


_WORDS = {
    "boolean": "true or false",
    "integer": "a whole number from {minimum} to {maximum}",
    "number": "a number from {minimum} to {maximum}",
    "array": "a list of {minItems} to {maxItems}",
    "string": "a text of {minLength} to {maxLength} characters",
}
