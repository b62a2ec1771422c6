"""`vary` of a campaign file: a condition for each value of one key, so that the value can be an x-axis.

On plain data, before it is judged: each condition that comes of it is judged like one that was written out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from downlink.codec.campaign_parts import shown
from downlink.domain.campaigns.flow_plan import INTCP, INTCP_CHOICES, INTCP_RANGES, PROBE, SPLIT
from downlink.domain.fleet.setting import settings
from downlink.domain.links.link import MAX_RECEIVERS

Data = dict[str, Any]
Setter = Callable[[Data, Any], bool]
"""Gives a condition the value; False where the key means nothing to it."""


@dataclass(frozen=True)
class Expanded:
    """data: without what `vary` says of conditions. origins: of each condition its place in the file. key: that was varied."""

    data: Mapping[str, Any]
    origins: tuple[int, ...]
    key: str | None = None

    def position(self, position: str) -> str:
        """Translate a position in the expanded data to one in the file that was written."""
        match = re.match(r"conditions\[(\d+)\](.*)", position)
        if self.key is None or not match or int(match[1]) >= len(self.origins):
            return position
        name = self.key.rpartition(".")[2]
        if match[2].endswith(f".{name}"):
            return f"vary.{self.key}"
        return f"conditions[{self.origins[int(match[1])]}]{match[2]}"


def expand(data: Mapping[str, Any]) -> Expanded | str:
    """The data with a condition for each value, or what is wrong with `vary`, in a sentence."""
    vary, conditions = data.get("vary"), data.get("conditions")
    if not isinstance(vary, Mapping) or not isinstance(conditions, list) or not vary:
        return Expanded(data, ())  # the shape of the file says what is wrong
    if len(vary) > 1 or not isinstance(next(iter(vary.values())), list):
        return _no_single_list(vary) or Expanded(data, ())
    ((key, values),) = vary.items()
    if len({str(value) for value in values}) < len(values):
        return f"{key} has a value twice; name each once."
    setter = _setters().get(key)
    if setter is None:
        plain = ", ".join(name for name in _setters() if "." not in name)
        return f"{key} cannot be varied. These can: {plain}, and settings, as sender.NAME, receiver.NAME or relay.NAME."
    made = list(_made(conditions, str(key), values, setter))
    if all(condition.get("varied") is None for condition, _ in made if isinstance(condition, Mapping)):
        return f"No condition has anything that {key} would change."
    rest = {name: value for name, value in data.items() if name != "vary"}
    return Expanded(
        {**rest, "conditions": [condition for condition, _ in made]}, tuple(origin for _, origin in made), str(key)
    )


def _no_single_list(vary: Mapping[Any, Any]) -> str | None:
    """Explain why this is not one key with a list of values; None for a mapping from link to value."""
    if len(vary) > 1:
        return f"{' and '.join(map(str, vary))} cannot be varied at once: give one key with its values."
    ((key, values),) = vary.items()
    if isinstance(values, Mapping):
        return None
    return f"{key} needs a list of values, or a mapping of links to one value each, not {shown(values)}."


def _made(conditions: list[Any], key: str, values: list[Any], setter: Setter) -> Iterator[tuple[Any, int]]:
    for origin, written in enumerate(conditions):
        if not isinstance(written, Mapping):
            yield written, origin
            continue
        for value in values:
            condition = deepcopy(dict(written))
            if not setter(condition, value):
                yield written, origin
                break
            condition["name"] = f"{written.get('name')}, {key} {value}"
            condition["varied"] = {"key": key, "value": value, "of": written.get("name")}
            yield condition, origin


def _setters() -> dict[str, Setter]:
    intcp = dict.fromkeys((*INTCP_RANGES, *INTCP_CHOICES))
    hosts = (f"{part}.{name}" for part in ("sender", "receiver", "relay") for name in settings())
    return {
        "receivers": _receivers_setter,
        "transport": _flow_setter("transport", ("tcp", SPLIT, INTCP)),
        "cc": _flow_setter("cc", ("tcp", SPLIT)),
        "relay_cc": _flow_setter("relay_cc", (SPLIT,)),
        "pacing_rate_bps": _flow_setter("pacing_rate_bps", ("tcp", SPLIT)),
        **{key: _nested_setter("options", key) for key in intcp},
        **{key: _nested_setter("offer", key) for key in ("message_bytes", "every_ms")},
        **{key: _stop_setter(key) for key in ("seconds", "bytes")},
        **{key: _host_setter(*key.split(".", 1)) for key in hosts},
    }


def _flows(condition: Data) -> list[Data]:
    """Return the flows that are mappings; a condition without flows gets the default one."""
    flows = condition.get("flows")
    if flows is None:
        flows = condition["flows"] = [{}]
    plain = [each for each in flows if isinstance(each, dict)] if isinstance(flows, list) else []
    return [each for each in plain if PROBE not in each]


def _flow_setter(key: str, kinds: tuple[str, ...]) -> Setter:
    def give(condition: Data, value: Any) -> bool:
        flows = [flow for flow in _flows(condition) if flow.get("transport", "tcp") in kinds]
        for flow in flows:
            flow[key] = value
        return bool(flows)

    return give


def _nested_setter(part: str, key: str) -> Setter:
    """Options of INTCP flows, and offers where there are some."""

    def give(condition: Data, value: Any) -> bool:
        is_offer = part == "offer"
        flows = [each for each in _flows(condition) if (part in each if is_offer else each.get("transport") == INTCP)]
        for flow in flows:
            flow[part] = {**(flow.get(part) or {}), key: value}
        return bool(flows)

    return give


def _receivers_setter(condition: Data, value: Any) -> bool:
    """Make as many flows as receivers, from the first on, each like the single flow that there is; INTCP's ask for one content."""
    flows = _flows(condition)
    if len(flows) != 1 or len(condition["flows"]) != 1 or "receiver" in flows[0]:
        return False
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_RECEIVERS:
        flows[0]["receiver"] = value  # which the shape of a flow refuses
        return True
    shared = {"content": 1, **flows[0]} if flows[0].get("transport") == INTCP else flows[0]
    condition["flows"] = [{**deepcopy(shared), "receiver": number} for number in range(1, value + 1)]
    return True


def _stop_setter(key: str) -> Setter:
    def give(condition: Data, value: Any) -> bool:
        condition["stop"] = {key: value}
        return True

    return give


def _host_setter(part: str, name: str) -> Setter:
    def give(condition: Data, value: Any) -> bool:
        condition[part] = {**(condition.get(part) or {}), name: value}
        return True

    return give
