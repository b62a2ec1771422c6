"""`downlink campaigns reanalyse`: order it, and follow it to its end."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from time import sleep
from typing import Any

from downlink.cli.client import Client

PERIOD_S = 0.5


def follow_reanalysis(client: Client, campaign: str) -> dict[str, Any]:
    """Show progress until it is done; answer it as it is then."""
    show = _bar if sys.stderr.isatty() else iter
    (last,) = deque(show(_states(client, campaign)), maxlen=1)
    return last


def _states(client: Client, campaign: str) -> Iterator[dict[str, Any]]:
    path = f"/campaigns/{campaign}/reanalysis"
    state: dict[str, Any] = client.post(path)
    yield state
    while state["state"] == "running":
        sleep(PERIOD_S)
        state = client.get(path)
        yield state


def _bar(states: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("runs", total=None)
        for state in states:
            progress.update(task, completed=state["done"], total=state["runs"])
            yield state
