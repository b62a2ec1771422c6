"""The whole server away, with real agents: for three minutes in each state under `make chaos`, shortly in one state otherwise.

The rules for long outages are tested without waiting in tests/actions/test_outages.py.
"""

from __future__ import annotations

import os
import time

import pytest

from downlink.stack.launcher import start_service
from downlink.stack.process import wait_until
from tests.system.conftest import System
from tests.system.test_faults import campaign_file, is_answering, kill, traces_are_whole

IS_CHAOS = "DOWNLINK_OUTAGE_S" in os.environ
OUTAGE_S = float(os.environ.get("DOWNLINK_OUTAGE_S", "20"))
STATES = ("preparing", "running", "uploading") if IS_CHAOS else ("running",)
SERVER = ("api", "conductor", "worker")
pytestmark = pytest.mark.timeout(OUTAGE_S + 240)


def has_bytes(system: System, campaign: str) -> bool:
    """Whether data flows. A server that goes while one end alone has its start costs the attempt: the other cannot know."""
    return any((run["live"] or {}).get("bytes") for run in system.runs(campaign))


@pytest.mark.parametrize("state", STATES)
def test_time_without_a_server_costs_neither_the_run_nor_a_sample(system: System, state: str) -> None:
    campaign = system.launch(campaign_file(f"Outage in {state}"))
    system.wait_for_run(campaign, state)
    if state == "running":
        assert wait_until(lambda: has_bytes(system, campaign), timeout_s=30, step_s=0.1)
    for name in SERVER:
        kill(system, name)
    time.sleep(OUTAGE_S)  # how long the outage lasts is the case itself
    for name in SERVER:
        start_service(system.stack.supervisor, system.stack.env, name)
    assert wait_until(lambda: is_answering(system), timeout_s=30)
    system.wait_complete(campaign, timeout_s=180)
    attempts = [(run["state"], run["reason"], run["detail"]) for run in system.runs_in_time(campaign)]
    assert attempts == [("complete", None, None)], attempts
    assert traces_are_whole(system, campaign)
