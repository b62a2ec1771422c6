"""Rates of seconds over a campaign: a line for each rate of each flow, and distributions as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from downlink.cli.output import Column, note, print_table
from downlink.codec.tables import csv_pieces

Row = Mapping[str, Any]
PLACE = ("link", "condition", "flow", "cc")
HEADER = (*PLACE, "metric", "runs", "n", "unknown", "share", "value_bps")


def _mbps(name: str) -> Column:
    return (name.removesuffix("_bps"), lambda row: "-" if row[name] is None else f"{row[name] / 1e6:.2f} Mb/s")


COLUMNS: list[Column] = [
    *((name, lambda row, name=name: row[name]) for name in PLACE),
    ("rate", lambda row: row["metric"].removesuffix("_bps")),
    *map(_mbps, ("mean_bps", "median_bps", "p5_bps", "p95_bps")),
    ("seconds", lambda row: row["n"]),
    ("unknown", lambda row: row["unknown"]),
    ("runs", lambda row: f"{row['runs']} of {row['of']}"),
]


def _rows(rates: Row) -> list[dict[str, Any]]:
    return [
        {**{name: group[name] for name in PLACE}, "of": group["runs"], **each}
        for group in rates["groups"]
        for each in group["rates"]
    ]


def print_rates(rates: Row) -> None:
    rows = _rows(rates)
    if rows:
        print_table(rows, COLUMNS)
    else:
        note("No run of this campaign is complete.")


def csv_bytes(rates: Row) -> bytes:
    """A line for each quantile of each distribution."""
    return b"".join(piece.encode() for piece in csv_pieces(HEADER, _lines(rates)))


def _lines(rates: Row) -> Iterator[tuple[Any, ...]]:
    for row in _rows(rates):
        own = tuple(row[name] for name in HEADER[:8])
        for share, value_bps in zip(rates["shares"], row["quantiles_bps"], strict=False):
            yield (*own, share, value_bps)
