"""The text of a campaign file, YAML or JSON, to a checked campaign. Problems come with their lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

from downlink.codec.campaign_reading import MOST_NODES, TOO_MANY_NODES, campaign_error, find_campaign
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.errors import InvalidError
from downlink.domain.text import is_storable

MAX_TEXT_BYTES = 256 * 2**10
_TEXT = "tag:yaml.org,2002:str"
MAX_DEPTH = 20
READ_DEPTH = MAX_DEPTH + 5
"""Depth from which a text is not even read; what is a little deeper is refused with its place."""


def parse_campaign(text: str) -> Campaign:
    """The campaign that the text describes.

    Raises InvalidError `campaign_invalid`; its details hold `problems`, a list of {place, message} with `line` (from 1)
    where it is known.
    """
    if not is_storable(text):
        raise _refusal("A campaign file is text: it holds no zero characters and no halves of surrogate pairs.")
    if len(text.encode()) > MAX_TEXT_BYTES:
        raise _refusal(f"A campaign file holds at most {MAX_TEXT_BYTES // 1024} KiB.")
    data, lines = _load(text)
    campaign = find_campaign(data)
    if isinstance(campaign, Campaign):
        return campaign
    raise campaign_error(
        [{"place": each.place, "line": _line(lines, each.place), "message": each.message} for each in campaign]
    )


def renamed(text: str, name: str) -> str:
    """The text of a campaign file with another name, and nothing else changed. The text is one that `parse_campaign` takes."""
    for key, value in _node(text).value:
        if key.value == "name":
            start, end = value.start_mark.index, value.end_mark.index
            ending = "\n" if text[start:end].endswith("\n") else ""  # of a text in several lines
            return text[:start] + json.dumps(name, ensure_ascii=False) + ending + text[end:]
    raise _refusal("name: is required.")


def _node(text: str) -> yaml.Node:
    """JSON is YAML too, apart from its tabs."""
    node = _Loader(text.replace("\t", " ") if text.lstrip().startswith("{") else text).get_single_node()
    if node is None:
        raise _refusal("The campaign file is empty.")
    return node


def _refusal(message: str, line: int | None = None, position: str = "") -> InvalidError:
    return campaign_error([{"place": position, "line": line, "message": message}])


def _load(text: str) -> tuple[Any, dict[str, int]]:
    """The data and the line of every place in it. JSON is YAML too, apart from its tabs."""
    try:
        loader = _Loader(text.replace("\t", " ") if text.lstrip().startswith("{") else text)
        node = loader.get_single_node()
        if node is None:
            raise _refusal("The campaign file is empty.")
        lines = dict(_places(node))
        return loader.construct_document(node), lines
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise _refusal(f"This text is neither YAML nor JSON: {error.problem}.", line) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _refusal("This text is neither YAML nor JSON: its characters or its nesting.") from error


def _places(node: yaml.Node, position: str = "", depth: int = 0) -> Iterator[tuple[str, int]]:
    """Every place with its line. Refuses what a campaign file has no use for: depth, and keys that are twice there."""
    line = node.start_mark.line + 1
    if depth > MAX_DEPTH:
        raise _refusal(f"nested deeper than {MAX_DEPTH} levels.", line, position)
    yield position, line
    if isinstance(node, yaml.SequenceNode):
        for index, part in enumerate(node.value):
            yield from _places(part, f"{position}[{index}]", depth + 1)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
            if fault := _key_fault(key, seen):
                raise _refusal(f"{fault}.", key.start_mark.line + 1, f"{position}.{name}".strip("."))
            seen.add(name)
            yield from _places(value, f"{position}.{name}" if position else name, depth + 1)


def _key_fault(key: yaml.Node, seen: set[str]) -> str | None:
    if not isinstance(key, yaml.ScalarNode):
        return "a key must be a plain text"
    if key.tag != _TEXT:
        return f'a key must be a text: write "{key.value}", in quotes'
    return "this key appears twice" if key.value in seen else None


def _line(lines: dict[str, int], position: str) -> int | None:
    """The line of a position, or of the nearest thing around it that the text holds."""
    while position and position not in lines:
        position = position[: max(position.rfind("."), position.rfind("["), 0)]
    return lines.get(position)


class _Loader(yaml.SafeLoader):
    """Plain data with the scalars of YAML 1.2: `on` is a text, 1e9 a number. No tags, and no aliases: defaults say what is shared.

    What is too deep or too long is refused while it is read: the reader's time grows with each node.
    """

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - pyyaml's own name
    _nodes = 0
    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._nodes += 1
        self._depth += 1
        if self._nodes > MOST_NODES or self._depth > READ_DEPTH:
            message = TOO_MANY_NODES if self._nodes > MOST_NODES else f"nested deeper than {MAX_DEPTH} levels."
            raise _refusal(message, self.peek_event().start_mark.line + 1)  # type: ignore[no-untyped-call]
        node = self._compose_plain(parent, index)
        self._depth -= 1
        return node

    def _compose_plain(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            message = "aliases (*name) are not allowed; write under defaults what conditions share"
            raise yaml.MarkedYAMLError(problem=message, problem_mark=self.peek_event().start_mark)  # type: ignore[no-untyped-call]
        if getattr(event := self.peek_event(), "tag", None) is not None:  # type: ignore[no-untyped-call]
            message = f"tags ({event.tag}) are not allowed; write the plain value"
            raise yaml.MarkedYAMLError(problem=message, problem_mark=event.start_mark)
        return super().compose_node(parent, index)


for _tag, _pattern in {
    "null": r"~|null|",
    "bool": r"true|false",
    "int": r"[-+]?(0|[1-9][0-9]*)",
    "float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?",
}.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"({_pattern})$"), None)
