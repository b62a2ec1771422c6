"""`downlink campaigns`: what is taken away of a campaign, its files, figures, tables, and numbers recomputed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from downlink.cli.files import write_bytes
from downlink.cli.lookup import campaign_id, connect
from downlink.cli.output import AsJson, note, print_json, say

Which = Annotated[str, typer.Argument(help="Id, start of the id, or name")]


class FigureKind(StrEnum):
    """Kinds of figures."""

    STACK = "stack"
    HEATMAP = "heatmap"
    OBJECTS = "objects"
    EXITS = "exits"
    ECDF = "ecdf"
    DAY = "day"
    DELAYS = "delays"
    JITTER = "jitter"
    RATES = "rates"
    VARIED = "varied"
    RATIOS = "ratios"


class FigureFormat(StrEnum):
    """File formats of figures."""

    SVG = "svg"
    PNG = "png"
    PDF = "pdf"
    CSV = "csv"


class FigureWidth(StrEnum):
    """Widths of figures."""

    SINGLE = "single"
    DOUBLE = "double"


def export(
    campaign: Which,
    to: Annotated[Path | None, typer.Option(help="Folder for the CSV files, the report and the distributions")] = None,
    archive: Annotated[Path | None, typer.Option(help="One zip file with everything, traces too")] = None,
) -> None:
    """Download every table as CSV, the report and the distributions; with --archive also every trace, for `downlink seed`."""
    from downlink.cli.export import export_archive, export_folder

    client = connect()
    identity = campaign_id(client, campaign)
    if archive:
        note(f"{archive}: {export_archive(client, identity, archive):,} bytes")
    if to or not archive:
        for file in export_folder(client, identity, to or Path(identity)):
            say(str(file))


def figure(
    campaign: Which,
    to: Annotated[Path, typer.Option(help="File to write")],
    kind: Annotated[
        FigureKind,
        typer.Option(
            help="exits: when each detector would have left slow start; heatmap: competing flows; ecdf: a quantity of every run; "
            "day: the same by the clock; delays: one-way delay of blocks; jitter: its change from second to second; "
            "rates: throughput of single seconds; "
            "varied: a quantity over what the campaign varied; "
            "ratios: the same as multiples of its first condition"
        ),
    ] = FigureKind.STACK,
    file_format: Annotated[
        FigureFormat | None, typer.Option("--format", help="Format, where the file's name does not tell it")
    ] = None,
    width: Annotated[FigureWidth, typer.Option(help="A journal's column: 89 or 183 mm")] = FigureWidth.DOUBLE,
    link: Annotated[str | None, typer.Option(help="Link (default: the campaign's first)")] = None,
    condition: Annotated[str | None, typer.Option(help="Condition of the exit times (default: the first)")] = None,
    phase: Annotated[
        str | None,
        typer.Option(
            help="Of ecdf, day, varied and ratios: startup, steady, overall or a window of the campaign's; "
            "else startup of ecdf, overall of the others"
        ),
    ] = None,
    metric: Annotated[
        str, typer.Option(help="Of ecdf, day, rates, varied and ratios: which quantity, named as in metrics.csv")
    ] = "throughput_bps",
    has_caption: Annotated[bool, typer.Option("--caption/--no-caption", help="Add a caption")] = True,
) -> None:
    """Draw a figure for a paper as the dashboard does: SVG, PNG, PDF, or its numbers as CSV."""
    from downlink.cli.figure import figure_file, format_of

    chosen = format_of(to, file_format and file_format.value, tuple(FigureFormat))
    client = connect()
    request = {
        "kind": kind.value,
        "width": width.value,
        "hasCaption": has_caption,
        "link": link,
        "condition": condition,
        "phase": phase or ("startup" if kind is FigureKind.ECDF else "overall"),
        "metric": metric,
    }
    write_bytes(to, figure_file(client, campaign_id(client, campaign), request, chosen))
    note(f"The figure is in {to}.")


def table(
    campaign: Which,
    into: Annotated[
        Path | None, typer.Option(help="Markdown file with two marker lines that get the table between them")
    ] = None,
) -> None:
    """Print the results as a Markdown table: throughput, time to steady state, retransmissions, RTT, slow-start exit."""
    from downlink.cli.table import campaign_table, check_markers, put_between_markers

    if into:
        check_markers(into)
    client = connect()
    text = campaign_table(client, campaign_id(client, campaign))
    if into:
        put_between_markers(into, text)
        note(f"The table is in {into}.")
    else:
        say(text)


def reproduction(campaign: Which, as_json: AsJson = False) -> None:
    """Compare the published values named in the campaign file with the measured ones, with 95 % interval and n."""
    from downlink.cli.published_table import print_reproduction

    client = connect()
    comparison = client.get(f"/campaigns/{campaign_id(client, campaign)}/reproduction")
    if as_json:
        print_json(comparison)
    else:
        print_reproduction(comparison)


def delays(
    campaign: Which,
    csv: Annotated[Path | None, typer.Option(help="File for the distributions as CSV")] = None,
    as_json: AsJson = False,
) -> None:
    """Print one-way delays and jitter of complete runs that kept delivery tables."""
    from downlink.cli.delays import csv_bytes, print_delays

    _distributions(campaign, "delays", csv_bytes, print_delays, csv, as_json)


def rates(
    campaign: Which,
    csv: Annotated[Path | None, typer.Option(help="File for the distributions as CSV")] = None,
    as_json: AsJson = False,
) -> None:
    """Print throughput and goodput of each second of complete runs."""
    from downlink.cli.rates import csv_bytes, print_rates

    _distributions(campaign, "rates", csv_bytes, print_rates, csv, as_json)


def _distributions(
    campaign: str,
    answer: str,
    csv_bytes: Callable[[Mapping[str, Any]], bytes],
    show: Callable[[Mapping[str, Any]], None],
    csv: Path | None,
    as_json: bool,
) -> None:
    client = connect()
    distributions = client.get(f"/campaigns/{campaign_id(client, campaign)}/{answer}")
    if csv:
        write_bytes(csv, csv_bytes(distributions))
        note(f"The distributions are in {csv}.")
    if as_json:
        print_json(distributions)
    elif not csv:
        show(distributions)


def sweep(
    campaign: Which,
    values: Annotated[
        list[str], typer.Option("--set", help="Values of a parameter, NAME=VALUE,VALUE…; once for each parameter")
    ],
    detector: Annotated[str, typer.Option(help="search, hystart or mean_sd")] = "search",
    version: Annotated[
        str, typer.Option(help="3.1, 4.0 or 1.0; of hystart 6.x, 5.10 or <=5.4; of mean_sd Peters 2021")
    ] = "3.1",
    as_json: AsJson = False,
) -> None:
    """Try every combination of a detector's parameters on all traces of a campaign: success, early and late exits, headroom."""
    from downlink.cli.sweeps import follow_sweep, print_cells, read_grid

    grid = read_grid(values)
    client = connect()
    body = {"detector": detector, "version": version, "grid": grid}
    swept = follow_sweep(client, client.post(f"/campaigns/{campaign_id(client, campaign)}/sweeps", body))
    if as_json:
        print_json(swept)
    else:
        print_cells(swept)


def reanalyse(campaign: Which, as_json: AsJson = False) -> None:
    """Recompute a campaign's numbers from its sealed traces, with the server's version of the analysis; wait for its report."""
    from downlink.cli.reanalysis import follow_reanalysis

    client = connect()
    state = follow_reanalysis(client, campaign_id(client, campaign))
    if as_json:
        print_json(state)
    else:
        analysed = "run is" if state["runs"] == 1 else "runs are"
        say(f"{state['runs']} {analysed} analysed by version {state['analysis_version']}.")


COMMANDS = (export, figure, table, reproduction, delays, rates, sweep, reanalyse)
"""Commands of `downlink campaigns`, in the order of its help."""
