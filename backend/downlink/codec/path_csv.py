"""A path trace as CSV: a line for each stretch of a hop between two of its knots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from downlink.codec.tables import Cell, csv_pieces
from downlink.domain.links.pathtrace import ALL_LOSS_PPB, PathHeader

HEADER = (
    "start_s", "end_s", "path", "hop", "receiver", "delay_ms", "end_delay_ms", "rate_bps", "loss_ratio", "gap_s",
)  # fmt: skip


def path_csv(header: PathHeader, columns: Mapping[str, NDArray[np.int64]]) -> Iterator[str]:
    """Yield the CSV in pieces, its lines in the file's order: by path, then hop, then time."""
    return csv_pieces(HEADER, _lines(header, columns))


def _lines(header: PathHeader, columns: Mapping[str, NDArray[np.int64]]) -> Iterator[tuple[Cell, ...]]:
    """The last knot of a hop begins nothing: where the next row is of another hop, there is no line."""
    at_us, path, hop = columns["at_us"], columns["path"], columns["hop"]
    for row in np.flatnonzero((path[1:] == path[:-1]) & (hop[1:] == hop[:-1])):
        start, end = (int(at_us[each]) / 1e6 for each in (row, row + 1))
        if not hop[row]:
            yield (start, end, int(path[row]), 0, None, None, None, 0, 1.0, 0.0)
            continue
        delays = (int(columns["delay_ns"][each]) / 1e6 for each in (row, row + 1))
        loss, gap = int(columns["loss_ppb"][row]) / ALL_LOSS_PPB, int(columns["gap_us"][row]) / 1e6
        receiver = _receiver(header, int(columns["node"][row]))
        yield (start, end, int(path[row]), int(hop[row]), receiver, *delays, int(columns["rate_bps"][row]), loss, gap)


def _receiver(header: PathHeader, node: int) -> str:
    """A station's name, or a satellite's number from 0."""
    return header.stations[-1 - node].name if node < 0 else str(node)
