"""Shows the steps that `tools/steps.py` runs: a bar for each on a terminal, else a line when one begins and when it ends."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TextIO

TAIL_LINES = 20
BAR_WIDTH = 24
ALMOST = 0.95
"""Share at which a bar stops until its step has ended: usual seconds are a guess."""
NAME_WIDTH = 14


class Step(Protocol):
    """A step as it is shown."""

    @property
    def name(self) -> str: ...
    @property
    def usual_s(self) -> float: ...


class Outcome(Protocol):
    """The end of a step as it is shown."""

    @property
    def seconds(self) -> float: ...

    @property
    def status(self) -> int | None: ...
    @property
    def log(self) -> Path: ...


class Show(Protocol):
    """The events that a runner of steps reports."""

    def began(self, step: Step) -> None: ...
    def tick(self, running: Sequence[tuple[Step, float]]) -> None:
        """Take all that run, each with its seconds, some twenty times a second."""

    def ended(self, step: Step, outcome: Outcome) -> None: ...
    def left_out(self, step: Step) -> None:
        """Take a step that never runs, because one that it comes after did not end well."""

    def handed_over(self) -> None:
        """Leave the terminal to a step: nothing is shown until that has ended."""

    def stopped(self) -> None:
        """Say that what still ran has been ended."""


class Lines:
    """A line when a step begins, a line when it ends; the end of its log when it failed."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def began(self, step: Step) -> None:
        self._say(f"{step.name:<{NAME_WIDTH}} begins")

    def tick(self, running: Sequence[tuple[Step, float]]) -> None:
        """Show nothing: what has not ended has been named."""

    def ended(self, step: Step, outcome: Outcome) -> None:
        self._say(ending(step, outcome))

    def left_out(self, step: Step) -> None:
        self._say(f"{step.name:<{NAME_WIDTH}} not run: what it needs did not end well")

    def handed_over(self) -> None:
        """Show nothing."""

    def stopped(self) -> None:
        self._say("Stopped what was still under way.")

    def _say(self, text: str) -> None:
        self._out.write(f"{text}\n")
        self._out.flush()


class Bars(Lines):
    """Bars at the foot of a terminal for what runs, above them a line for each that has ended."""

    def __init__(self, out: TextIO) -> None:
        super().__init__(out)
        self._drawn: list[str] = []

    def began(self, step: Step) -> None:
        """Show nothing: its bar comes with the next tick."""

    def tick(self, running: Sequence[tuple[Step, float]]) -> None:
        columns = shutil.get_terminal_size().columns
        bars = [bar(step, seconds)[: columns - 1] for step, seconds in running]
        if bars != self._drawn:
            self._out.write(self._erased() + "".join(f"{line}\n" for line in bars))
            self._out.flush()
            self._drawn = bars

    def handed_over(self) -> None:
        self._say("")

    def _erased(self) -> str:
        """The cursor back where the bars begin, and nothing from there on."""
        erased = f"\x1b[{len(self._drawn)}A\r\x1b[J" if self._drawn else ""
        self._drawn = []
        return erased

    def _say(self, text: str) -> None:
        super()._say(self._erased() + text)


def shown_on(out: TextIO) -> Show:
    """Bars where somebody watches, else lines."""
    return Bars(out) if out.isatty() else Lines(out)


def bar(step: Step, seconds: float) -> str:
    """A step that runs, by how long it usually takes."""
    filled = round(BAR_WIDTH * min(ALMOST, seconds / step.usual_s))
    return f"{step.name:<{NAME_WIDTH}} {'█' * filled}{'░' * (BAR_WIDTH - filled)} {seconds:4.0f} s"


def ending(step: Step, outcome: Outcome) -> str:
    """The line of a step that has ended; of one that failed the end of its log and where the rest is."""
    if outcome.status == 0:
        return f"{step.name:<{NAME_WIDTH}} done in {outcome.seconds:.0f} s"
    status = outcome.status or 0
    how = f"was ended by signal {-status}" if status < 0 else f"failed with status {status}"
    lines = [f"{step.name:<{NAME_WIDTH}} {how} after {outcome.seconds:.0f} s. {outcome.log} ends:"]
    return "\n".join([*lines, *(f"  {line}" for line in tail(outcome.log)), f"The whole log: {outcome.log}"])


def tail(log: Path, lines: int = TAIL_LINES) -> list[str]:
    """The last lines of a log."""
    return log.read_text(errors="replace").splitlines()[-lines:]
