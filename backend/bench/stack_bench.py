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
from bench.timing import timed_s
from downlink.stack.process import Supervisor
from downlink.stack.servers import start_postgres

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


def parts_alone(home: Path) -> tuple[float, float]:
    """Return the seconds that PostgreSQL takes to start on a new cluster and on that one, each with an api's modules loaded behind it."""
    with Supervisor(home) as supervisor:
        new_s = timed_s(lambda: start_postgres(supervisor, home / "postgres"))
        supervisor.stop("postgres")
        there_s = timed_s(lambda: start_postgres(supervisor, home / "postgres"))
    load = [sys.executable, "-c", "import downlink.api.server"]
    load_s = timed_s(lambda: subprocess.run(load, check=True))
    return new_s + load_s, there_s + load_s


def rows(size: Size) -> Iterator[Row]:
    kinds = ("a new cluster", "a cluster that is there")
    times: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    alone: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(size.rounds):
        with tempfile.TemporaryDirectory(prefix="downlink-bench-") as folder:
            for kind, taken_s in zip(kinds, parts_alone(Path(folder) / "alone"), strict=True):
                times[kind].append(start_and_stop(Path(folder) / "home"))
                alone[kind].append(taken_s)
    remark = "peer: PostgreSQL started, and the api's modules loaded"
    for kind, measured in times.items():
        ready_s = median(ready for ready, _ in measured)
        yield Row(f"stack start to ready, {kind}", ready_s, "s", median(alone[kind]), "<= 3", remark)
    every = [each for measured in times.values() for each in measured]
    stop_s, start_s = median(stop for _, stop in every), median(ready for ready, _ in every)
    yield Row("stack stop", stop_s, "s", start_s, "<= 0.5", "peer: its start")


if __name__ == "__main__":
    show(rows, FULL, TINY)
