"""`downlink campaigns sweep`: a detector over a grid of its parameters, on all traces of a campaign."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from downlink.cli.client import Client
from downlink.cli.output import Column, note, print_table
from downlink.domain.errors import ConflictError, InvalidError

PERIOD_S = 0.5
ENDED = ("complete", "failed")
TIMINGS = ("early", "good", "late", "open")


def read_grid(texts: Sequence[str]) -> dict[str, list[float]]:
    """`window_factor=2.5,3.5` and so on as values by name. InvalidError for anything else."""
    grid: dict[str, list[float]] = {}
    for each in texts:
        name, equals, values = each.partition("=")
        try:
            if not equals or name in grid:
                raise ValueError
            grid[name] = [float(value) for value in values.split(",")]
        except ValueError:
            message = (
                f"--set {each} is not understood; give it once for each parameter, as in --set window_factor=2.5,3.5."
            )
            raise InvalidError("option_invalid", message) from None
    return grid


def follow_sweep(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """Show progress until the sweep has ended; answer it as it is then. ConflictError when it failed."""
    show = _bar if sys.stderr.isatty() else iter
    (last,) = deque(show(_states(client, asked)), maxlen=1)
    if last["state"] == "failed":
        raise ConflictError("sweep_failed", f"The sweep failed: {last['reason']}")
    return last


def print_cells(swept: dict[str, Any]) -> None:
    """A line for each parameter set, and what the numbers mean."""
    names = sorted(swept["grid"])
    columns: list[Column] = [(name, lambda cell, name=name: f"{cell['parameters'][name]:g}") for name in names]  # type: ignore[misc]
    columns.append(("traces", lambda cell: cell["n"]))
    columns += [(kind, lambda cell, kind=kind: _percent(cell["shares"], kind)) for kind in TIMINGS]  # type: ignore[misc]
    columns.append(("headroom", lambda cell: "" if cell["headroom_s"] is None else f"{cell['headroom_s']:.2f} s"))
    print_table(swept["cells"], columns)
    note(f"{swept['total']} traces, {len(swept['cells'])} parameter sets; good: exit between capacity and first loss.")


def _states(client: Client, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    state = asked
    while state["state"] not in ENDED:
        time.sleep(PERIOD_S)
        state = client.get(f"/sweeps/{asked['id']}")
        yield state


def _bar(states: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("traces", total=None)
        for state in states:
            progress.update(task, description=state["state"], completed=state["done"], total=state["total"])
            yield state


def _percent(shares: dict[str, Any] | None, timing: str) -> str:
    if shares is None:
        return ""
    value, low, high = (100 * shares[timing][key] for key in ("value", "low", "high"))
    return f"{value:.0f} % ({low:.0f}-{high:.0f})"
