"""The reading of plain data as a checked campaign. All problems are reported at once, each with its position.

The sentences follow from the JSON Schema of the place, so that a range is written down once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import filterfalse
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from downlink.codec.campaign_parts import shown
from downlink.codec.campaign_rules import Problem, broken_rules, repeated
from downlink.codec.campaign_shape import CampaignFile, campaign_schema, first_shape
from downlink.codec.campaign_vary import expand
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.errors import InvalidError

Loc = Sequence[int | str]


MOST_PROBLEMS = 100
MOST_NODES = 10_000
"""Keys and values at most, since each takes time to read; the largest file among the examples has 661."""
TOO_MANY_NODES = f"A campaign file has at most {MOST_NODES} keys and values."


def has_more_nodes(data: Any, most: int) -> bool:
    """Return whether nested data has more than `most` keys and values; no more of them are visited."""
    waiting, count = [data], 0
    while waiting and count <= most:
        part = waiting.pop()
        count += 1
        if isinstance(part, Mapping):
            count += len(part)
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part[: most + 1])
    return count > most


def campaign_from_dict(data: Any) -> Campaign:
    """The campaign that data (a campaign file, parsed) describes.

    Raises InvalidError `campaign_invalid`; its details hold `problems`, a list of {place, message}.
    """
    campaign = find_campaign(data)
    if isinstance(campaign, Campaign):
        return campaign
    raise campaign_error([{"place": problem.place, "message": problem.message} for problem in campaign])


def campaign_error(problems: list[dict[str, Any]]) -> InvalidError:
    """One error for all the problems: {position, message} and where known `line`."""
    first, shown = problems[0], problems[:MOST_PROBLEMS]
    line = f"line {first['line']}: " if first.get("line") else ""
    position = f"{first['place']}: " if first["place"] else ""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return InvalidError("campaign_invalid", f"{line}{position}{first['message']}{more}", {"problems": shown})


def find_campaign(data: Any) -> Campaign | list[Problem]:
    """The campaign, or everything that is wrong with it."""
    if not isinstance(data, Mapping):
        return [Problem("", "A campaign must be a mapping of keys to values.")]
    if has_more_nodes(data, MOST_NODES):
        return [Problem("", TOO_MANY_NODES)]
    expanded = expand(data)
    if isinstance(expanded, str):
        return [Problem("vary", expanded)]
    judged = _judged(expanded.data)
    if isinstance(judged, Campaign):
        return judged
    return list(dict.fromkeys(Problem(expanded.position(each.place), each.message) for each in judged))


def _judged(data: Mapping[str, Any]) -> Campaign | list[Problem]:
    problems = list(repeated(data))
    try:
        file = CampaignFile.model_validate(data)
    except ValidationError as refused:
        return [*map(_problem, filterfalse(_is_other_form, refused.errors(include_url=False))), *problems]
    problems += broken_rules(file)
    return problems or file.to_domain()


FORMS = ("list[", "dict[")
"""Names that pydantic gives, within a place, to the forms that a value of `vary` may have."""


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
    position = ""
    for part in loc:
        position += f"[{part}]" if isinstance(part, int) else f".{part}" if position else part
    return position


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
    bounds = {name: node[name] for name in ("minimum", "maximum") if name in node}
    return {name: f"{bound:.0f}" if float(bound).is_integer() else f"{bound:g}" for name, bound in bounds.items()}


_WORDS = {
    "boolean": "true or false",
    "integer": "a whole number from {minimum} to {maximum}",
    "number": "a number from {minimum} to {maximum}",
    "array": "a list of {minItems} to {maxItems}",
    "string": "a text of {minLength} to {maxLength} characters",
}
