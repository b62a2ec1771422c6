"""Every benchmark of the project, one after the other, and one table of what they found beside what is wanted.

A Python benchmark prints lines of JSON (`Result`): {"name", "value", "unit"} and, where they apply, "peer", "goal", "remark".
A Go benchmark prints what `go test -bench` does; its goals are in GOALS. BENCH_JSON=FILE writes the rows as a list of JSON
objects as well, and BENCH_STRICT=1 ends with status 1 when a goal is missed.
"""

from __future__ import annotations

import json
import operator
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
COMPARE: Mapping[str, Callable[[float, float], bool]] = {"<=": operator.le, ">=": operator.ge}
# Name of a Go benchmark's row to its goal.
GOALS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Bench:
    folder: str
    command: list[str]


@dataclass(frozen=True)
class Result:
    """One row. peer: the same by other means, in the same run and unit. goal: `<= 100`, of the ratio to the peer, else of the value."""

    name: str
    value: float
    unit: str
    peer: float | None = None
    goal: str | None = None
    remark: str = ""

    @property
    def ratio(self) -> float | None:
        return self.value / self.peer if self.peer else None

    @property
    def is_met(self) -> bool | None:
        """None where there is no goal."""
        if self.goal is None:
            return None
        sign, limit = self.goal.split()
        return COMPARE[sign](self.value if self.ratio is None else self.ratio, float(limit))

    def row(self) -> dict[str, Any]:
        """What BENCH_JSON holds of it."""
        names = ("name", "value", "unit", "peer", "ratio", "goal", "is_met")
        return {name: getattr(self, name) for name in names}

    def line(self, width: int) -> str:
        """What the table says of it; width: of the longest name, in characters."""
        ratio = "" if self.ratio is None else f"{self.ratio:.3g} x"
        met = {None: "", True: "met", False: "MISSED"}[self.is_met]
        told = f"{self.name:<{width}}  {self.value:>12,.4g} {self.unit:<16} {ratio:>9}  {self.goal or '':<9} {met:<6} {self.remark}"
        return told.rstrip()


def go_bench(package: str, pattern: str) -> Bench:
    return Bench("agents", ["go", "test", "-run", "^$", "-bench", pattern, "-benchtime", "1x", f"./internal/{package}"])


def python_bench(module: str) -> Bench:
    return Bench("backend", [sys.executable, "-m", f"bench.{module}"])


BENCHES = [
    go_bench("trial", "AgainstIperf3"),
    go_bench("intcp", "Core"),
    go_bench("intcpsocket", "RelayAlone|OverLoopback|QUIC"),
    go_bench("netlab", "."),
    go_bench("controls", "Records|Best"),
    go_bench("agent", "Upload"),
    python_bench("polls_bench"),
    python_bench("tick_bench"),
    python_bench("ingest_bench"),
    python_bench("stack_bench"),
    python_bench("disk_bench"),
    python_bench("trace_store_bench"),
    python_bench("report_bench"),
    python_bench("judged_bench"),
    python_bench("exits_bench"),
    python_bench("paths_bench"),
    python_bench("samples_bench"),
    python_bench("calendar_bench"),
    python_bench("campaign_bench"),
    python_bench("outside_bench"),
    python_bench("dashboard_bench"),
]


def parse(line: str) -> list[Result]:
    """The results in one line of a benchmark's output; none in a line that is something else."""
    if line.startswith('{"name"'):
        return [Result(**json.loads(line))]
    name, *rest = line.split()[:1] + line.split()[2:]  # the second word counts iterations
    if not name.startswith("Benchmark") or len(rest) < 2:
        return []
    title = name.removeprefix("Benchmark").rpartition("-")[0] or name.removeprefix("Benchmark")
    pairs = zip(rest[::2], rest[1::2], strict=True)
    goal = GOALS.get(title)
    return [Result(title, float(value), unit, goal=goal) for value, unit in pairs if unit != "ns/op"]


def run(bench: Bench) -> Iterator[Result]:
    """The results of one benchmark as they come; whatever else it says goes to standard error.

    One that fails leaves the others their turn: its failure is a row that misses its goal.
    """
    process = subprocess.Popen(bench.command, cwd=ROOT / bench.folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    for line in process.stdout:
        found = parse(line) if line.strip() else []
        if not found:
            sys.stderr.write(line)
        yield from found
    if process.wait() != 0:
        yield Result(f"failed: {' '.join(bench.command[1:])}", process.returncode, "exit status", goal="<= 0")


def main() -> int:
    results = [result for bench in BENCHES for result in run(bench)]
    width = max(len(result.name) for result in results)
    for result in results:
        print(result.line(width))
    if path := os.environ.get("BENCH_JSON"):
        rows = json.dumps([result.row() for result in results], indent=1)
        Path(path).write_text(rows + "\n")
    has_failed = any(result.name.startswith("failed: ") for result in results)
    is_missed = any(result.is_met is False for result in results)
    return 1 if has_failed or (is_missed and os.environ.get("BENCH_STRICT") == "1") else 0


if __name__ == "__main__":
    sys.exit(main())
