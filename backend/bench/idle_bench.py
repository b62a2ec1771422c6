"""Processor time and memory of a stack without work: of all its processes, PostgreSQL and the queue among them."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.rows import Row, show
from bench.stack_bench import READY

PROC = Path("/proc")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Size:
    """settle_s: until everything has started. watched_s: for so long processor time is counted."""

    settle_s: float
    watched_s: float


FULL, TINY = Size(settle_s=30, watched_s=60), Size(settle_s=0.5, watched_s=5)


def stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the state on (proc(5), field 3); none for a process that has ended."""
    with contextlib.suppress(OSError):
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return []


def family(root: int) -> list[int]:
    """Return a process and all that descend from it."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (fields := stat(int(entry.name))):
            children[int(fields[1])].append(int(entry.name))
    members = [root]
    for each in members:
        members += children[each]
    return members


def processor_s(pid: int) -> float:
    """Return its processor time, that of children which it has waited for included, in seconds."""
    return sum(map(int, stat(pid)[11:15])) / TICKS_PER_S


def memory_mb(pid: int) -> float:
    """Return its memory in MB (2^20 bytes), with each page divided by the processes that share it (proc(5), Pss)."""
    with contextlib.suppress(OSError):
        rollup = (PROC / str(pid) / "smaps_rollup").read_text()
        if line := re.search(r"^Pss:\s+(\d+)", rollup, re.MULTILINE):
            return int(line[1]) / 1024
    return 0.0


def rows(size: Size) -> Iterator[Row]:
    downlink = Path(sys.executable).with_name("downlink")
    with tempfile.TemporaryDirectory(prefix="downlink-bench-") as folder:
        command = [str(downlink), "stack", "up", "--home", str(Path(folder) / "home")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as launcher:
            try:
                assert launcher.stdout
                next(line for line in launcher.stdout if READY in line)
                time.sleep(size.settle_s)
                yield from watched(launcher.pid, size.watched_s)
            finally:
                launcher.send_signal(signal.SIGINT)


def watched(launcher: int, seconds: float) -> Iterator[Row]:
    before, began = {pid: processor_s(pid) for pid in family(launcher)}, time.monotonic()
    time.sleep(seconds)
    passed_s, members = time.monotonic() - began, family(launcher)
    used_s = sum(processor_s(pid) for pid in members) - sum(before.values())
    remark = f"{len(members)} processes over {passed_s:.0f} s"
    yield Row("stack without work: processor", 100 * used_s / passed_s, "% of a core", goal="<= 2", remark=remark)
    memory = sum(map(memory_mb, members))
    remark = "shared pages divided; the limit of decision 0232"
    yield Row("stack without work: memory", memory, "MB", goal="<= 420", remark=remark)


if __name__ == "__main__":
    show(rows, FULL, TINY)
