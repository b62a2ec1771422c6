"""Published values beside a campaign's own, in words: a table for a terminal, and what the pages are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from downlink.cli.output import Column, note, print_table, say

Row = Mapping[str, Any]
READINGS = {
    "not_run": "not run yet",
    "too_few": "too few runs",
    "inside": "inside",
    "near": "within tolerance",
    "outside": "outside",
}
NOTHING = "-"


def published_text(value: Row) -> str:
    """Format a published value: `8 s`, `0.8 to 1.2 s`, `at least 0.97`, `180 ms at 80 %`."""
    least, most = value["least"], value["most"]
    if least == most:
        text = number(least)
    elif least is None or most is None:
        text = f"at most {number(most)}" if least is None else f"at least {number(least)}"
    else:
        text = f"{number(least)} to {number(most)}"
    share = f" at {100 * value['share']:g} %" if value.get("share") else ""
    return f"{text} {value['unit']}".strip() + share


def ours_text(value: Row) -> str:
    """`7.52 (7.10–7.96), n = 10`; how many runs never got there where that is so."""
    if value["n"] == 0:
        return NOTHING
    ends = (_end(value["low"]), _end(value["high"]))
    range_text = "" if ends == (NOTHING, NOTHING) else f" ({interval(*ends)})"
    late = f", {value['not_within']} not reached" if value["not_within"] else ""
    return f"{NOTHING if value['estimate'] is None else number(value['estimate'])}{range_text}, n = {value['n']}{late}"


def _end(value: float | None) -> str:
    return NOTHING if value is None else number(value)


def why_text(value: Row) -> str:
    """The cause, where ours is off."""
    return str(value["why"]) if value["reading"] in ("near", "outside") else ""


COLUMNS: list[Column] = [
    ("value", lambda v: v["name"]),
    ("published", published_text),
    ("ours", ours_text),
    ("inside", lambda v: READINGS[v["reading"]]),
    ("why", why_text),
]


def print_reproduction(comparison: Row) -> None:
    """A table for each figure, or what to do where there is none."""
    if not comparison["figures"]:
        note("This campaign's file names no published figure: docs/campaign-file.md says how (reproduces).")
    for figure in comparison["figures"]:
        say(f"\n{figure['paper']}, {figure['figure']}")
        print_table(figure["values"], COLUMNS)


def interval(low: str, high: str) -> str:
    """`7.10–7.96`; `-0.3 to 0.5` where an end is below zero, so that no minus stands beside the dash."""
    return f"{low} to {high}" if "-" in low + high else f"{low}–{high}"


def number(value: float) -> str:
    """Three significant digits."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
