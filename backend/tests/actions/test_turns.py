"""Random campaigns, clocks that are set, ticks and agents that are lost: every run ends, none is lost, doubled or beside another."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from downlink.domain.runs.run import FINAL, RunState
from tests.fixtures.fleet import SHORT, Fleet
from tests.fixtures.lab import API, Lab

LINKS = {"a": ("client-a", ["server"]), "b": ("client-b", ["server"]), "c": ("client-c", ["other"])}
HOSTS = {"client-a": "shared", "other": "shared"}
"""Two links share a sender, and two agents a host."""
pytestmark = [pytest.mark.sampled("faults"), pytest.mark.timeout(600)]
MEASURED = {RunState.COMPLETE, RunState.INCOMPLETE}

timetables = st.one_of(
    st.fixed_dictionaries({"cycles": st.integers(1, 2), "pause_s": st.sampled_from([0, 90])}),
    st.fixed_dictionaries({"duration_h": st.just(0.05), "every_s": st.sampled_from([45, 90])}),
)
campaigns = st.fixed_dictionaries(
    {
        "links": st.lists(st.sampled_from(sorted(LINKS)), min_size=1, max_size=3, unique=True),
        "timetable": timetables,
        "limits": st.fixed_dictionaries({"attempts": st.integers(1, 2)}),
        "is_host_wide": st.booleans(),
    }
)
happenings = st.one_of(
    st.tuples(st.just("steps"), st.integers(1, 8)),
    st.tuples(st.just("clock"), st.sampled_from([-4000, -120, -8, 8, 120, 4000])),
    st.tuples(st.just("lost ticks"), st.integers(1, 6)),
    st.tuples(st.just("server away"), st.integers(5, 400)),
    st.tuples(st.just("agent away"), st.sampled_from(["client-a", "server", "other"])),
    st.tuples(st.just("pause"), st.integers(10, 300)),
    st.tuples(st.just("rerun"), st.none()),
    st.tuples(st.just("cancel a run"), st.integers(0, 7)),
)


@pytest.fixture
def fleet(lab: Lab) -> Fleet:
    made = Fleet(lab)
    for name, (receiver, senders) in LINKS.items():
        for agent in (receiver, *senders):
            if agent not in made.agents:
                made.join(agent, HOSTS.get(agent))
        lab.link(name, receiver, tuple(senders))
    return made


@given(st.lists(campaigns, min_size=1, max_size=3), st.lists(happenings, max_size=8), st.booleans())
@settings(
    max_examples=4,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_every_run_ends_and_none_is_lost_doubled_or_beside_another_on_its_link(
    fleet: Fleet, wanted: list[dict[str, Any]], story: list[tuple[str, Any]], is_repeated: bool
) -> None:
    with fleet.lab.units() as unit:
        unit.session.connection().exec_driver_sql("DELETE FROM campaigns")
    for agent in fleet.agents.values():
        agent.away_until = 0.0
        agent.forget()
        agent.poll()
    launched = [launch(fleet, campaign) for campaign in wanted]
    planned = fleet.value("SELECT count(*) FROM runs")
    for kind, what in story:
        happen(fleet, kind, what, launched)
    fleet.run(most_s=8 * 3600)
    if is_repeated:  # after the end, and once more beside what that has planned
        for campaign in launched * 2:
            rerun(fleet, campaign)
        fleet.run(most_s=8 * 3600)
    places = fleet.places()
    assert len(places) == planned
    for place in places:
        assert place.attempts == list(range(1, len(place.attempts) + 1))
        assert set(place.states) <= FINAL
        assert sum(state == RunState.COMPLETE for state in place.states) <= 1
        if not is_repeated and all(kind != "rerun" for kind, _ in story):
            assert sum(state in MEASURED for state in place.states) <= 1
    assert fleet.value("SELECT count(*) FROM leases") == 0


def launch(fleet: Fleet, campaign: dict[str, Any]) -> str:
    conditions = [{"name": "on", "sender": {"tcp_cubic.hystart": 1}}, {"name": "plain"}]
    changes = {key: value for key, value in campaign.items() if key != "is_host_wide"}
    return fleet.lab.launch(**SHORT, **changes, conditions=conditions if campaign["is_host_wide"] else conditions[1:])


def rerun(fleet: Fleet, campaign: str) -> None:
    """Where there is something to repeat."""
    headers = {"Authorization": f"Bearer {fleet.lab.token}"}
    answer = fleet.lab.client.post(f"{API}/campaigns/{campaign}/rerun", headers=headers)
    assert answer.status_code == 200 or answer.json()["code"] == "nothing_to_rerun", answer.text


def happen(fleet: Fleet, kind: str, what: Any, launched: list[str]) -> None:
    match kind:
        case "steps":
            for _ in range(what):
                fleet.step()
        case "clock" | "server away":
            fleet.lab.go_away(what)
        case "lost ticks":
            fleet.loses_ticks = what
        case "agent away":
            fleet.send_away(what, 300)
        case "rerun":
            rerun(fleet, launched[0])
        case "cancel a run":
            runs = fleet.lab.runs(launched[0])
            run = runs[what % len(runs)]
            if run["state"] in ("planned", "leased", "preparing", "running"):
                fleet.lab.call("POST", f"/runs/{run['id']}/cancel")
        case "pause":
            path = f"/campaigns/{launched[0]}"
            if fleet.lab.call("GET", path)["state"] == "running":
                fleet.lab.call("POST", f"{path}/pause")
                fleet.pass_time(what)
                fleet.step()
                fleet.lab.call("POST", f"{path}/resume")
