"""From plain data to a checked campaign. What is wrong is said all at once, each with its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from downlink.domain.campaign import (
    LEAST_PHASE_S,
    Campaign,
    Condition,
    FlowPlan,
    Limits,
    Order,
    Phases,
    Sampling,
    Scalar,
    StopRule,
    Timetable,
)
from downlink.domain.errors import InvalidError
from downlink.domain.link import MAX_SENDERS
from downlink.domain.metric import DEFAULT_PRIMARY, PRIMARY_NAMES
from downlink.domain.reading import Problem, Reader, is_storable
from downlink.domain.setting import settings

MAX_CONDITIONS = 64
MAX_LINKS = 64
MAX_FLOWS = 16
MAX_PRIMARY = 10
MAX_RUNS = 100_000
MAX_SECONDS = 86_400.0
MAX_BYTES = 10**13
MAX_RATE_BPS = 10**12
MAX_OPTION = 2**63
# TCP_CA_NAME_MAX is 16 with the closing zero.
CC_NAME = r"[A-Za-z0-9_-]{1,15}"


def campaign_from_dict(data: Mapping[str, Any]) -> Campaign:
    """The campaign that data (a campaign file, parsed) describes.

    Raises InvalidError `campaign_invalid`; its details hold `problems`, a list of {place, message}.
    """
    campaign, problems = read_campaign(data)
    if problems or campaign is None:
        raise campaign_error([{"place": problem.place, "message": problem.message} for problem in problems])
    return campaign


def campaign_error(problems: list[dict[str, Any]]) -> InvalidError:
    """One error for all the problems: {place, message} and where known `line`."""
    first = problems[0]
    line = f"line {first['line']}: " if first.get("line") else ""
    place = f"{first['place']}: " if first["place"] else ""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return InvalidError("campaign_invalid", f"{line}{place}{first['message']}{more}", {"problems": problems})


def read_campaign(data: Mapping[str, Any]) -> tuple[Campaign | None, list[Problem]]:
    """The campaign, or None with everything that is wrong with it."""
    if not isinstance(data, Mapping):
        return None, [Problem("", "A campaign must be a mapping of keys to values.")]
    reader = Reader(data)
    reader.allow(
        *("name", "notes", "links", "stop", "phases", "timetable", "limits", "sampling", "primary_metrics"),
        *("defaults", "conditions"),
    )
    conditions = _conditions(reader)
    campaign = Campaign(
        name=reader.text("name"),
        notes=reader.text("notes", "", most=10_000),
        links=_links(reader),
        phases=_phases(reader.section("phases"), conditions),
        timetable=_timetable(reader),
        limits=_limits(reader.section("limits")),
        conditions=conditions,
        sampling=Sampling(reader.choice("sampling", Sampling.POLLED, [each.value for each in Sampling])),
        primary_metrics=_primary_metrics(reader),
    )
    _check_size(campaign, reader)
    return (None if reader.problems else campaign), reader.problems


def _links(reader: Reader) -> tuple[str, ...]:
    if not reader.has("links"):
        reader.refuse("links", "is required: the names of the links, in order.")
    names = reader.items("links", MAX_LINKS)
    for index, name in enumerate(names):
        if not isinstance(name, str) or not name.strip() or not is_storable(name):
            reader.refuse(f"links[{index}]", "must be the name of a link.")
        elif name in names[:index]:
            reader.refuse(f"links[{index}]", f"{name!r} appears twice.")
    return tuple(str(name) for name in names)


def _primary_metrics(reader: Reader) -> tuple[str, ...]:
    names = reader.items("primary_metrics", MAX_PRIMARY)
    for index, name in enumerate(names):
        if name not in PRIMARY_NAMES:
            reader.refuse(f"primary_metrics[{index}]", f"must be one of {', '.join(PRIMARY_NAMES)}, not {name!r}.")
        elif name in names[:index]:
            reader.refuse(f"primary_metrics[{index}]", f"{name!r} is listed twice.")
    return tuple(map(str, names)) or DEFAULT_PRIMARY


def _phases(reader: Reader, conditions: Iterable[Condition]) -> Phases:
    """As named; what is not named fits into the shortest run whose length is known."""
    reader.allow("startup_s", "steady_s")
    named = {
        key: reader.number(key, 1, LEAST_PHASE_S, MAX_SECONDS) for key in ("startup_s", "steady_s") if reader.has(key)
    }
    known_s = [condition.stop.seconds for condition in conditions if condition.stop.seconds is not None]
    return Phases.fitting(min(known_s), **named) if known_s else Phases(**named)


def _timetable(parent: Reader) -> Timetable:
    reader = parent.section("timetable")
    reader.allow("cycles", "duration_h", "every_s", "pause_s", "order", "seed")
    order = Order(reader.choice("order", Order.INTERLEAVED, [order.value for order in Order]))
    seed = reader.integer("seed", 1, 0, 2**32 - 1)
    if reader.has("cycles"):
        _refuse_each(
            reader,
            ("duration_h", "every_s"),
            "does not go with cycles: give either cycles, or duration_h with every_s.",
        )
        cycles = reader.integer("cycles", 1, 1, MAX_RUNS)
        return Timetable(cycles, pause_s=reader.number("pause_s", 0, 0, MAX_SECONDS), order=order, seed=seed)
    if not (reader.has("duration_h") and reader.has("every_s")):
        parent.refuse("timetable", "needs cycles, or duration_h with every_s.")
        return Timetable(1, order=order, seed=seed)
    _refuse_each(reader, ("pause_s",), "does not go with duration_h: every_s sets the spacing.")
    duration_h = reader.number("duration_h", 1, 0.001, 24 * 366)
    every_s = reader.number("every_s", 3600, 1, 30 * MAX_SECONDS)
    if every_s > duration_h * 3600:
        reader.refuse("every_s", f"must not be longer than the duration, {duration_h * 3600:g} s.")
    return Timetable(duration_h=duration_h, every_s=every_s, order=order, seed=seed)


def _refuse_each(reader: Reader, keys: tuple[str, ...], message: str) -> None:
    for key in keys:
        if reader.has(key):
            reader.refuse(key, message)


def _limits(reader: Reader) -> Limits:
    reader.allow("attempts", "bytes")
    return Limits(
        attempts=reader.integer("attempts", Limits.attempts, 1, 10),
        bytes=reader.integer("bytes", 0, 1, 10**18) if reader.has("bytes") else None,
    )


def _conditions(reader: Reader) -> tuple[Condition, ...]:
    common_stop = _stop(reader.section("stop")) if reader.has("stop") else None
    defaults = reader.section("defaults")
    defaults.allow("sender", "receiver")
    base = {role: _settings(defaults.section(role)) for role in ("sender", "receiver")}
    if not reader.has("conditions"):
        reader.refuse("conditions", "is required: a list of conditions, each with a name.")
    conditions = [_condition(part, base, common_stop) for part in reader.sections("conditions", MAX_CONDITIONS)]
    names = [condition.name for condition in conditions]
    for index, name in enumerate(names):
        if name and name in names[:index]:
            reader.refuse(
                f"conditions[{index}].name", f"{name!r} is the name of an earlier condition; each needs its own."
            )
    return tuple(conditions)


def _condition(reader: Reader, base: Mapping[str, Mapping[str, str]], common_stop: StopRule | None) -> Condition:
    reader.allow("name", "sender", "receiver", "flows", "stop")
    stop = _stop(reader.section("stop")) if reader.has("stop") else common_stop
    if stop is None:
        reader.refuse("stop", "is required here, or once for all conditions at the top.")
    return Condition(
        name=reader.text("name"),
        sender={**base["sender"], **_settings(reader.section("sender"))},
        receiver={**base["receiver"], **_settings(reader.section("receiver"))},
        flows=tuple(_flow(part, stop) for part in reader.sections("flows", MAX_FLOWS)) or (FlowPlan(),),
        stop=stop or StopRule(seconds=1),
    )


def _stop(reader: Reader) -> StopRule:
    reader.allow("seconds", "bytes")
    if reader.has("seconds") == reader.has("bytes"):
        reader.refuse("", "needs one of seconds and bytes, and not both.")
    if reader.has("bytes"):
        return StopRule(bytes=reader.integer("bytes", 1, 1, MAX_BYTES))
    return StopRule(seconds=reader.number("seconds", 1, 1, MAX_SECONDS))


def _settings(reader: Reader) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in reader.data.items():
        setting = settings().get(name)
        text = "" if isinstance(value, bool) else " ".join(str(value).split())
        if setting is None:
            reader.refuse(str(name), f"is not a setting that agents change. Allowed: {', '.join(settings())}.")
        elif not setting.accepts(text):
            reader.refuse(name, f"must be {setting.allowed}, not {value!r}.")
        else:
            values[name] = text
    return values


def _flow(reader: Reader, stop: StopRule | None) -> FlowPlan:
    reader.allow("cc", "sender", "start_s", "options", "pacing_rate_bps")
    start_s = reader.number("start_s", 0, 0, MAX_SECONDS)
    if stop and stop.seconds is not None and start_s >= stop.seconds:
        reader.refuse("start_s", f"must be below the {stop.seconds:g} s after which the run stops.")
    return FlowPlan(
        cc=reader.text("cc", FlowPlan.cc, most=15, pattern=CC_NAME),
        sender=reader.integer("sender", 1, 1, MAX_SENDERS),
        start_s=start_s,
        options=_options(reader.section("options")),
        pacing_rate_bps=reader.integer("pacing_rate_bps", 0, 8, MAX_RATE_BPS)
        if reader.has("pacing_rate_bps")
        else None,
    )


def _options(reader: Reader) -> dict[str, Scalar]:
    for name, value in reader.data.items():
        if not isinstance(value, (str, int, float, bool)) or not is_storable(f"{name}{value}"):
            reader.refuse(str(name), "must be a name with a text, a number, true or false.")
        elif isinstance(value, (int, float)) and not abs(value) < MAX_OPTION:
            reader.refuse(str(name), "must be a finite number, below 2^63.")
    return {str(name): value for name, value in reader.data.items()}


def _check_size(campaign: Campaign, reader: Reader) -> None:
    runs = campaign.timetable.runs_per_link(len(campaign.conditions)) * len(campaign.links)
    if runs > MAX_RUNS:
        reader.refuse("timetable", f"makes {runs} runs; a campaign holds at most {MAX_RUNS}.")
