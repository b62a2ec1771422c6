"""`downlink compare`: conditions of any campaigns beside each other, as the dashboard's page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from downlink.cli.client import Client
from downlink.cli.lookup import connect, pick
from downlink.cli.output import AsJson, Column, note, print_json, print_table, say
from downlink.cli.published_table import number
from downlink.domain.errors import InvalidError, NotFoundError
from downlink.domain.results.metric import NAMED

Row = Mapping[str, Any]
NOTHING = "-"
REMARK = (
    "Intervals are Welch's, of 95 %: the runs of one side and of another share no cycles. Nothing is tested. "
    "Whatever else the sides have apart is part of the difference."
)


def find_side(client: Client, campaigns: Sequence[dict[str, Any]], wanted: str) -> str:
    """Translate `CAMPAIGN/CONDITION`, `CAMPAIGN/CONDITION/LINK` or `CAMPAIGN/CONDITION/LINK/FLOW` to the API's name. Raise
    InvalidError if several fit, NotFoundError if none does; both list the existing ones."""
    name, _, wanted_side = wanted.partition("/")
    campaign = client.get(f"/campaigns/{pick(campaigns, name, 'campaign')['id']}")
    offered = _offered(campaign["spec"])
    fitting = offered if not wanted_side else [each for each in offered if wanted_side in _names(*each)]
    if len(fitting) == 1:
        condition, link, flow = fitting[0]
        return f"{campaign['id']}/{flow}/{link}/{condition}"
    choices = ", ".join(f"{name}/{_names(*each)[-1]}" for each in fitting or offered)
    if fitting:
        raise InvalidError("side_ambiguous", f"{wanted!r} may be any of these; write one of them out: {choices}")
    raise NotFoundError("side_not_found", f"{wanted!r} is none of the campaign's conditions: {choices}")


def _offered(spec: Row) -> list[tuple[str, str, int]]:
    return [
        (condition["name"], link, flow)
        for condition in spec["conditions"]
        for link in spec["links"]
        for flow in range(1, len(condition["flows"]) + 1)
    ]


def _names(condition: str, link: str, flow: int) -> tuple[str, ...]:
    return condition, f"{condition}/{link}", f"{condition}/{link}/{flow}"


def rows_of(comparison: Row, metric: str) -> list[dict[str, Any]]:
    """A row for each side, with one quantity of it."""
    compared = next((each for each in comparison["compared"] if each["metric"] == metric), None)
    if compared is None:
        names = ", ".join(each["metric"] for each in comparison["compared"])
        raise NotFoundError(
            "quantity_not_found", f"No run has {metric} in the phase {comparison['phase']}; there are: {names}"
        )
    parts = ("means", "differences", "ratios")
    return [
        {**side, **{part: compared[part][index] for part in parts}, "is_base": side["side"] == comparison["baseline"]}
        for index, side in enumerate(comparison["sides"])
    ]


def estimate_text(estimate: Row | None, factor: float = 1) -> str:
    """`83.1 (79 to 87.2)`; without an interval where there is none."""
    if estimate is None or estimate["mean"] is None:
        return NOTHING
    mean, low, high = (
        None if estimate[name] is None else number(estimate[name] * factor) for name in ("mean", "low", "high")
    )
    return str(mean) if low is None or high is None else f"{mean} ({low} to {high})"


def columns_of(metric: str) -> list[Column]:
    """Return the columns of a comparison in the unit that people read."""
    quantity = NAMED[metric]
    factor, unit = quantity.shown_factor, f", {quantity.shown_unit}" if quantity.shown_unit else ""
    return [
        ("campaign", lambda row: row["campaign"]),
        ("condition", lambda row: row["condition"]),
        ("link", lambda row: row["link"]),
        ("flow", lambda row: row["flow"]),
        ("n", lambda row: row["means"]["n"]),
        (f"mean{unit}", lambda row: estimate_text(row["means"], factor)),
        (f"difference{unit}", lambda row: "baseline" if row["is_base"] else estimate_text(row["differences"], factor)),
        ("times", lambda row: "" if row["is_base"] else estimate_text(row["ratios"])),
    ]


def print_comparison(comparison: Row, metric: str) -> None:
    """The table, then what else the sides have apart, then how to read it."""
    rows = rows_of(comparison, metric)
    say(f"{NAMED[metric].title}, {comparison['phase']}")
    print_table(rows, columns_of(metric))
    for each in comparison["unlike"]:
        note(f"{each['name']}: {' | '.join(each['values'])}")
    note(REMARK)


def compare_command(
    sides: Annotated[
        list[str],
        typer.Argument(
            help="CAMPAIGN/CONDITION, where needed with /LINK and /FLOW after it; the campaign by name, id or start of its id"
        ),
    ],
    baseline: Annotated[str | None, typer.Option(help="Baseline of the comparison (default: the first)")] = None,
    phase: Annotated[str, typer.Option(help="startup, steady, overall or a window of the campaigns'")] = "startup",
    metric: Annotated[str, typer.Option(help="Quantity, named as in metrics.csv")] = "throughput_bps",
    csv: Annotated[Path | None, typer.Option(help="CSV file for every quantity of every phase")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare conditions of any campaigns and links with a baseline: means, differences, ratios, and what else differs."""
    from downlink.cli.files import download

    client = connect()
    campaigns = client.items("/campaigns")
    named = {wanted: find_side(client, campaigns, wanted) for wanted in (*sides, *([baseline] if baseline else []))}
    query = {"side": [named[wanted] for wanted in sides], **({"baseline": named[baseline]} if baseline else {})}
    if csv:
        size = download(client, f"/comparison.csv?{urlencode(query, doseq=True)}", csv)
        note(f"{csv}: {size:,} bytes")
        return
    comparison = client.get("/comparison", **query, phase=phase, metric=metric)
    if as_json:
        print_json(comparison)
    else:
        print_comparison(comparison, metric)
