"""Tables of what only raw traces say."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from study.campaigns.traces import write_traces_table

DOCS = Path(__file__).parents[3] / "docs"
LEO = DOCS / "examples" / "recorded-leo.zip"
"""Study 002-leo with the traces of one of its runs."""


def rows(file: Path | None) -> list[dict[str, str]]:
    assert file is not None
    return list(csv.DictReader(io.StringIO(file.read_text())))


def test_the_table_of_the_pages_is_what_the_traces_say(tmp_path: Path) -> None:
    kept = {row["run_id"]: row for row in rows(DOCS / "reproduction" / "archives" / "002-leo-traces.csv")}
    (own,) = rows(write_traces_table(LEO, "002-leo", tmp_path))
    assert len(kept) == 60
    assert own == kept[own["run_id"]]


def test_repairs_are_the_last_counters_of_runs_with_intcp(tmp_path: Path) -> None:
    archive = tmp_path / "archive.zip"
    runs = [("a", "INTCP", "complete"), ("b", "Reno", "complete"), ("c", "INTCP", "failed")]
    with zipfile.ZipFile(archive, "w") as files:
        found = {
            "runs": [dict(zip(("id", "condition", "state"), run, strict=True)) for run in runs],
            "run_flows": [{"run_id": run, "flow": 1} for run, *_ in runs],
        }
        files.writestr("rows.json", json.dumps(found))
        for run, *_ in runs:
            for part, column, values in (
                ("sender", "retransmitted_bytes", [0, 900]),
                ("hop-1", "retransmitted_bytes", [0, 80]),
                ("receiver", "asked_again_bytes", [5, 20]),
            ):
                content = io.BytesIO()
                pq.write_table(pa.table({column: pa.array(values, pa.int64())}), content)
                files.writestr(f"traces/{run}/1-{part}-0.parquet", content.getvalue())
    found_rows = rows(write_traces_table(archive, "004-5c", tmp_path))
    assert found_rows == [{"run_id": "a", "on_hops_bytes": "980", "asked_again_bytes": "20"}]


def test_other_studies_have_none(tmp_path: Path) -> None:
    assert write_traces_table(LEO, "000-a-buffers", tmp_path) is None
    assert list(tmp_path.iterdir()) == []
