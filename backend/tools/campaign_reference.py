"""Writes docs/campaign-keys.csv again: every key of a campaign file, from its schema."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from downlink.codec.campaign_shape import campaign_schema, first_shape

LIST = Path(__file__).resolve().parents[2] / "docs" / "campaign-keys.csv"
COMMAND = ".venv/bin/python backend/tools/campaign_reference.py"


def reference() -> str:
    """The table of all keys, as CSV. The settings of a host are one row: settings.csv has them."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("key", "takes", "default", "meaning"))
    table.writerows(_keys(campaign_schema()))
    return text.getvalue()


def _keys(node: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str, str, str]]:
    for key, raw in node["properties"].items():
        inner = first_shape(raw)
        key_path = f"{path}.{key}".strip(".")
        items = first_shape(inner.get("items", {}))
        is_settings = "net.ipv4.tcp_rmem" in inner.get("properties", {})
        default = "required" if key in node.get("required", ()) else _default(raw)
        takes = "settings by name (settings.csv)" if is_settings else _takes(inner, items)
        yield (
            key_path,
            takes,
            default,
            str(raw.get("description", inner.get("description", ""))).rstrip("."),
        )
        if not is_settings and "properties" in inner:
            yield from _keys(inner, key_path)
        if "properties" in items:
            yield from _keys(items, f"{key_path}[]")


def _default(node: Mapping[str, Any]) -> str:
    value = node.get("default")
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return f"[{', '.join(value)}]"
    return "" if value in (None, "") or isinstance(value, (dict, list)) else _number(value)


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:,.10g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _takes(node: Mapping[str, Any], items: Mapping[str, Any]) -> str:
    if "enum" in node:
        return ", ".join(str(each) for each in node["enum"])
    match node.get("type"):
        case "integer" | "number":
            kind = "whole number" if node["type"] == "integer" else "number"
            return f"{kind}, {_number(node['minimum'])} to {_number(node['maximum'])}"
        case "array":
            return (
                f"list of {node['minItems']} to {node['maxItems']} {'mappings' if 'properties' in items else 'texts'}"
            )
        case "string" if "pattern" in node:
            return f"text of the form {node['pattern'].strip('^$')}"
        case "string":
            return f"text, at most {node.get('maxLength', 200)} characters"
    return "true, false" if node.get("type") == "boolean" else "mapping"


if __name__ == "__main__":
    LIST.write_text(reference())
