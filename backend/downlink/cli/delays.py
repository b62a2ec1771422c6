"""Delays of blocks over a campaign: a line for each kind of each flow, and distributions as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from downlink.cli.output import Column, note, print_table
from downlink.codec.tables import csv_pieces

Row = Mapping[str, Any]
HEADER = ("link", "condition", "flow", "cc", "delay", "runs", "n", "clock_error_ms", "share", "value_ms")
HOW = "No run of this campaign kept a delivery table: write deliveries: true in the campaign file, or give flows an offer."
TITLES = {
    "one_way_delay": "one way",
    "in_order_delay": "one way, in order",
    "jitter": "jitter",
    "in_order_jitter": "jitter, in order",
}


def _ms(name: str) -> Column:
    return (name.removesuffix("_ms"), lambda row: "-" if row[name] is None else f"{row[name]:.2f} ms")


COLUMNS: list[Column] = [
    *((name, lambda row, name=name: row[name]) for name in ("link", "condition", "flow", "cc")),
    ("delay", lambda row: TITLES.get(row["kind"], row["kind"])),
    *map(_ms, ("mean_ms", "median_ms", "p5_ms", "p95_ms")),
    ("n", lambda row: row["n"]),
    ("runs", lambda row: f"{row['runs']} of {row['of']}"),
    ("clocks", lambda row: "-" if row["clock_error_ms"] is None else f"± {row['clock_error_ms']:.2f} ms"),
]


def rows_of(delays: Row) -> list[dict[str, Any]]:
    return [
        {**{name: group[name] for name in ("link", "condition", "flow", "cc")}, "of": group["runs"], **each}
        for group in delays["groups"]
        for each in group["delays"]
    ]


def print_delays(delays: Row) -> None:
    """A table, and a sentence for what was left out, once for each flow and reason."""
    rows = rows_of(delays)
    if not rows:
        note(HOW)
        return
    print_table(rows, COLUMNS)
    told = {
        (row["link"], row["condition"], row["flow"], left["sentence"]): left["runs"]
        for row in rows
        for left in row["left_out"]
    }
    for (link, condition, flow, sentence), runs in told.items():
        note(f"{condition} on {link}, flow {flow}: {runs} {'run' if runs == 1 else 'runs'} left out. {sentence}")


def csv_bytes(delays: Row) -> bytes:
    """A line for each quantile of each distribution."""
    return b"".join(piece.encode() for piece in csv_pieces(HEADER, _lines(delays)))


def _lines(delays: Row) -> Iterator[tuple[Any, ...]]:
    for row in rows_of(delays):
        own = tuple(row["kind" if name == "delay" else name] for name in HEADER[:8])
        for share, value_ms in zip(delays["shares"], row["quantiles_ms"], strict=False):
            yield (*own, share, value_ms)
