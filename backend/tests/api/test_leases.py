"""Each lease of an attempt has a name: events of another one, as from before the server was restored from a copy, are not this run's."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from downlink.storage.tables import Run
from tests.fixtures.lab import Lab

ONE: dict[str, Any] = {"conditions": [{"name": "plain"}], "timetable": {"cycles": 1}, "limits": {"attempts": 2}}


def test_orders_and_events_carry_the_lease_and_one_of_before_is_refused(lab: Lab) -> None:
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    campaign = lab.launch(**ONE)
    lab.tick()
    server = agents[1]
    order = server.poll()
    assert order is not None
    assert len(order["lease"]) == 32
    server.run = {**order, "lease": "00" * 16}
    before = server.event("failed", reason="disk_full", detail="It was full then.")
    assert (before.status_code, before.json()["code"]) == (409, "not_your_run")
    assert lab.runs(campaign)[0]["state"] in ("leased", "preparing")
    server.run = {name: value for name, value in order.items() if name != "lease"}
    assert server.event("failed", reason="disk_full", detail="An agent of before says none.").status_code == 204
    server.forget()
    runs = lab.drive(campaign, agents)
    assert [run["state"] for run in runs] == ["failed", "complete"]


def test_each_attempt_has_a_lease_of_its_own(lab: Lab) -> None:
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    agents[1].fails_with = {"reason": "disk_full", "detail": "full"}
    seen = set()
    lab.launch(**ONE)
    for _ in range(30):
        lab.turn(agents)
        with lab.units() as unit:
            seen |= set(unit.session.scalars(select(Run.lease))) - {None}
    assert len(seen) == 2
