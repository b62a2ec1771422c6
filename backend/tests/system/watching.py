"""What a long trial watches: memory, descriptors, requests and transactions over time, and whether any of them grows."""

from __future__ import annotations

import contextlib
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

MB = 1 << 20


@dataclass(frozen=True)
class Limit:
    """How much the later half of the watched time may lie above the earlier one: a share of it, and a constant besides."""

    ratio: float
    constant: float


# Allocators keep what a larger report once needed; what leaks in each run, request or event passes these within minutes.
LIMITS: Mapping[str, Limit] = {
    "memory_mb": Limit(0.10, 12),
    "descriptors": Limit(0.10, 6),
    "connections": Limit(0.10, 6),
    "requests": Limit(0.50, 10),
    "heap_mb": Limit(0.15, 4),
    "oldest_transaction_s": Limit(0, 20),
}


@dataclass
class Watch:
    """Samples of named quantities: (seconds, value) by (quantity, of what)."""

    samples: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, at_s: float, quantity: str, of: str, value: float) -> None:
        self.samples[quantity, of].append((at_s, value))

    def halves(self, since_s: float) -> Iterator[tuple[str, str, float, float]]:
        """Quantity, of what, and the medians of the earlier and the later half of what was sampled since then."""
        for (quantity, of), samples in sorted(self.samples.items()):
            values = [value for at_s, value in samples if at_s >= since_s]
            middle = len(values) // 2
            if middle:
                yield quantity, of, median(values[:middle]), median(values[middle:])

    def table(self, since_s: float) -> str:
        lines = [f"{'quantity':22}{'of':14}{'earlier':>10}{'later':>10}{'most':>10}"]
        for quantity, of, earlier, later in self.halves(since_s):
            most = max(value for _, value in self.samples[quantity, of])
            lines.append(f"{quantity:22}{of:14}{earlier:10.1f}{later:10.1f}{most:10.1f}")
        return "\n".join(lines)

    def grown(self, since_s: float) -> list[str]:
        """What lies higher in the later half than its limit allows."""
        return [
            f"{quantity} of {of}: {earlier:.1f} to {later:.1f}"
            for quantity, of, earlier, later in self.halves(since_s)
            if later > earlier * (1 + LIMITS[quantity].ratio) + LIMITS[quantity].constant
        ]


def family(pid: int) -> set[int]:
    """A process and all its descendants."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                children[int((entry / "stat").read_text().rpartition(")")[2].split()[1])].append(int(entry.name))
    found, waiting = set(), [pid]
    while waiting:
        found.add(one := waiting.pop())
        waiting += children[one]
    return found


def processor_s(pid: int) -> float:
    """Processor time of a process and of the children that it has seen end (proc(5), stat: utime to cstime)."""
    with contextlib.suppress(OSError):
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return 0


def memory_mb(pids: Iterable[int]) -> float:
    """Memory that these processes alone hold: pages not backed by a file (proc(5), smaps_rollup)."""
    return sum(_anonymous_kb(pid) for pid in pids) / 1024


def _anonymous_kb(pid: int) -> int:
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next((int(line.split()[1]) for line in lines if line.startswith("Anonymous:")), 0)
    return 0


def descriptors(pids: Iterable[int]) -> int:
    return sum(_count(Path(f"/proc/{pid}/fd")) for pid in pids)


def _count(folder: Path) -> int:
    with contextlib.suppress(OSError):
        return sum(1 for _ in folder.iterdir())
    return 0


def error_lines(logs: Sequence[Path]) -> dict[str, int]:
    """How many tracebacks each program's log holds."""
    return {log.stem: log.read_text(errors="replace").count("Traceback (most recent call last)") for log in logs}
