"""The whole server away, with real agents: for three minutes in each state under `make chaos`, shortly in one state otherwise. And
the link under test down, under `make chaos` for five minutes.

The rules for long outages are tested without waiting in tests/actions/test_outages.py.
"""

from __future__ import annotations

import os
import time

import pytest

from downlink.stack.launcher import start_service
from downlink.stack.process import wait_until
from tests.system.conftest import ENDED, SENDER, System
from tests.system.test_chaos import cut
from tests.system.test_faults import campaign_file, is_answering, kill, traces_are_whole

IS_CHAOS = "DOWNLINK_OUTAGE_S" in os.environ
OUTAGE_S = float(os.environ.get("DOWNLINK_OUTAGE_S", "20"))
SILENCE_S = 14
"""Longer than the silence after which an agent calls a link lost: 10 s and ten round trips (docs/agent-protocol.md)."""
LINK_S = float(os.environ.get("DOWNLINK_LINK_S", "0"))
"""How long the link is down at least; until the run has ended in any case."""
STATES = ("preparing", "running", "uploading") if IS_CHAOS else ("running",)
SERVER = ("api", "conductor", "worker")
pytestmark = [pytest.mark.verify("long"), pytest.mark.timeout(OUTAGE_S + LINK_S + 240)]


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


def test_a_link_that_is_down_for_long_costs_its_run_and_no_other(system: System) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: reaches into the link's namespaces")
    once = campaign_file("Link down", seconds=SILENCE_S).replace("attempts: 3", "attempts: 1")
    campaign = system.launch(once)
    run = system.wait_for_data(campaign)["id"]
    began = time.monotonic()
    with cut(system, SENDER.agent):
        assert wait_until(lambda: system.client.get(f"/runs/{run}")["state"] in ENDED, timeout_s=120, step_s=0.5)
        time.sleep(max(0.0, began + LINK_S - time.monotonic()))  # how long it lasts is the case itself
    ended = system.client.get(f"/runs/{run}")
    assert (ended["state"], ended["reason"]) == ("failed", "link_lost"), ended["detail"]
    assert ended["detail"]
    (flow,) = ended["flows"]
    for end in ("sender", "receiver"):
        trace = flow["traces"][end]
        assert trace["samples"] > 0, (
            "what was sampled is kept, also by the end that was stopped because the other named the loss"
        )
        assert not trace["missing_chunks"]
    after = system.launch(campaign_file("Link up again", seconds=2))
    system.wait_complete(after)
    assert [run["state"] for run in system.runs_in_time(after)] == ["complete"]
    assert traces_are_whole(system, after)
