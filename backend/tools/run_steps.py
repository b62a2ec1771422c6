"""Runs commands side by side from a shell or a Makefile, one line each, their output in logs:

    python3 backend/tools/run_steps.py 'python=make …' 'dashboard~30=make …' 'demo:python,dashboard!=downlink stack demo'

runs the first two at once, the second with a bar of 30 s, then the third, which takes the terminal over (`!`).
Exit: that of the step of the terminal; without one, the first status that is not 0.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # called as a file, its own folder alone would be searched
from tools.steps import INTERRUPTED, STOP_S, Step, exit_status, run

TERMINAL_STOP_S = 90.0
"""A step of the terminal may have servers and links to take down."""


def read_step(text: str) -> Step:
    """A step as the command line names it: NAME[:AFTER,AFTER][~SECONDS][!]=COMMAND."""
    match = re.match(
        r"(?P<name>[\w.-]+)(:(?P<after>[\w.,-]+))?(~(?P<usual>\d+))?(?P<has>!)?=(?P<command>.+)", text, re.DOTALL
    )
    if not match:
        raise ValueError(f"{text!r} is no step; write NAME[:AFTER,AFTER][~SECONDS][!]=COMMAND")
    return Step(
        match["name"],
        match["command"],
        tuple(filter(None, (match["after"] or "").split(","))),
        usual_s=float(match["usual"] or Step.usual_s),
        has_terminal=bool(match["has"]),
        stop_s=TERMINAL_STOP_S if match["has"] else STOP_S,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line names; a failure ends the others, unless --keep-going."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="+", metavar="NAME[:AFTER,AFTER][~SECONDS][!]=COMMAND")
    parser.add_argument("--at-once", type=int, default=4, help="How many run side by side")
    parser.add_argument("--keep-going", action="store_true", help="A step that fails does not end the others")
    asked = parser.parse_args(arguments)
    steps = [read_step(text) for text in asked.steps]
    try:
        outcomes = run(steps, asked.at_once, stops_at_failure=not asked.keep_going)
    except KeyboardInterrupt:
        return INTERRUPTED
    of_terminal = [
        outcome
        for step, outcome in zip(steps, outcomes, strict=True)
        if step.has_terminal and outcome.status is not None
    ]
    return exit_status(of_terminal or outcomes)


if __name__ == "__main__":
    sys.exit(main())
