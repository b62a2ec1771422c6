"""Time of a browser without a cache to a campaign's first chart over 600 ms and 20 Mb/s, and the script that it loads.

Debian's browser against a real api with the shipped example; needs `make install` before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from bench.database import Opened, database
from bench.rows import Row, show
from downlink.actions.campaigns.archive_read import load_archive
from tests.fixtures.api_process import running_api
from tests.fixtures.browser import ACCOUNT, DASHBOARD, add_account, run_script
from tests.fixtures.recorded import ARCHIVE

FIGURES = (
    ("first chart of a campaign, cold, 600 ms and 20 Mb/s", "seconds", "s", "pipe_s", "<= 3"),
    ("script before a campaign's first chart, compressed", "script_kb", "kB", None, "<= 235"),
    ("requests before a campaign's first chart", "requests", "requests", None, None),
)
"""Rows: name, value, unit, peer and goal."""


@dataclass(frozen=True)
class Size:
    visits: int


FULL, TINY = Size(5), Size(1)


def visits(address: str, campaign: object, times: int, *network: str) -> list[dict[str, float]]:
    """Measure the way of a browser without a cache to the campaign's first chart."""
    options = ("--base-url", address, *ACCOUNT, "--path", f"/campaigns/{campaign}", "--times", str(times))
    output = run_script("first-plot.mjs", *options, *network, timeout_s=500)
    return [json.loads(line) for line in output.splitlines()]


def rows(size: Size, opened: Opened = database) -> Iterator[Row]:
    with opened() as (home, _, units):
        with units() as unit:
            add_account(unit)
            campaign, _ = load_archive(unit, ARCHIVE.read_bytes())
        with running_api(home, units, dashboard_dir=DASHBOARD) as api:
            visited = visits(api.address, campaign, size.visits)
    for name, key, unit_name, peer, goal in FIGURES:
        beside = median(visit[peer] for visit in visited) if peer else None
        remark = "peer: the same bytes and two ways there and back over a plain pipe" if peer else ""
        yield Row(name, median(visit[key] for visit in visited), unit_name, beside, goal, remark)


if __name__ == "__main__":
    show(rows, FULL, TINY)
