"""Samples that an agent still holds when others measure on their link: they come after that run, and not under it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text

from downlink.stack.process import wait_until
from downlink.stack.rig import Host, Rig, wait_online
from tests.system.conftest import AGENT, PROFILE, System
from tests.system.networks import added_to
from tests.system.test_faults import kill, traces_are_whole

pytestmark = pytest.mark.verify("stack")

LATE, OTHER = Host("sender-1", "late-sender", "sender"), Host("sender-2", "other-sender", "sender")
HOSTS = (Host("receiver", "late-receiver", "receiver"), LATE, OTHER)
SLOW_BPS = 100
"""Of a chunk the first 16 KiB leave at once, and the rest takes many minutes."""
SOURCE = """
name: By sender {sender}
links: [shared]
stop: {{seconds: {seconds}}}
phases: {{startup_s: 1, steady_s: 1}}
timetable: {{cycles: 1, pause_s: 0}}
limits: {{attempts: 1}}
conditions:
  - {{name: plain, flows: [{{cc: cubic, sender: {sender}}}]}}
"""
HOUR_AGO = """
    UPDATE heartbeats SET since = since - interval '1 hour';
    UPDATE run_hosts SET heard_at = heard_at - interval '1 hour', stored_at = stored_at - interval '1 hour' WHERE run_id = '{run}';
    UPDATE runs SET state_at = state_at - interval '1 hour', wake_at = now() WHERE id = '{run}' AND state = 'uploading';
"""
ASKED_LONG_AGO = "UPDATE run_hosts SET upload_asked_at = upload_asked_at - interval '1 hour' WHERE run_id = '{run}'"
STORED_AFTER = """
    SELECT stored_at > (SELECT released_at FROM runs WHERE id = CAST(:other AS uuid))
    FROM run_hosts WHERE run_id = CAST(:run AS uuid) AND agent = :agent
"""


@pytest.fixture(scope="module")
def shared(system: System) -> Iterator[System]:
    """The session's stack, with a link of two senders beside it; one sender's way for samples is very slow."""
    with added_to(system):
        supervisor = system.stack.supervisor
        rig = Rig(supervisor, AGENT, f"late-{os.getpid()}")
        facts = rig.link_up(PROFILE, 2, system.stack.address.removeprefix("http://"))
        for host in HOSTS:
            rig.join(host, system.client.post("/agents/enrolments", {"name": host.agent})["token"])
            pace(rig, SLOW_BPS if host is LATE else 0, host)
            rig.start_agent(host)
        wait_online(lambda: system.client.items("/agents"), HOSTS, supervisor.check)
        known = {key: facts[key] for key in ("orbit", "nominal_rate_bps", "base_rtt_ms")}
        ends = {"receiver": HOSTS[0].agent, "senders": [LATE.agent, OTHER.agent]}
        system.client.post("/links", {"name": "shared", **known, **ends, "is_emulated": True, "profile": PROFILE})
        yield System(system.stack, rig, system.client)


def pace(rig: Rig, upload_bps: int, host: Host = LATE) -> None:
    """The most that the upload of samples takes, from the agent's next start on."""
    config = rig.state(host) / "agent.yaml"
    said, count = re.subn(r"upload_bps: \d+", f"upload_bps: {upload_bps}", config.read_text())
    assert count == 1
    config.write_text(said)


def agent(system: System, name: str) -> dict[str, Any]:
    (found,) = (each for each in system.client.items("/agents") if each["name"] == name)
    return found


def chunks(system: System) -> int:
    return sum(1 for path in (system.rig.state(LATE) / "spool").rglob("*") if path.is_file())


def let_pass(engine: Engine, sql: str, run: str) -> None:
    """As if the time had passed."""
    with engine.begin() as connection:
        for each in sql.format(run=run).strip().split(";\n"):
            connection.execute(text(each.rstrip(";\n ")))


def given_up(system: System, engine: Engine) -> str:
    """A run that has ended without the samples of its sender, which waits with them."""
    campaign = system.launch(SOURCE.format(sender=1, seconds=8))
    run = str(system.wait_for_run(campaign, "uploading")["id"])
    assert wait_until(lambda: agent(system, LATE.agent)["status"] == "uploading", timeout_s=20, step_s=0.1)
    kill(system, LATE.agent)

    def has_ended() -> bool:
        """Each time again: a process that marks its life just then takes back what was said of it."""
        let_pass(engine, HOUR_AGO, run)
        return bool(system.client.get(f"/runs/{run}")["state"] == "incomplete")

    assert wait_until(has_ended, timeout_s=20, step_s=0.5)
    assert chunks(system) > 0
    return run


def restart_late(system: System, engine: Engine, run: str, upload_bps: int, expected: str) -> None:
    """Start its agent again, as if it had last been asked for its samples long ago, and wait until it has said what it does."""
    if LATE.agent in system.stack.supervisor.names():
        kill(system, LATE.agent)
    pace(system.rig, upload_bps)
    let_pass(engine, ASKED_LONG_AGO, run)
    before = agent(system, LATE.agent)["last_seen_at"]
    system.rig.start_agent(LATE)

    def has_said() -> bool:
        now = agent(system, LATE.agent)
        return bool(now["last_seen_at"] > before and now["status"] == expected)

    assert wait_until(has_said, timeout_s=20, step_s=0.1), agent(system, LATE.agent)


def test_late_samples_wait_while_others_measure_their_link_and_come_after_it(shared: System) -> None:
    engine = create_engine(shared.stack.env["DOWNLINK_DATABASE_URL"])
    late = given_up(shared, engine)
    restart_late(shared, engine, late, SLOW_BPS, "uploading")
    campaign = shared.launch(SOURCE.format(sender=2, seconds=8))
    other = str(shared.wait_for_data(campaign)["id"])
    assert wait_until(lambda: agent(shared, LATE.agent)["status"] == "idle", timeout_s=5, step_s=0.1), "it is held"
    restart_late(shared, engine, late, 0, "idle")  # on a way that takes all of it at once
    assert shared.client.get(f"/runs/{other}")["state"] in ("running", "restoring", "uploading")
    shared.wait_complete(campaign)
    assert [run["state"] for run in shared.runs_in_time(campaign)] == ["complete"]
    assert chunks(shared) > 0
    restart_late(shared, engine, late, 0, "idle")  # instead of the end of the poll that it holds
    assert wait_until(lambda: shared.client.get(f"/runs/{late}")["state"] == "complete", timeout_s=20, step_s=0.1)
    with engine.connect() as connection:
        values = {"run": late, "other": other, "agent": LATE.agent}
        assert connection.execute(text(STORED_AFTER), values).scalar_one(), "no chunk came under the run of others"
    engine.dispose()
    assert traces_are_whole(shared, str(shared.client.get(f"/runs/{late}")["campaign_id"]))
    assert chunks(shared) == 0
