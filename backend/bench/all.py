"""Every benchmark of the project, one after the other, and one table of what they found beside what is wanted.

Each prints lines of JSON (`bench.rows`, and `hosttest.Row` in Go). BENCH_JSON=FILE writes the rows as a list of JSON objects as
well, and BENCH_STRICT=1 ends with status 1 when a goal is missed or a value lies outside its band.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.rows import Row

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Bench:
    folder: str
    command: list[str]


def go_bench(package: str, pattern: str) -> Bench:
    return Bench("agents", ["go", "test", "-run", "^$", "-bench", pattern, "-benchtime", "1x", f"./internal/{package}"])


def python_bench(module: str) -> Bench:
    return Bench("backend", [sys.executable, "-m", f"bench.{module}"])


GO = {
    "agent/trial": "AgainstIperf3",
    "intcp": "Core",
    "intcp/intcpsocket": "RelayAlone|OverLoopback|QUIC",
    "lab/netlab": ".",
    "flow/controls": "Records|Best",
    "agent": "Upload",
}
"""Package to a pattern of its benchmarks."""
PYTHON = (
    "polls_bench",
    "tick_bench",
    "ingest_bench",
    "stack_bench",
    "idle_bench",
    "disk_bench",
    "trace_store_bench",
    "report_bench",
    "judged_bench",
    "exits_bench",
    "paths_bench",
    "samples_bench",
    "calendar_bench",
    "campaign_bench",
    "outside_bench",
    "dashboard_bench",
)
BENCHES = [*(go_bench(*each) for each in GO.items()), *(python_bench(each) for each in PYTHON)]


def parse(line: str) -> Row | None:
    """The row in one line of a benchmark's output; None for a line that is something else."""
    return Row(**json.loads(line)) if line.startswith('{"name"') else None


def run(bench: Bench) -> Iterator[Row]:
    """The rows of one benchmark as they come; whatever else it says goes to standard error.

    One that fails leaves the others their turn: its failure is a row that misses its goal.
    """
    process = subprocess.Popen(bench.command, cwd=ROOT / bench.folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    for line in process.stdout:
        if row := parse(line):
            yield row
        else:
            sys.stderr.write(line)
    if process.wait() != 0:
        yield Row(f"failed: {' '.join(bench.command[1:])}", process.returncode, "exit status", goal="<= 0")


def main() -> int:
    rows = [row for bench in BENCHES for row in run(bench)]
    width = max(len(row.name) for row in rows)
    for row in rows:
        print(row.line(width))
    if path := os.environ.get("BENCH_JSON"):
        Path(path).write_text(json.dumps([row.kept() for row in rows], indent=1) + "\n")
    has_failed = any(row.name.startswith("failed: ") for row in rows)
    is_missed = any(row.is_missed for row in rows)
    return 1 if has_failed or (is_missed and os.environ.get("BENCH_STRICT") == "1") else 0


if __name__ == "__main__":
    sys.exit(main())
