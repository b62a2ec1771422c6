"""Runs named commands side by side, shows one line for each, and keeps their output in logs.

The standard library alone, and nothing newer than Python 3.11: it runs before anything is installed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.steps_shown import Show, shown_on

FOLDER = Path(".cache/steps")
PERIOD_S = 0.05
STOP_S = 15.0
"""Time that a step may take after it is asked to end: to put a host back, to stop servers. A step of the terminal
has longer."""
INTERRUPTED = 130


@dataclass(frozen=True)
class Step:
    """A command with a name; a string is a command of bash. after: the names of steps that must have ended well before.

    log: the file of its output, FOLDER/NAME.log when not given. usual_s: the bar is drawn by it. has_terminal: its output is
    shown as it comes, nothing else is, and its end ends the others.
    """

    name: str
    command: Sequence[str] | str
    after: Sequence[str] = ()
    log: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    usual_s: float = 30.0
    has_terminal: bool = False
    stop_s: float = STOP_S


@dataclass(frozen=True)
class Outcome:
    """The end of a step. status: its exit status, negative for a signal; None when it did not run to its end."""

    name: str
    seconds: float
    status: int | None
    log: Path

    @property
    def is_ok(self) -> bool:
        return self.status == 0

    @property
    def has_begun(self) -> bool:
        """False for a step that was left out: one that it comes after failed."""
        return self.status is not None or self.seconds > 0


def run(
    steps: Sequence[Step],
    most_at_once: int = 2,
    show: Show | None = None,
    *,
    folder: Path = FOLDER,
    stops_at_failure: bool = False,
) -> list[Outcome]:
    """Run each step once those it comes after have ended well; return the outcome of each, in the order given.

    A step that comes after one that failed does not run. stops_at_failure: the others are ended then, unless a step of the
    terminal runs or still can. Ctrl-C, SIGTERM and SIGHUP end all steps, then raise
    KeyboardInterrupt. Beside each log, NAME.status appears when the step has ended, for others who wait for it.
    """
    _check(steps)
    runner = _Runner(steps, most_at_once, show or shown_on(sys.stdout), folder)
    with _stop_signals_interrupt():
        try:
            while runner.advance() and not (stops_at_failure and runner.is_lost()):
                time.sleep(PERIOD_S)
        finally:
            runner.end_all()
    return runner.outcomes()


def exit_status(outcomes: Sequence[Outcome]) -> int:
    """The first status that is not 0, as a shell has it; 1 when a step did not run to its end."""
    for outcome in outcomes:
        if outcome.status:
            return outcome.status if outcome.status > 0 else 128 - outcome.status
    return int(any(outcome.status is None for outcome in outcomes))


@dataclass
class _Running:
    step: Step
    process: subprocess.Popen[bytes]
    began: float

    def status(self) -> int | None:
        """The exit status once it has ended. What it left behind in its group ends first: until it is reaped, its id is its own."""
        if os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return None
        self.signal(signal.SIGKILL)
        return self.process.wait()

    def signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self.step.has_terminal:
                os.kill(self.process.pid, number)
            else:
                os.killpg(self.process.pid, number)


class _Runner:
    def __init__(self, steps: Sequence[Step], most_at_once: int, show: Show, folder: Path) -> None:
        self._steps, self._most, self._show, self._folder = steps, most_at_once, show, folder
        self._waiting = {step.name: step for step in steps}
        self._running: dict[str, _Running] = {}
        self._ended: dict[str, Outcome] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for step in steps:
            self._log(step).parent.mkdir(parents=True, exist_ok=True)
            self._status_file(step).unlink(missing_ok=True)

    def advance(self) -> bool:
        """Take in what has ended, start what may start; answer whether anything is left to wait for."""
        for each in list(self._running.values()):
            status = each.status()
            if status is not None:
                self._take_in(each, status)
        self._leave_out()
        while (step := self._next()) is not None:
            self._start(step)
        if not self._has_terminal():
            self._show.tick([(each.step, time.monotonic() - each.began) for each in self._running.values()])
        return bool(self._running)

    def is_lost(self) -> bool:
        """Return whether a step has failed, and none of the terminal continues without it."""
        left = [*self._waiting.values(), *(each.step for each in self._running.values())]
        return any(not outcome.is_ok for outcome in self._ended.values()) and not any(
            step.has_terminal for step in left
        )

    def outcomes(self) -> list[Outcome]:
        return [self._ended.get(step.name) or Outcome(step.name, 0.0, None, self._log(step)) for step in self._steps]

    def end_all(self) -> None:
        """Ask what still runs to end, as Ctrl-C does, then more firmly. Nothing breaks this off half-way."""
        self._waiting.clear()
        if not self._running:
            return
        is_told = all(each.step.has_terminal for each in self._running.values())
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            self._ask_all(number)
        if not is_told:
            self._show.stopped()

    def _ask_all(self, number: signal.Signals) -> None:
        for each in self._running.values():
            each.signal(number)
        patience_s = max((each.step.stop_s for each in self._running.values()), default=0.0)
        end = time.monotonic() + patience_s
        while self._running and time.monotonic() < end:
            for name, each in list(self._running.items()):
                if each.status() is not None:
                    self._forget(name)
            time.sleep(PERIOD_S)

    def _forget(self, name: str) -> None:
        each = self._running.pop(name)
        self._ended[name] = Outcome(name, time.monotonic() - each.began, None, self._log(each.step))
        self._status_file(each.step).write_text(f"{INTERRUPTED}\n")

    def _take_in(self, each: _Running, status: int) -> None:
        step = each.step
        outcome = Outcome(step.name, time.monotonic() - each.began, status, self._log(step))
        was_terminals = self._has_terminal()
        del self._running[step.name]
        self._ended[step.name] = outcome
        self._status_file(step).write_text(f"{status}\n")
        if step.has_terminal:
            self.end_all()
        elif not was_terminals:
            self._show.ended(step, outcome)

    def _leave_out(self) -> None:
        """Forget those that can no longer run: a step that they come after failed or was left out itself."""
        hopeless = {name for name, outcome in self._ended.items() if not outcome.is_ok}
        for step in [step for step in self._waiting.values() if hopeless & set(step.after)]:
            self._waiting.pop(step.name)
            self._ended[step.name] = Outcome(step.name, 0.0, None, self._log(step))
            self._show.left_out(step)

    def _next(self) -> Step | None:
        """The first step that may start now. One of the terminal counts for nothing: it has little to compute at first."""
        busy = sum(not each.step.has_terminal for each in self._running.values())
        for step in self._waiting.values():
            is_free = all(name in self._ended and self._ended[name].is_ok for name in step.after)
            if is_free and (step.has_terminal or busy < self._most):
                return step
        return None

    def _start(self, step: Step) -> None:
        del self._waiting[step.name]
        if step.has_terminal:
            self._show.handed_over()
            self._running[step.name] = _Running(step, _popen(step, None), time.monotonic())
            return
        with self._log(step).open("wb") as log:
            self._running[step.name] = _Running(step, _popen(step, log.fileno()), time.monotonic())
        if not self._has_terminal():
            self._show.began(step)

    def _has_terminal(self) -> bool:
        return any(each.step.has_terminal for each in self._running.values())

    def _log(self, step: Step) -> Path:
        return step.log or self._folder / f"{step.name}.log"

    def _status_file(self, step: Step) -> Path:
        return self._log(step).with_suffix(".status")


def _popen(step: Step, log: int | None) -> subprocess.Popen[bytes]:
    """The step as a process group of its own that ends with us; one of the terminal stays in our group and hears its Ctrl-C."""
    command = ["bash", "-c", step.command] if isinstance(step.command, str) else list(step.command)
    guard = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []
    return subprocess.Popen(
        [*guard, *command],
        cwd=step.folder,
        env={**without_jobserver(os.environ), **step.env},
        stdin=None if log is None else subprocess.DEVNULL,
        stdout=log,
        stderr=None if log is None else subprocess.STDOUT,
        start_new_session=log is not None,
    )


def without_jobserver(env: Mapping[str, str]) -> dict[str, str]:
    """An environment whose MAKEFLAGS name no jobserver: its descriptors are not passed on."""
    kept = dict(env)
    for name in ("MAKEFLAGS", "MFLAGS"):
        if name in kept:
            kept[name] = re.sub(r"(^|\s)(-j\d*|--jobserver-\S+)(?=\s|$)", "", kept[name])
    return kept


def _check(steps: Sequence[Step]) -> None:
    names = [step.name for step in steps]
    if len(set(names)) < len(names):
        raise ValueError(f"two steps have the same name: {' '.join(names)}")
    known: set[str] = set()
    for step in steps:
        if unknown := set(step.after) - known:
            raise ValueError(f"{step.name} comes after {', '.join(sorted(unknown))}, of which none stands before it")
        known.add(step.name)


@contextlib.contextmanager
def _stop_signals_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does, once: what comes later does not break off the tidy-up."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(*_: object) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
