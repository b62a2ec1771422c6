"""How long a browser without a cache takes to a campaign's first chart over 600 ms and 20 Mb/s, and what script that takes.

Debian's browser against a real api with the shipped example; needs `make install` before.
"""

from __future__ import annotations

import json
import sys
from statistics import median

from bench.database import database
from downlink.actions.archive import load_archive
from tests.fixtures.api_process import running_api
from tests.fixtures.browser import ACCOUNT, DASHBOARD, FRONTEND, add_account, run_script

EXAMPLE = FRONTEND.parent / "docs" / "examples" / "recorded-hystart.zip"
VISITS = "5"


def main() -> None:
    with database() as (home, _, units):
        with units() as unit:
            add_account(unit)
            campaign, _ = load_archive(unit, EXAMPLE.read_bytes())
        with running_api(home, units, dashboard_dir=DASHBOARD) as api:
            place = ("--base-url", api.address, *ACCOUNT, "--path", f"/campaigns/{campaign}", "--times", VISITS)
            visits = [json.loads(line) for line in run_script("first-plot.mjs", *place, timeout_s=500).splitlines()]
    for name, key, unit_name, goal in ROWS:
        value = median(visit[key] for visit in visits)
        sys.stdout.write(json.dumps({"name": name, "value": value, "unit": unit_name, "goal": goal}) + "\n")


ROWS = (
    ("first chart of a campaign, cold, 600 ms and 20 Mb/s", "seconds", "s", "<= 4"),
    ("script before a campaign's first chart, compressed", "script_kb", "kB", "<= 250"),
    ("requests before a campaign's first chart", "requests", "requests", None),
)


if __name__ == "__main__":
    main()
