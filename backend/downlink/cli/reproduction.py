"""The commands that write the pages of docs/reproduction, and the table of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Studies = Annotated[Path, typer.Option(help="Folder of campaign files")]
Archives = Annotated[Path, typer.Option(help="Folder of <campaign file>-tables.zip and <campaign file>.json")]
STUDIES, ARCHIVES = Path("docs/examples/studies"), Path("docs/reproduction/archives")


def reproduction_command(
    studies: Studies = STUDIES,
    archives: Archives = ARCHIVES,
    into: Annotated[Path, typer.Option(help="Folder for the pages and their pictures")] = Path("docs/reproduction"),
) -> None:
    """Write a page for each paper: published values beside those of the studies' archives. Works without a server."""
    from downlink.cli.reproduction_pages import write_pages

    write_pages(studies, archives, into)


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
    """Write into a page how two controls share a link, in every condition of the studies that has these two. Works without a server."""
    from downlink.cli.pair_table import write_table

    write_table(page, (first, second), studies, archives, files)


def checks_command(
    page: Annotated[Path, typer.Argument(help="Page to write")] = Path("docs/reproduction/checks.md"),
    archives: Archives = ARCHIVES,
) -> None:
    """Write what the studies found where no number is published: both checks, detectors in the kernel. Works without a server."""
    from downlink.cli.checks import write_checks

    write_checks(archives, page)


def intcp_study_command(
    page: Annotated[Path, typer.Argument(help="Page to write")] = Path("docs/intcp/study.md"),
    archives: Archives = ARCHIVES,
) -> None:
    """Write what the campaigns of paper 004 found, figure by figure and by transport. Works without a server."""
    from downlink.cli.intcp_study import write_intcp_study

    write_intcp_study(archives, page)


def causes_command(
    page: Annotated[Path, typer.Argument(help="Page to write")] = Path("docs/reproduction/causes.md"),
    archives: Archives = ARCHIVES,
) -> None:
    """Write what the studies' archives say about published values that were missed. Works without a server."""
    from downlink.cli.causes import write_causes

    write_causes(archives, page)
