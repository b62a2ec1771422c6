"""A campaign over a link whose packets take 1,200 ms there and back: twice a geostationary one, as over two such hops."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from downlink.stack.rig import Host, Rig, wait_online
from tests.system.conftest import AGENT, System
from tests.system.networks import added_to
from tests.system.test_campaign import trace
from tests.system.test_faults import traces_are_whole

pytestmark = pytest.mark.verify("stack", measures=True)

RTT_MS = 1_200
PROFILE = f"""
name: far
description: Two geostationary hops
orbit: GEO
seed: 1
down: {{rate: {{constant_bps: 20000000}}, queue: {{limit_bytes: 3000000}}, delay: {{base_ms: {RTT_MS / 2:g}}}}}
up: {{rate: {{constant_bps: 5000000}}, queue: {{limit_bytes: 750000}}, delay: {{base_ms: {RTT_MS / 2:g}}}}}
facts: {{source: chosen, nominal_rate_bps: 20000000, base_rtt_ms: {RTT_MS}, idle_rtt_median_ms: {RTT_MS}}}
"""
HOSTS = (Host("receiver", "far-receiver", "receiver"), Host("sender-1", "far-sender", "sender"))
CAMPAIGN = """
name: Far
links: [far]
stop: {seconds: 8}
phases: {startup_s: 4, steady_s: 4}
timetable: {cycles: 1, pause_s: 0}
conditions:
  - {name: bulk, flows: [{cc: cubic}]}
  - {name: echo, flows: [{cc: reno, pacing_rate_bps: 1000000}, {probe: {every_ms: 100}}]}
"""


@pytest.fixture(scope="module")
def far(system: System, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """The session's stack, with a second link and its agents beside it."""
    profile: Path = tmp_path_factory.mktemp("far") / "far.yaml"
    profile.write_text(PROFILE)
    with added_to(system):
        supervisor = system.stack.supervisor
        rig = Rig(supervisor, AGENT, f"far-{os.getpid()}")
        facts = rig.link_up(str(profile), 1, system.stack.address.removeprefix("http://"))
        for host in HOSTS:
            rig.join(host, system.client.post("/agents/enrolments", {"name": host.agent})["token"])
            rig.start_agent(host)
        wait_online(lambda: system.client.items("/agents"), HOSTS, supervisor.check)
        known = {key: facts[key] for key in ("orbit", "nominal_rate_bps", "base_rtt_ms")}
        ends = {"receiver": "far-receiver", "senders": ["far-sender"]}
        system.client.post("/links", {"name": "far", **known, **ends, "is_emulated": True, "profile": "far"})
        yield system


def test_nothing_gives_up_where_an_answer_takes_more_than_a_second(far: System) -> None:
    campaign = far.launch(CAMPAIGN)
    far.wait_complete(campaign, timeout_s=180)
    runs = {run["condition"]: run for run in far.runs_in_time(campaign)}
    assert {name: (run["state"], run["reason"], run["detail"]) for name, run in runs.items()} == dict.fromkeys(
        ("bulk", "echo"), ("complete", None, None)
    )
    assert traces_are_whole(far, campaign)
    rtt_us = trace(far, runs["bulk"]["id"])["min_rtt_us"]
    assert RTT_MS * 1_000 <= rtt_us[-1] < 2 * RTT_MS * 1_000
