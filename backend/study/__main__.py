"""Commands of the study: run its campaigns, and write the pages that are made of them. They run in the folder of the checkout."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from downlink.cli.client import Access, Client
from downlink.cli.output import say
from downlink.domain.errors import UnavailableError
from downlink.services import run
from downlink.stack.commands import greet, until_interrupted
from downlink.stack.demo import make_paths
from downlink.stack.launcher import running
from downlink.stack.rig import check_host
from downlink.stack.watch import watch_over
from study.campaigns.runner import check_hystart, needs_of, read_jobs, run_studies
from study.campaigns.traces import TABLES, write_traces_table
from study.pages.causes import write_causes
from study.pages.checks import write_checks
from study.pages.intcp import write_intcp
from study.pages.pair_table import write_table
from study.pages.papers import write_pages
from study.pages.tables import reading

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Runs the studies of published measurements and writes their pages. All but `run` work without a server.",
)
Studies = Annotated[Path, typer.Option(help="Folder of campaign files")]
Archives = Annotated[Path, typer.Option(help="Folder of <campaign file>-tables.zip and <campaign file>.json")]
STUDIES, ARCHIVES = Path("docs/examples/studies"), Path("docs/reproduction/archives")


@app.command("reproduction")
def reproduction_command(
    studies: Studies = STUDIES,
    archives: Archives = ARCHIVES,
    into: Annotated[Path, typer.Option(help="Folder for the pages and their pictures")] = Path("docs/reproduction"),
) -> None:
    """Write a page for each paper: published values beside those of the studies' archives."""
    write_pages(studies, archives, into)


@app.command("pair-table")
def pair_table_command(
    page: Annotated[Path, typer.Argument(help="Page with two lines that say where the table goes")] = Path(
        "docs/controls/bbr-beside-cubic.md"
    ),
    first: Annotated[str, typer.Option(help="Control of the first flow")] = "cubic",
    second: Annotated[str, typer.Option(help="Control of the second flow")] = "bbr",
    studies: Studies = STUDIES,
    archives: Archives = ARCHIVES,
    files: Annotated[str, typer.Option(help="Which campaign files of the folder")] = "001-*.yaml",
) -> None:
    """Write into a page how two controls share a link, in every condition of the studies that has these two."""
    write_table(page, (first, second), studies, archives, files)


@app.command("checks")
def checks_command(
    page: Annotated[Path, typer.Argument(help="Page to write")] = Path("docs/reproduction/checks.md"),
    archives: Archives = ARCHIVES,
) -> None:
    """Write what the studies found where no number is published: both checks, detectors in the kernel."""
    write_checks(archives, page)


@app.command("intcp")
def intcp_command(
    page: Annotated[Path, typer.Argument(help="Page to write")] = Path("docs/intcp/study.md"),
    archives: Archives = ARCHIVES,
) -> None:
    """Write what the campaigns of paper 004 found, figure by figure and by transport."""
    write_intcp(archives, page)


@app.command("causes")
def causes_command(
    page: Annotated[Path, typer.Argument(help="Page to write")] = Path("docs/reproduction/causes.md"),
    archives: Archives = ARCHIVES,
) -> None:
    """Write what the studies' archives say about published values that were missed."""
    write_causes(archives, page)


@app.command("traces")
def traces_command(archives: Archives = ARCHIVES) -> None:
    """Write again what the pages take from raw traces, out of the raw archives; `make archives` brings these."""
    for study in TABLES:
        with reading(archives):
            write_traces_table(archives / f"{study}.zip", study, archives)
        say(str(archives / f"{study}-traces.csv"))


@app.command("run")
def run_command(
    names: Annotated[
        list[str],
        typer.Argument(help="000, 001, 002, 003, 004, checks, bbr, or a file like 003-best; several go together"),
    ],
    home: Annotated[Path, typer.Option(help="Folder for data, logs and the access file")] = Path(".demo/studies"),
    dashboard: Annotated[Path, typer.Option(help="The built dashboard")] = Path("frontend/dist"),
    full: Annotated[
        bool, typer.Option("--full", help="Use the paper's number of cycles instead of the short form")
    ] = False,
    lanes: Annotated[int, typer.Option(min=1, max=8, help="Concurrent campaigns")] = 2,
    into: Annotated[Path, typer.Option(help="Folder that gets tables, archives and records")] = ARCHIVES,
    trial_s: Annotated[
        float | None,
        typer.Option(min=1, help="Trial: one cycle of runs of at most so many seconds, kept in the home folder"),
    ] = None,
) -> None:
    """Run, as root, the studies behind docs/reproduction. Stop with Ctrl-C and continue later with the same command.

    What has ended is not run again. A run during which the emulated link was late is repeated.
    """
    if os.geteuid() != 0:
        raise UnavailableError(
            "host_unfit", "The studies load congestion controls, which needs root; type `sudo make study-000`."
        )
    check_host()
    check_hystart()
    jobs = read_jobs(names, is_full=full, trial_s=trial_s)
    make_paths(needs_of(jobs))  # what is missing is said before anything starts
    with until_interrupted(), running(home, dashboard) as stack:
        greet(stack)
        client, watch = Client(Access(stack.address, stack.token)), watch_over(stack, is_unattended=True)
        if not run_studies(stack, client, jobs, lanes, home / "trial" if trial_s else into, watch.look):
            raise typer.Exit(1)


if __name__ == "__main__":
    run(app, "study")
