"""Time from `downlink stack up` to a stack that is ready, on a new database cluster and on an existing one; and to its end."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.rows import Row, show

READY = "Command line"  # the last line of what the launcher says of a stack that is ready


@dataclass(frozen=True)
class Size:
    rounds: int


FULL, TINY = Size(3), Size(1)


def start_and_stop(home: Path) -> tuple[float, float]:
    """Seconds to a ready stack, and from the signal to its end."""
    downlink = Path(sys.executable).with_name("downlink")
    with subprocess.Popen([downlink, "stack", "up", "--home", home], stdout=subprocess.PIPE, text=True) as launcher:
        try:
            return _times_s(launcher)
        finally:
            launcher.kill()  # who is broken off in between would wait for its end


def _times_s(launcher: subprocess.Popen[str]) -> tuple[float, float]:
    began = time.monotonic()
    assert launcher.stdout
    for line in launcher.stdout:
        if READY in line:
            break
    ready = time.monotonic()
    launcher.send_signal(signal.SIGINT)
    launcher.wait()
    return ready - began, time.monotonic() - ready


def rows(size: Size) -> Iterator[Row]:
    times: dict[str, list[tuple[float, float]]] = {"a new cluster": [], "a cluster that is there": []}
    for _ in range(size.rounds):
        with tempfile.TemporaryDirectory(prefix="downlink-bench-") as folder:
            for of_kind in times.values():
                of_kind.append(start_and_stop(Path(folder) / "home"))
    for kind, of_kind in times.items():
        yield Row(f"stack start to ready, {kind}", median(ready for ready, _ in of_kind), "s", goal="<= 6")
    yield Row("stack stop", median(stop for of_kind in times.values() for _, stop in of_kind), "s", goal="<= 3")


if __name__ == "__main__":
    show(rows, FULL, TINY)
