"""Following a campaign: a bar on a terminal, a line per change in a pipe. Both read the same two addresses once a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from downlink.cli.client import Client
from downlink.cli.output import megabits, plain, say
from downlink.domain.campaigns.campaign_state import ENDED, CampaignState
from downlink.domain.errors import UnavailableError
from downlink.domain.runs.run import ACTIVE, FINAL, RunState

PERIOD_S = 1.0
PATIENCE_S = 120.0  # how long the server may be away: a restart is no reason to stop following

State = tuple[dict[str, Any], list[dict[str, Any]]]
Report = Callable[[], None]


def states(client: Client, campaign: str, check: Report = lambda: None) -> Iterator[State]:
    """The campaign and its runs once a second, until it has ended. check is called as often, also while the server is away."""
    heard = time.monotonic()
    while True:
        check()
        try:
            state = client.get(f"/campaigns/{campaign}"), client.items(f"/campaigns/{campaign}/runs")
        except UnavailableError:
            if time.monotonic() - heard > PATIENCE_S:
                raise
        else:
            heard = time.monotonic()
            yield state
            if state[0]["state"] in ENDED:
                return
        time.sleep(PERIOD_S)


def follow(client: Client, campaign: str, is_plain: bool = False, check: Report = lambda: None) -> dict[str, Any]:
    """Show progress until the campaign has ended; answer it as it is then.

    check: called once a second; may raise to stop following.
    """
    show = _lines if is_plain or not sys.stdout.isatty() else _bar
    last: dict[str, Any] = {}
    for state, _ in show(states(client, campaign, check)):
        last = state
    say(_verdict(last))
    return last


def follow_run(client: Client, run_id: str, tell: Callable[[str], None]) -> dict[str, Any]:
    """Tell each change of one run's state until it has ended; the run as it is then."""
    heard, told = time.monotonic(), ""
    while True:
        try:
            run: dict[str, Any] = client.get(f"/runs/{run_id}")
        except UnavailableError:
            if time.monotonic() - heard > PATIENCE_S:
                raise
        else:
            heard = time.monotonic()
            if run["state"] in FINAL:
                return run
            if run["state"] != told:
                told = run["state"]
                tell(describe(run))
        time.sleep(PERIOD_S)


def all_complete(campaign: dict[str, Any]) -> bool:
    """Return whether every planned place ended in a complete run; a failed attempt with a complete successor does not count against
    it."""
    return bool(
        campaign["state"] == CampaignState.COMPLETE and campaign["counts"][RunState.COMPLETE] == campaign["runs_total"]
    )


def describe(run: dict[str, Any]) -> str:
    """One run as a line: its state, and how fast it goes or why it ended."""
    head = f"cycle {run['cycle']}, {run['condition']}"
    if run["attempt"] > 1:
        head += f", attempt {run['attempt']}"
    live = run["live"]
    if run["state"] == RunState.RUNNING and live and live["elapsed_s"] > 0:
        return f"{head}: {live['elapsed_s']:.0f} s, {megabits(live['bytes'] * 8 / live['elapsed_s'])}"
    if run["state"] == RunState.COMPLETE:
        return f"{head}: complete, {megabits(run['throughput_bps']) or 'being analysed'}"
    return f"{head}: {run['state']}" + (f" ({run['reason']}): {run['detail']}" if run["reason"] else "")


def _verdict(campaign: dict[str, Any]) -> str:
    others = {state: n for state, n in campaign["counts"].items() if n and state != "complete"}
    rest = "".join(f", {n} {state}" for state, n in others.items())
    return f"{campaign['name']}: {campaign['counts']['complete']} of {campaign['runs_total']} runs complete{rest}"


def _lines(source: Iterator[State]) -> Iterator[State]:
    seen: dict[str, str] = {}
    for campaign, runs in source:
        for run in runs:
            if seen.get(run["id"], "planned") != run["state"]:
                say(describe(run))
            seen[run["id"]] = run["state"]
        yield campaign, runs


def _bar(source: Iterator[State]) -> Iterator[State]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns) as progress:
        total = progress.add_task("campaign", total=None)
        seen: dict[str, str] = {}
        for campaign, runs in source:
            for run in runs:
                if run["state"] not in (RunState.PLANNED, *ACTIVE) and seen.get(run["id"]) != run["state"]:
                    progress.console.print(plain(describe(run)), highlight=False, markup=False)
                seen[run["id"]] = run["state"]
            now = next((plain(describe(run)) for run in runs if run["state"] in ACTIVE), campaign["state"])
            progress.update(total, description=now, completed=campaign["runs_ended"], total=campaign["runs_total"])
            yield campaign, runs
