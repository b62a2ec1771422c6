"""What is judged of flows: each judge is a name, tables, a function from a run's traces to their rows, and a CSV. Analysis, archive,
re-analysis and exports go through `JUDGES`."""

from __future__ import annotations

from downlink.judges.delays import DELAYS
from downlink.judges.exits import EXITS
from downlink.judges.judge import Cells, Judge, Own, Row
from downlink.judges.limits import LIMITS
from downlink.judges.link import LINK
from downlink.judges.proxy import PROXY
from downlink.judges.series import METRICS, SERIES

JUDGES: tuple[Judge, ...] = (SERIES, METRICS, EXITS, LIMITS, LINK, PROXY, DELAYS)
COLUMNS = frozenset(name for judge in JUDGES for name in judge.columns)
"""Of a sender's trace: all that judges ask for."""

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
