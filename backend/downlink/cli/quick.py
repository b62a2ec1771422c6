"""`downlink quick LINK`: one download now."""

from __future__ import annotations

from typing import Annotated

import typer

from downlink.cli.client import Client
from downlink.cli.lookup import connect, pick
from downlink.cli.output import AsJson, note, print_json, say
from downlink.cli.watch import describe, follow_run
from downlink.domain.runs.run import RunState


def quick_command(
    link: Annotated[str, typer.Argument(help="Link: name, id, or start of the id")],
    sender: Annotated[int, typer.Option(help="Number of the link's sender, from 1")] = 1,
    is_followed: Annotated[bool, typer.Option("--wait/--no-wait", help="Follow the run to its end.")] = True,
    as_json: AsJson = False,
) -> None:
    """Download over a link for 15 s now, and print the result. Exit status 0 only if the run is complete."""
    client = connect()
    chosen = pick(client.items("/links"), link, "link")
    started = client.post(f"/links/{chosen['id']}/quick-test", {"sender": sender})
    if not is_followed:
        if as_json:
            print_json(started)
        else:
            say(started["run_id"])
        return
    _finish(client, started["run_id"], as_json=as_json)


def _finish(client: Client, run_id: str, *, as_json: bool) -> None:
    run = follow_run(client, run_id, note)
    if as_json:
        print_json(run)
    else:
        say(describe(run))
        say(f"Its page: {client.access.server.rstrip('/')}/runs/{run_id}")
    if run["state"] != RunState.COMPLETE:
        raise typer.Exit(1)
