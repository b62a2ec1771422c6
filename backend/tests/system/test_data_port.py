"""The data port gives nothing without a ticket of its own run that has not been used."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from downlink.stack.process import wait_until
from tests.system.conftest import RECEIVER, System
from tests.system.test_faults import campaign_file

pytestmark = pytest.mark.verify("stack")

# Runs inside the receiver's namespace: say a line at the data port, count what comes back until it is closed.
KNOCK = """
import socket, sys
host, port = sys.argv[1].rsplit(":", 1)
with socket.create_connection((host.strip("[]"), int(port)), timeout=15) as port:
    port.sendall(sys.argv[2].encode())
    port.shutdown(socket.SHUT_WR)
    got = 0
    try:
        while piece := port.recv(65536):
            got += len(piece)
    except ConnectionResetError:
        pass
print(got)
"""


def query(system: System, statement: str, **values: Any) -> Any:
    engine = create_engine(system.stack.env["DOWNLINK_DATABASE_URL"])
    with engine.connect() as connection:
        found = connection.scalar(text(statement), values)
    engine.dispose()
    return found


def bytes_for(system: System, address: str, line: str) -> int:
    command = system.rig.inside(RECEIVER, [sys.executable, "-c", KNOCK, address, line])
    return int(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)


def ticket_of(system: System, run: str) -> str:
    """Read while the run is under way: the database forgets tickets with its end."""
    return str(query(system, "SELECT ticket FROM run_flows WHERE run_id = :run AND ticket IS NOT NULL", run=run))


@pytest.fixture(scope="module")
def port(system: System) -> tuple[str, dict[str, str]]:
    """The data address of a run under way, and what to say there: its own ticket, used by now, and an earlier run's among it."""
    earlier = system.launch(campaign_file("Data port, earlier", seconds=2))
    other = ticket_of(system, system.wait_for_run(earlier, "running")["id"])
    system.wait_complete(earlier)
    campaign = system.launch(campaign_file("Data port", seconds=20))
    run = system.wait_for_run(campaign, "running")["id"]
    used = ticket_of(system, run)
    address = query(
        system, "SELECT data_address FROM run_hosts WHERE run_id = :run AND data_address IS NOT NULL", run=run
    )
    assert wait_until(lambda: bool(system.client.get(f"/runs/{run}")["live"]), timeout_s=10), (
        "the ticket is used once data flows"
    )
    assert len({used, other, "None"}) == 3
    lines = {
        "none": "",
        "empty": "DL1 \n",
        "wrong": "DL1 dlt_0000000000\n",
        "used": f"DL1 {used}\n",
        "another run's": f"DL1 {other}\n",
    }
    return address, lines


@pytest.mark.parametrize("ticket", ["none", "empty", "wrong", "used", "another run's"])
def test_the_data_port_gives_nothing(system: System, port: tuple[str, dict[str, str]], ticket: str) -> None:
    address, lines = port
    assert bytes_for(system, address, lines[ticket]) == 0


@pytest.mark.verify("stack", measures=True)
def test_the_run_itself_was_not_disturbed(system: System, port: tuple[str, dict[str, str]]) -> None:
    (campaign,) = (c["id"] for c in system.client.items("/campaigns") if c["name"] == "Data port")
    system.wait_complete(campaign)
    (run,) = system.runs_in_time(campaign)
    assert run["state"] == "complete"
    assert run["throughput_bps"] > 10e6
