"""Every benchmark of the project, one after the other, and one table of what they found.

A Python benchmark prints lines of JSON: {"name", "value", "unit", "remark"}. A Go benchmark prints what `go test -bench` does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Bench:
    folder: str
    command: list[str]


@dataclass(frozen=True)
class Result:
    name: str
    value: float
    unit: str
    remark: str = ""


def go_bench(package: str, pattern: str) -> Bench:
    return Bench("agents", ["go", "test", "-run", "^$", "-bench", pattern, "-benchtime", "1x", f"./internal/{package}"])


def python_bench(module: str) -> Bench:
    return Bench("backend", [sys.executable, "-m", f"bench.{module}"])


BENCHES = [
    go_bench("trial", "AgainstIperf3"),
    go_bench("netlab", "."),
    go_bench("congestion", "Records"),
    python_bench("ingest_bench"),
    python_bench("report_bench"),
    python_bench("exits_bench"),
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
    return [Result(title, float(value), unit) for value, unit in pairs if unit != "ns/op"]


def run(bench: Bench) -> Iterator[Result]:
    """The results of one benchmark as they come; whatever else it says goes to standard error."""
    process = subprocess.Popen(bench.command, cwd=ROOT / bench.folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    for line in process.stdout:
        found = parse(line) if line.strip() else []
        if not found:
            sys.stderr.write(line)
        yield from found
    if process.wait() != 0:
        raise SystemExit(f"`{' '.join(bench.command)}` failed with status {process.returncode}")


def main() -> None:
    results = [result for bench in BENCHES for result in run(bench)]
    width = max(len(result.name) for result in results)
    for result in results:
        print(f"{result.name:<{width}}  {result.value:>12,.4g} {result.unit:<16} {result.remark}")


if __name__ == "__main__":
    main()
