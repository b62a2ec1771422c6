"""Split TCP and INTCP from end to end: real agents, the relay on the ground beside the sender, one emulated link."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from downlink.cli.client import Access, Client
from downlink.stack.launcher import running
from downlink.stack.rig import Host, Rig, check_host, wait_online
from tests.system.conftest import AGENT, DASHBOARD, PROFILE, RECEIVER, SENDER, System, link_body

RELAY = Host("sender-2", "test-relay", "relay")
CAMPAIGN = f"""
name: Over a relay
links: [{PROFILE}]
stop: {{seconds: 5}}
timetable: {{cycles: 1}}
limits: {{attempts: 3}}
conditions:
  - {{name: split, flows: [{{transport: split, cc: cubic, relay_cc: reno}}]}}
  - {{name: intcp, flows: [{{transport: intcp}}]}}
  - {{name: messages, flows: [{{transport: intcp, offer: {{message_bytes: 16, every_ms: 5}}}}]}}
  - {{name: plain, flows: [{{cc: cubic}}]}}
"""


@pytest.fixture(scope="module")
def relayed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A stack, a link with two hosts on the ground, and a relay in the second of them."""
    check_host()
    home: Path = tmp_path_factory.mktemp("relayed")
    hosts = (RECEIVER, SENDER, RELAY)
    with running(home, DASHBOARD) as stack:
        client = Client(Access(stack.address, stack.token))
        rig = Rig(stack.supervisor, AGENT, f"relay-{os.getpid()}")
        facts = rig.link_up(PROFILE, senders=2, control=stack.address.removeprefix("http://"))
        for host in hosts:
            rig.join(host, client.post("/agents/enrolments", {"name": host.agent})["token"])
            config = rig.state(host) / "agent.yaml"
            config.write_text(allowed(config.read_text()))
            rig.start_agent(host)
        wait_online(lambda: client.items("/agents"), hosts, stack.supervisor.check)
        client.post("/links", {**link_body(facts), "relays": [RELAY.agent]})
        yield System(stack, rig, client)


def allowed(text: str) -> str:
    """A configuration whose owner allows neighbours at private addresses, as those of a test are."""
    if "relay_private:" in text:
        return re.sub(r"relay_private: \w+", "relay_private: true", text)
    return text.replace("policy:\n", "policy:\n  relay_private: true\n")


def test_flows_over_a_relay_are_measured_like_tcp(relayed: System) -> None:
    campaign = relayed.launch(CAMPAIGN)
    relayed.wait_complete(campaign, timeout_s=240)
    runs = {run["condition"]: run for run in relayed.runs_in_time(campaign)}
    assert {name: (run["state"], run["detail"]) for name, run in runs.items()} == dict.fromkeys(
        ("split", "intcp", "messages", "plain"), ("complete", None)
    )
    rate_bps = relayed.client.items("/links")[0]["nominal_rate_bps"]
    for name in ("split", "intcp", "messages"):
        (flow,) = relayed.client.get(f"/runs/{runs[name]['id']}")["flows"]
        assert [hop["trace"]["state"] for hop in flow["hops"]] == ["sealed"]
        share = flow["goodput_bps"] / rate_bps
        assert share < 0.01 if name == "messages" else 0.3 < share < 1
