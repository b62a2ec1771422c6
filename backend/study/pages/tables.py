"""Tables of a study's campaign as rows, its record, and tables in Markdown."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from downlink.domain.errors import InvalidError
from study.prose import fill

Row = Mapping[str, str]
Published = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""Paper, figure and name to a line of reproduction.csv with its numbers."""
TABLE = "reproduction.csv"
NUMBERS = ("share", "least", "most", "tolerance", "estimate", "low", "high", "equivalence_p")
COUNTS = ("n", "not_within")
UNREADABLE = (OSError, ValueError, KeyError, zipfile.BadZipFile)
"""Errors that an archive raises that is missing, damaged or of another shape."""


@contextmanager
def reading(archives: Path) -> Iterator[None]:
    """Turn what an unreadable archive raises into InvalidError."""
    try:
        yield
    except UNREADABLE as error:
        raise InvalidError("study_unreadable", f"The archives in {archives} cannot be read: {error}.") from error


def read_rows(archives: Path, study: str, name: str) -> list[dict[str, str]]:
    """Read a table of a study. OSError, KeyError or BadZipFile where there is none."""
    with zipfile.ZipFile(archives / f"{study}-tables.zip") as tables:
        return list(csv.DictReader(io.StringIO(tables.read(name).decode())))


def read_trace_rows(archives: Path, study: str) -> list[dict[str, str]]:
    """Read what only the traces of complete runs say. OSError where there is no such table."""
    with (archives / f"{study}-traces.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def read_reproduction(archives: Path, study: str) -> Published:
    """Read the published values beside ours; empty before the campaign was run, and where it reproduces nothing."""
    try:
        lines = read_rows(archives, study, TABLE)
    except (FileNotFoundError, KeyError):
        return {}
    return {(line["paper"], line["figure"], line["name"]): _typed(line) for line in lines}


def _typed(line: Mapping[str, str]) -> dict[str, Any]:
    numbers = {name: float(line[name]) if line.get(name) else None for name in NUMBERS}
    return {**line, **numbers, **{name: int(line[name]) if line[name] else None for name in COUNTS}}


def read_record(archives: Path, study: str) -> dict[str, Any]:
    """Read the record of a study; empty before the campaign was run."""
    record = archives / f"{study}.json"
    return dict(json.loads(record.read_text())) if record.exists() else {}


def origin_text(file: str, command: str, pages: str = "") -> str:
    """Sentence on the campaign that gave the numbers. pages: path to docs/reproduction, whose first page tells how it was run."""
    return fill("origin", file=file, command=command, pages=pages).strip()


def commit_text(record: Mapping[str, Any]) -> str:
    """Text such as `commit 7fa2478d62db`, with a note where files of the program differed from it."""
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
    """Conditions in the order of the campaign file: that of the first cycle's runs."""
    first = [row for row in metrics if row["cycle"] == "1"]
    return list(dict.fromkeys(name for _, name in sorted((int(row["position"]), row["condition"]) for row in first)))


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Table in Markdown, numbers to the right."""
    return table_lines([head, ["---"] + ["---:"] * (len(head) - 1), *lines]) + "\n"


def table_lines(lines: Iterable[Sequence[str]]) -> str:
    """Rows of a table in Markdown, without a head."""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
