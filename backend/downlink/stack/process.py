"""Child processes that never outlive the one who started them.

Three nets, from fine to coarse: an ordered stop in reverse order of starting; the kernel's parent-death signal
(through setpriv) when this process is killed; and a sweep at the next start of whatever a pid file still names.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Self

from downlink.domain.errors import UnavailableError


class Kind(StrEnum):
    """Purposes of programs; they decide what follows when one ends by itself (watch.py)."""

    SERVER = "server"
    SERVICE = "service"
    LINK = "link"
    AGENT = "agent"


@dataclass(frozen=True)
class Program:
    """A program to run. `stop_signal` asks it to end in order; after `stop_s` it is killed. Those of one group end together.

    title: what people call it, when that is not its name. tidy: a command that removes what it leaves behind when it is killed.
    """

    name: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    stop_signal: signal.Signals = signal.SIGTERM
    stop_s: float = 15.0
    group: str = ""
    kind: Kind = Kind.SERVER
    title: str = ""
    tidy: Sequence[str] = ()


def start_time(pid: int) -> int | None:
    """Kernel start time of a living process in clock ticks (proc(5), stat field 22), or None.

    Together with the pid it identifies one process: a reused pid has another start time.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    state, *rest = stat.rpartition(")")[2].split()
    return None if state == "Z" else int(rest[18])


def wait_until(is_true: Callable[[], bool], timeout_s: float, step_s: float = 0.05) -> bool:
    """Poll `is_true` until it holds or the time is over; say whether it held."""
    end = time.monotonic() + timeout_s
    while not is_true():
        if time.monotonic() > end:
            return False
        time.sleep(step_s)
    return True


class Supervisor:
    """Runs programs with logs under `home`/log and pid files under `home`/pid. A context manager: leaving stops all."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._running: dict[str, tuple[Program, subprocess.Popen[bytes]]] = {}
        self._asked: set[str] = set()
        for folder in (home, self._logs, self._pids):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    def _logs(self) -> Path:
        return self.home / "log"

    @property
    def _pids(self) -> Path:
        return self.home / "pid"

    def log_path(self, name: str) -> Path:
        """The file of a program's output."""
        return self._logs / f"{name}.log"

    def __enter__(self) -> Self:
        self.sweep()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_all()

    def start(self, program: Program) -> subprocess.Popen[bytes]:
        """Start `program` in a session of its own, so that a terminal's Ctrl-C reaches only the launcher."""
        with self.log_path(program.name).open("ab") as log:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", program.stop_signal.name, "--", *program.command],
                env={**os.environ, **program.env},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._asked.discard(program.name)
        (self._pids / program.name).write_text(f"{process.pid} {start_time(process.pid)} {int(program.stop_signal)}\n")
        self._running[program.name] = (program, process)
        return process

    def pid(self, name: str) -> int:
        return self._running[name][1].pid

    def program(self, name: str) -> Program:
        """Return the program that was started under this name."""
        return self._running[name][0]

    def names(self) -> list[str]:
        return list(self._running)

    def ended(self) -> list[str]:
        """Names of programs that ended by themselves."""
        return [name for name, (_, process) in self._running.items() if _is_over(process)]

    def check(self) -> None:
        """Raise UnavailableError, with the end of its log, when a program has ended by itself."""
        for name in self.ended():
            raise self.ended_error(name)

    def ended_error(self, name: str) -> UnavailableError:
        """Return the error for a program that has ended by itself."""
        return UnavailableError(
            "process_ended",
            f"{name} ended by itself; {self.log_path(name)} says:\n{self.log_tail(name)}",
            {"reason": f"{name} ended by itself"},
        )

    def log_tail(self, name: str, lines: int = 12) -> str:
        return "\n".join(self.log_path(name).read_text(errors="replace").splitlines()[-lines:])

    def wait_ready(self, name: str, is_ready: Callable[[], bool], timeout_s: float) -> None:
        """Wait for a started program; UnavailableError when it, a server or a service ends, or it is not ready in time."""

        def dead() -> list[str]:
            needed = (Kind.SERVER, Kind.SERVICE)
            return [each for each in self.ended() if each == name or self.program(each).kind in needed]

        held = wait_until(lambda: bool(dead()) or is_ready(), timeout_s)
        for each in dead():
            raise self.ended_error(each)
        if not held:
            raise UnavailableError(
                "not_ready", f"{name} was not ready within {timeout_s:g} s; its log is {self.log_path(name)}"
            )

    def start_again(self, name: str) -> None:
        """Start a program that has ended once more, the same way."""
        program = self.program(name)
        self.stop(name)
        self.start(program)

    def stop(self, name: str) -> None:
        """Ask one program to end, kill it when it does not, and wait until it is gone."""
        self._ask_to_end(name)
        program, process = self._running[name]
        wait_until(lambda: _is_over(process), program.stop_s)
        _kill_session(process.pid)
        wait_until(lambda: _is_over(process), math.inf)
        if process.poll() != 0 and program.tidy:
            subprocess.run(program.tidy, capture_output=True, check=False)
        (self._pids / name).unlink(missing_ok=True)
        del self._running[name]  # last: who is interrupted meanwhile stops it once more

    def stop_all(self) -> None:
        """Stop everything, last started first; neighbours of one group are asked before any of them is waited for."""
        for _, names in groupby(reversed(list(self._running)), lambda name: self.program(name).group or name):
            together = list(names)
            for name in together:
                self._ask_to_end(name)
            for name in together:
                self.stop(name)

    def _ask_to_end(self, name: str) -> None:
        """Send the stop signal once: a second one means *at once* to some programs."""
        program, process = self._running[name]
        if name not in self._asked and not _is_over(process):
            self._asked.add(name)
            process.send_signal(program.stop_signal)

    def sweep(self) -> None:
        """End what an earlier launcher, killed before it could tidy up, has left behind."""
        for file in self._pids.iterdir():
            match file.read_text().split():
                case [pid, started, stop_signal] if str(start_time(int(pid))) == started:
                    _end_leftover(int(pid), int(stop_signal))
            file.unlink(missing_ok=True)


def _is_over(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a process has ended, without Popen's poll: an interrupt that is raised inside of it leaves its lock taken, and
    its wait would never end."""
    return process.returncode is not None or start_time(process.pid) is None


def _end_leftover(pid: int, stop_signal: int) -> None:
    os.kill(pid, stop_signal)
    if not wait_until(lambda: start_time(pid) is None, timeout_s=10):
        _kill_session(pid)
        wait_until(lambda: start_time(pid) is None, timeout_s=5)


def _kill_session(leader: int) -> None:
    """Kill what is left of a program's session: its own helpers, such as pool processes."""
    for pid in _session_members(leader):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _session_members(leader: int) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if os.getsid(int(entry.name)) == leader:
                    yield int(entry.name)
