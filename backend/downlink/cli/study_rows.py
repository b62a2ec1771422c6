"""The tables that a study's campaign keeps, as rows, and what its record says of how they were made."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, str]
Published = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""Paper, figure and name to a line of reproduction.csv with its numbers."""
TABLE = "reproduction.csv"
NUMBERS = ("share", "least", "most", "tolerance", "estimate", "low", "high", "equivalence_p")
COUNTS = ("n", "not_within")


def read_rows(archives: Path, study: str, name: str) -> list[dict[str, str]]:
    """OSError, KeyError or BadZipFile where there is no such table."""
    with zipfile.ZipFile(archives / f"{study}-tables.zip") as tables:
        return list(csv.DictReader(io.StringIO(tables.read(name).decode())))


def read_reproduction(archives: Path, study: str) -> Published:
    """Empty before the campaign was run, and where it reproduces nothing."""
    try:
        lines = read_rows(archives, study, TABLE)
    except (FileNotFoundError, KeyError):
        return {}
    return {(line["paper"], line["figure"], line["name"]): _typed(line) for line in lines}


def _typed(line: Mapping[str, str]) -> dict[str, Any]:
    numbers = {name: float(line[name]) if line.get(name) else None for name in NUMBERS}
    return {**line, **numbers, **{name: int(line[name]) if line[name] else None for name in COUNTS}}


def read_record(archives: Path, study: str) -> dict[str, Any]:
    """Empty before the campaign was run."""
    record = archives / f"{study}.json"
    return dict(json.loads(record.read_text())) if record.exists() else {}


def made_text(record: Mapping[str, Any]) -> str:
    """When, at which commit, how often, and what is missing: `Run on 2026-11-24 at commit 7fa2478d62db. Short form: 5 of 10 cycles.
    29 of 30 runs are complete.`"""
    when = f"Run on {str(record['ended_at'])[:10]}" if record.get("ended_at") else "Run"
    commit = f" at {commit_text(record)}" if record.get("commit") else ""
    form = f" Short form: {record['n']} of {record['full_n']} cycles." if record.get("is_short") else ""
    complete, planned = record.get("runs", {}).get("complete", 0), record.get("runs_planned", 0)
    missing = f" {complete} of {planned} runs are complete." if complete < planned else ""
    return f"{when}{commit}.{form}{missing}"


def commit_text(record: Mapping[str, Any]) -> str:
    """`commit 7fa2478d62db`, and whether files of the program differed from it."""
    changed = " with changes" if record.get("is_changed") else ""
    return f"commit {str(record['commit'])[:12]}{changed}"


def by_cycle(
    rows: Sequence[Row], phase: str, condition: str, flow: int | None = 1, quantity: str = "throughput_bps"
) -> dict[int, float]:
    """A quantity of metrics.csv, or without a flow one of the link in link.csv, of the complete runs of a condition."""
    of_flow = "" if flow is None else str(flow)
    return {
        int(row["cycle"]): float(row[quantity])
        for row in rows
        if row["state"] == "complete"
        and (row["phase"], row["condition"], row["flow"]) == (phase, condition, of_flow)
        and row.get(quantity)
    }


def conditions_of(metrics: Sequence[Row]) -> list[str]:
    """In the order of the campaign file: that of the first cycle's runs."""
    first = [row for row in metrics if row["cycle"] == "1"]
    return list(dict.fromkeys(name for _, name in sorted((int(row["position"]), row["condition"]) for row in first)))


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """As Markdown, numbers to the right."""
    rows = [list(head), ["---"] + ["---:"] * (len(head) - 1), *map(list, lines)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
