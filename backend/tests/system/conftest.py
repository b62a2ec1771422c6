"""The whole system for a test session: the real stack, the fast emulated link, and real agents in its namespaces."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from downlink.cli.client import Access, Client
from downlink.stack.launcher import Stack, running
from downlink.stack.process import wait_until
from downlink.stack.rig import Host, Rig, check_host, wait_online
from tests.system.hoststate import MARK, read_host_state, read_settings
from tests.system.packaged import NEXT, VERSION, build

ROOT = Path(__file__).resolve().parents[3]
AGENT = ROOT / "agents" / "bin" / "downlink-agent"
DASHBOARD = ROOT / "frontend" / "dist"
PROFILE = "terrestrial"
RECEIVER = Host("receiver", "test-receiver", "receiver")
SENDER = Host("sender-1", "test-sender", "sender")
ENDED = ("complete", "incomplete", "failed", "cancelled", "missed")


SESSION = pytest.StashKey[tuple["System", dict[str, str]]]()
"""The session's system once a test has asked for it, and the host's settings at that time."""


@dataclass
class System:
    stack: Stack
    rig: Rig
    client: Client

    def cancel_all(self) -> None:
        """Cancel every campaign that is under way."""
        for campaign in self.client.items("/campaigns"):
            if campaign["state"] in ("running", "paused"):
                self.client.post(f"/campaigns/{campaign['id']}/cancel")

    def launch(self, source: str) -> str:
        """Create and launch a campaign; answer its id."""
        campaign = str(self.client.post("/campaigns", {"source": source})["id"])
        self.client.post(f"/campaigns/{campaign}/launch")
        return campaign

    def runs(self, campaign: str) -> list[dict[str, Any]]:
        return self.client.items(f"/campaigns/{campaign}/runs")

    def runs_in_time(self, campaign: str) -> list[dict[str, Any]]:
        """All runs but those that failed because this machine did much else and the emulated link was late: they are repeated."""
        return [run for run in self.runs(campaign) if (run["state"], run["reason"]) != ("failed", "emulator_late")]

    def wait_for_run(self, campaign: str, state: str, timeout_s: float = 30) -> dict[str, Any]:
        """The first run of the campaign that is in `state`."""
        found: list[dict[str, Any]] = []

        def seen() -> bool:
            found[:] = [run for run in self.runs(campaign) if run["state"] == state]
            return bool(found)

        assert wait_until(seen, timeout_s, step_s=0.1), f"no run became {state}: {self.runs(campaign)}"
        return found[0]

    def wait_for_data(self, campaign: str) -> dict[str, Any]:
        """The campaign's first run once its sender says that data flows: then both ends have begun, and need no server."""
        run = self.wait_for_run(campaign, "running")
        assert wait_until(lambda: bool(self.client.get(f"/runs/{run['id']}")["live"]), timeout_s=20, step_s=0.1), run
        return run

    def wait_complete(self, campaign: str, timeout_s: float = 120) -> dict[str, Any]:
        """The campaign once it has ended and its report is computed."""

        def ended() -> bool:
            self.stack.supervisor.check()
            now = self.client.get(f"/campaigns/{campaign}")
            return bool(now["state"] == "complete")

        assert wait_until(ended, timeout_s, step_s=0.3), f"not complete: {self.runs(campaign)}"
        assert self.client.get(f"/campaigns/{campaign}/report")["is_current"]
        found: dict[str, Any] = self.client.get(f"/campaigns/{campaign}")
        return found


@pytest.fixture(scope="session")
def _host_unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder the stack lives in; afterwards the host must be as it was before."""
    home = tmp_path_factory.mktemp("stack")
    os.environ[MARK] = str(os.getpid())
    before = read_host_state(home)
    yield home
    assert read_host_state(home) == before


@pytest.fixture(scope="session")
def system(_host_unchanged: Path, request: pytest.FixtureRequest) -> Iterator[System]:
    """One stack and one link for the session; tests bring their own campaigns."""
    with whole_system(_host_unchanged, f"test-{os.getpid()}") as found:
        request.config.stash[SESSION] = found, read_settings()
        yield found
        del request.config.stash[SESSION]


@pytest.fixture(scope="module", autouse=True)
def _left_idle(request: pytest.FixtureRequest) -> Iterator[None]:
    """End what a module's campaigns still measure, and hear the agents: its last test may be one that no proof drew."""
    yield
    if found := request.config.stash.get(SESSION, None):
        system, before = found
        system.cancel_all()
        wait_until(lambda: read_settings() == before, timeout_s=60)
        assert read_settings() == before
        # Its agents may have been restarted, or wait for their turn after a copied folder.
        wait_online(lambda: system.client.items("/agents"), (RECEIVER, SENDER), system.stack.supervisor.check)


@contextmanager
def whole_system(home: Path, name: str) -> Iterator[System]:
    """A stack in `home` and a link `name` with an agent at each end."""
    check_host()
    with running(home, DASHBOARD) as stack:
        client = Client(Access(stack.address, stack.token))
        rig = Rig(stack.supervisor, AGENT, name)
        facts = rig.link_up(PROFILE, senders=1, control=stack.address.removeprefix("http://"))
        for host in (RECEIVER, SENDER):
            rig.join(host, client.post("/agents/enrolments", {"name": host.agent})["token"])
            rig.start_agent(host)
        wait_online(lambda: client.items("/agents"), (RECEIVER, SENDER), stack.supervisor.check)
        client.post("/links", link_body(facts))
        yield System(stack, rig, client)


def link_body(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": PROFILE,
        "orbit": facts["orbit"],
        "nominal_rate_bps": facts["nominal_rate_bps"],
        "base_rtt_ms": facts["base_rtt_ms"],
        "receiver": RECEIVER.agent,
        "senders": [SENDER.agent],
        "is_emulated": True,
        "profile": PROFILE,
    }


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The agent's packages, in a folder for each version."""
    folder = tmp_path_factory.mktemp("packages")
    for version in (VERSION, NEXT):
        build(version, folder / version)
    return folder
