"""Small tables of what only raw traces say: computed when a campaign is harvested, so that the pages need no raw archive."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from downlink.analysis.exits.flow import flow_trace
from downlink.analysis.exits.sliding import mean_error_ratio, sliding_curves
from downlink.codec.parquet import trace_columns

INTCP = "INTCP"
Row = Mapping[str, Any]
Table = Callable[[zipfile.ZipFile, Row], Row]
"""Maps an archive and a run to the values of the run's row."""


def write_traces_table(archive: Path, study: str, into: Path) -> Path | None:
    """Write STUDY-traces.csv, a row for each complete run whose traces the archive has; None for a study without such a table.

    OSError, KeyError or BadZipFile where the archive cannot be read.
    """
    if study not in TABLES:
        return None
    with zipfile.ZipFile(archive) as files:
        rows = list(_rows(files, TABLES[study]))
    file = into / f"{study}-traces.csv"
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]) if rows else ["run_id"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return file


def _rows(files: zipfile.ZipFile, table: Table) -> Iterator[Row]:
    found = json.loads(files.read("rows.json"))
    complete = {run["id"]: run for run in found["runs"] if run["state"] == "complete"}
    traced = {name.split("/")[1] for name in files.namelist() if name.startswith("traces/")}
    for flow in sorted(found["run_flows"], key=lambda row: str(row["run_id"])):
        run_id = flow["run_id"]
        if (
            flow["flow"] == 1
            and run_id in complete.keys() & traced
            and (values := table(files, {**complete[run_id], **flow}))
        ):
            yield {"run_id": run_id, **values}


def _approximation(files: zipfile.ZipFile, run: Row) -> Row:
    """Mean error of Kachooei's approximation, as a share: with parts of bins, and rounded to whole bins."""
    names = sorted(name for name in files.namelist() if name.startswith(f"traces/{run['run_id']}/1-sender"))
    trace = flow_trace(
        trace_columns([files.read(name) for name in names]), None, int(run["sender_outcome"]["first_byte_us"])
    )
    return {
        name: mean_error_ratio(trace, sliding_curves(trace, whole_bins=whole))
        for name, whole in (("parts_error", False), ("whole_error", True))
    }


def _repairs(files: zipfile.ZipFile, run: Row) -> Row:
    """Last counters of INTCP's nodes: bytes that they sent again on a hop, and that the consumer asked for again."""
    if run["condition"] != INTCP:
        return {}

    def last(part: str, column: str) -> int:
        trace = trace_columns([files.read(f"traces/{run['run_id']}/1-{part}-0.parquet")], [column])
        return int(trace[column].max())

    return {
        "on_hops_bytes": last("sender", "retransmitted_bytes") + last("hop-1", "retransmitted_bytes"),
        "asked_again_bytes": last("receiver", "asked_again_bytes"),
    }


TABLES: Mapping[str, Table] = {"002-leo": _approximation, "004-5c": _repairs}
"""Studies that have such a table, by their campaign file's name without the ending."""
