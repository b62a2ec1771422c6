"""The judges of flows: each is a name, tables, a function from a run's traces to their rows, and a CSV. Analysis, archive, re-
analysis and exports go through `JUDGES`."""

from __future__ import annotations

from downlink.judging.delays import DELAYS
from downlink.judging.exits import EXITS
from downlink.judging.judge import Cells, Judge, Own, Row
from downlink.judging.limits import LIMITS
from downlink.judging.link import LINK
from downlink.judging.proxy import PROXY
from downlink.judging.series import METRICS, SERIES

JUDGES: tuple[Judge, ...] = (SERIES, METRICS, EXITS, LIMITS, LINK, PROXY, DELAYS)
COLUMNS = frozenset(name for judge in JUDGES for name in judge.columns)
"""Columns of a sender's trace that judges ask for."""

__all__ = [
    "COLUMNS",
    "DELAYS",
    "EXITS",
    "JUDGES",
    "LIMITS",
    "LINK",
    "METRICS",
    "PROXY",
    "SERIES",
    "Cells",
    "Judge",
    "Own",
    "Row",
]
