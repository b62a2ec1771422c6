"""`downlink stack`: everything on one machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from downlink.cli.client import Access, Client
from downlink.cli.table import campaign_table, check_markers, put_between_markers
from downlink.cli.watch import all_complete
from downlink.domain.errors import UnavailableError
from downlink.domain.links.link import MAX_SENDERS
from downlink.stack.agent_build import NOT_BUILT, AgentBuild
from downlink.stack.demo import own_campaigns, read_campaigns, ready_needs, run_demo, seed_recorded
from downlink.stack.launcher import Stack, running, stop_signals_interrupt
from downlink.stack.rig import check_host
from downlink.stack.watch import Watch, watch_over

app = typer.Typer(help="The whole stack on this machine (what `make up` and `make demo` run).", no_args_is_help=True)

Home = Annotated[Path, typer.Option(help="Folder for data, logs and the access file")]
Dashboard = Annotated[Path, typer.Option(help="The built dashboard")]
Port = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=65535,
        envvar="DOWNLINK_PORT",
        help="Port of dashboard and API (default: the first free one from 8400 on)",
    ),
]


@app.command()
def up(home: Home = Path(".demo"), dashboard: Dashboard = Path("frontend/dist"), port: Port = None) -> None:
    """Start the servers, API, conductor and worker; run until Ctrl-C."""
    with until_interrupted(), running(home, dashboard, port) as stack:
        greet(stack)
        _stay(watch_over(stack))


@app.command()
def demo(
    home: Home = Path(".demo"),
    dashboard: Dashboard = Path("frontend/dist"),
    campaign: Annotated[
        list[Path] | None,
        typer.Option(
            help="Campaign file instead of the demo's own; its links and senders are created. Repeat for several: "
            "they run in order"
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(help="Profile file for a link of the campaign that has no built-in profile (repeatable)"),
    ] = None,
    senders: Annotated[
        int, typer.Option(min=1, max=MAX_SENDERS, help="Senders of each link, unless the campaign asks for more")
    ] = 1,
    table: Annotated[
        Path | None, typer.Option(help="Markdown file that gets the last campaign's table of results")
    ] = None,
    port: Port = None,
    agent_build: Annotated[Path | None, typer.Option(hidden=True, help="Log of the agent's build in progress")] = None,
) -> None:
    """Start the stack, the emulated links that the campaigns need, their agents, and the campaigns; run until Ctrl-C.

    A link takes the profile of its name: `geo-viasat`, or `geo-viasat.2` for a second link of it.
    With DEMO_EXIT=1 it ends when the last campaign does, with status 0 only if every run is complete.
    """
    check_host()
    if table:
        check_markers(table)
    files = campaign or own_campaigns()
    sources = read_campaigns(files)
    find_needs = partial(ready_needs, files, sources, profile or [], senders)
    needs = None if agent_build else find_needs()  # what is missing is said before anything starts
    is_unattended = bool(os.environ.get("DEMO_EXIT"))
    with until_interrupted(), running(home, dashboard, port) as stack:
        seed_recorded(stack)
        greet(stack)
        watch = watch_over(stack, is_unattended=is_unattended)
        if agent_build and not _is_built(AgentBuild(agent_build), watch, is_unattended):
            _stay(watch)
        client = Client(Access(stack.address, stack.token))
        ended = run_demo(stack, client, sources, needs or find_needs(), watch.look)
        if table:
            put_between_markers(table, campaign_table(client, ended[-1]["id"]))
            typer.echo(f"The table is in {table}.")
        if not is_unattended:
            _stay(watch)
        elif not all(all_complete(each) for each in ended):
            raise typer.Exit(1)


def greet(stack: Stack) -> None:
    """Say where the dashboard is; on the first start, under which link the admin is made."""
    typer.echo(f"\n  Downlink runs at  {stack.address}")
    if stack.setup_link:
        typer.echo(f"  First visit       {stack.setup_link}")
    typer.echo(f"  Command line      {os.path.relpath(stack.home / 'env')} holds server and token\n")


@contextmanager
def until_interrupted() -> Iterator[None]:
    stop_signals_interrupt()
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("\nStopped; nothing is left running.")


def _is_built(build: AgentBuild, watch: Watch, is_unattended: bool) -> bool:
    """Wait for the agent's program. Where somebody looks at the page, it stays also when the build has failed."""
    try:
        build.wait(watch.look, typer.echo)
    except UnavailableError as error:
        if is_unattended or error.code != NOT_BUILT:
            raise
        typer.echo(
            f"{error.message}\nSo there are no links and no campaigns; the page stays. Mend that and start again."
        )
        return False
    return True


def _stay(watch: Watch) -> NoReturn:
    typer.echo("Ctrl-C stops everything; the data stays for the next start.")
    while True:
        watch.look()
        time.sleep(1)
