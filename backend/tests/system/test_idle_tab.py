"""The built dashboard in Debian's browser, on a server with a past: an open page asks for nothing while nothing happens."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from downlink.actions.archive import load_archive
from downlink.stack.process import Supervisor
from downlink.storage.events import add_event
from downlink.storage.unit import open_units
from tests.fixtures.api_process import running_api
from tests.fixtures.browser import ACCOUNT, DASHBOARD, FRONTEND, add_account, run_script
from tests.fixtures.numbered_postgres import start_postgres_at

RECORDED = FRONTEND.parent / "docs" / "examples" / "recorded-hystart.zip"
# The storm that this looks for makes ten requests a second; DOWNLINK_IDLE_S=60 looks for longer.
IDLE_S = os.environ.get("DOWNLINK_IDLE_S", "12")


@pytest.mark.timeout(120)
def test_an_idle_tab_makes_two_requests_at_most(tmp_path: Path) -> None:
    with Supervisor(tmp_path / "servers") as supervisor:
        units = open_units(start_postgres_at(tmp_path, supervisor, 960), 2)
        for _ in range(300):  # events on both sides of transaction 1,000
            with units() as unit:
                add_event(unit, datetime.now(UTC), "agent", {})
        with units() as unit:
            add_account(unit)
            campaign, _ = load_archive(unit, RECORDED.read_bytes())
        with running_api(tmp_path, units, dashboard_dir=DASHBOARD) as api:
            page = ("--path", f"/campaigns/{campaign}", "--seconds", IDLE_S)
            asked = run_script("idle.mjs", "--base-url", api.address, *ACCOUNT, *page).splitlines()
        units.close()
    assert len(asked) <= 2, asked
