"""What an agent says of its own congestion controls when it joins is what campaign files are held against before anything is launched."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from downlink.actions.people import access
from downlink.codec.campaign_file import parse_campaign
from downlink.domain.fleet.control import read_host_controls
from downlink.domain.people.access import COMMAND_LINE
from downlink.storage.unit import open_units
from tests.fixtures.api_process import API, ApiProcess, running_api

ROOT = Path(__file__).resolve().parents[3]
AGENT = ROOT / "agents" / "bin" / "downlink-agent"
EXAMPLES = [path for name in ("examples", "examples/studies") for path in sorted((ROOT / "docs" / name).glob("*.yaml"))]
NAMES = ("own-controls-receiver", "own-controls-sender")
LINK = {"name": "own-controls", "orbit": "terrestrial", "nominal_rate_bps": 50_000_000, "base_rtt_ms": 20}
SOURCE = """
name: SEARCH in the kernel
links: [own-controls]
stop: {seconds: 4}
phases: {startup_s: 1, steady_s: 2}
timetable: {cycles: 1}
conditions:
  - {name: SEARCH, flows: [{cc: dl_cubic_search, options: {version: VERSION}}]}
  - {name: Cubic}
"""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, database_url: str) -> Iterator[ApiProcess]:
    """An api with a link whose two agents are the real program, joined and not running."""
    home, units = tmp_path_factory.mktemp("own-controls"), open_units(database_url, 2)
    with units() as unit:
        scopes = ["read", "write", "admin"]
        _, token = access.make_token(unit, "admin", scopes, datetime.now(UTC), None, actor=COMMAND_LINE)
    with running_api(home, units) as found:
        found.client.headers["Authorization"] = f"Bearer {token}"
        for name in NAMES:
            enrolment = found.client.post(f"{API}/agents/enrolments", json={"name": name}).json()["token"]
            words = ["--server", found.address, "--token", enrolment, "--name", name, "--data-host", "127.0.0.1"]
            join = [str(AGENT), "join", *words, "--state-dir", str(home / name)]
            subprocess.run(join, check=True, capture_output=True, timeout=60)
        ends = {"receiver": NAMES[0], "senders": [NAMES[1]]}
        found.client.post(f"{API}/links", json={**LINK, **ends}).raise_for_status()
        yield found
    units.close()


def blocking(api: ApiProcess, version: str) -> list[str]:
    """What speaks against the control itself; besides, its agents are not running."""
    answer = api.client.post(f"{API}/campaigns/preview", json={"source": SOURCE.replace("VERSION", version)})
    messages = [each["message"] for each in answer.json()["conflicts"] if each["is_blocking"]]
    return [message for message in messages if "dl_cubic_search" in message]


def test_a_bad_option_is_named_before_anything_is_launched(api: ApiProcess) -> None:
    assert blocking(api, "5") == [
        "SEARCH, on own-controls-sender: version of dl_cubic_search must be one of 1.0, 3.1, 4.0, not 5."
    ]
    assert blocking(api, "4.0") == []


def test_the_examples_ask_only_for_what_controls_take(api: ApiProcess) -> None:
    agents = api.client.get(f"{API}/agents").json()["items"]
    host: dict[str, Any] = next(each["host"] for each in agents if each["name"] == NAMES[0])
    controls = read_host_controls(host)
    assert controls
    flows = [
        flow
        for file in EXAMPLES
        for condition in parse_campaign(file.read_text()).conditions
        for flow in condition.flows
    ]
    assert any(flow.tcp and flow.tcp.options for flow in flows)
    faults = [fault for flow in flows for fault in controls.faults(flow.transport)]
    assert [fault for fault in faults if fault.is_certain] == [], "what only this host lacks is not certain"
