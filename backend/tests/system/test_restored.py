"""A server restored from its backup, as docs/operations.md says it, with real agents: what was measured since the copy is measured again at
once, and no attempt is lost for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from downlink.stack.launcher import Stack, command, start_service
from downlink.stack.process import wait_until
from tests.system.conftest import RECEIVER, SENDER, System, whole_system
from tests.system.test_faults import campaign_file, is_answering, kill, traces_are_whole
from tests.system.test_outages import SERVER

pytestmark = [pytest.mark.verify("stack"), pytest.mark.timeout(420)]
CYCLES = 3


def empty_beside(stack: Stack) -> str:
    """The address of an empty database on the stack's PostgreSQL."""
    url = make_url(stack.env["DOWNLINK_DATABASE_URL"])
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("CREATE DATABASE restored"))
    engine.dispose()
    return url.set(database="restored").render_as_string(hide_password=False)


def restored(system: System, copy: Path) -> None:
    """Stop the three services, restore the copy into an empty database, start them on it."""
    for name in SERVER:
        kill(system, name)
    env = {**system.stack.env, "DOWNLINK_DATABASE_URL": empty_beside(system.stack)}
    command(env, "restore", str(copy))
    for name in SERVER:
        start_service(system.stack.supervisor, env, name)
    assert wait_until(lambda: is_answering(system), timeout_s=60)


def attempts(system: System, campaign: str) -> dict[int, list[tuple[str, str | None]]]:
    """How the attempts at each cycle's run ended, in their order."""
    runs = sorted(system.runs_in_time(campaign), key=lambda run: run["attempt"])
    return {
        cycle: [(run["state"], run["reason"]) for run in runs if run["cycle"] == cycle]
        for cycle in range(1, CYCLES + 1)
    }


@pytest.mark.usefixtures("_host_unchanged")
def test_what_was_measured_since_the_copy_is_measured_again_and_loses_no_attempt(tmp_path: Path) -> None:
    with whole_system(tmp_path / "stack", f"restored-{os.getpid()}") as system:
        campaign = system.launch(campaign_file("Restored", seconds=3, cycles=CYCLES))
        system.wait_for_data(campaign)
        print(command(system.stack.env, "backup", str(tmp_path / "copy")))
        system.wait_complete(campaign)
        assert attempts(system, campaign) == {cycle: [("complete", None)] for cycle in range(1, CYCLES + 1)}

        restored(system, tmp_path / "copy")
        assert [run["state"] for run in system.runs(campaign)].count("complete") < CYCLES, "the copy is of before"
        system.wait_complete(campaign, timeout_s=240)
        first, *since = attempts(system, campaign).values()
        assert since == [[("complete", None)]] * (CYCLES - 1), "what was planned at the copy uses no attempt up"
        assert first[-1] == ("complete", None)
        assert len(first) <= 2, "what was under way at the copy ends as after an outage"
        assert traces_are_whole(system, campaign)
        assert {agent["name"]: agent["status"] for agent in system.client.items("/agents")}.keys() == {
            RECEIVER.agent,
            SENDER.agent,
        }
