"""One agent's word is not another's risk: data addresses and tickets are judged before anybody acts on them."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import update

from downlink.storage.tables import RunFlow
from tests.actions.test_faults import ONE, pair
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent

pytestmark = pytest.mark.sampled("faults", one_of=3)


def begin(lab: Lab, data_host: str = "192.0.2.1") -> tuple[str, ScriptedAgent, ScriptedAgent]:
    client, server = pair(lab)
    server.host["data_host"], server.is_new = data_host, True
    server.poll()
    campaign = lab.launch(**ONE)
    lab.tick()
    return campaign, client, server


@pytest.mark.parametrize(
    "address", ["127.0.0.1:6379", "192.0.2.2:40000", "localhost:6379", "[::1]:6379", "[2001:db8::1]:40000"]
)
def test_a_sender_cannot_steer_the_receiver_to_another_host(lab: Lab, address: str) -> None:
    campaign, client, server = begin(lab)
    server.listens_at = address
    runs = lab.drive(campaign, [server, client])
    assert "go" not in client.orders
    assert {(run["state"], run["reason"]) for run in runs} == {("failed", "port_failed")}
    assert address.rsplit(":", 1)[0].strip("[]") in runs[0]["detail"]
    assert "192.0.2.1" in runs[0]["detail"]


@pytest.mark.parametrize(
    ("data_host", "address"),
    [("2001:db8::1", "[2001:0db8:0::1]:40000"), ("Sender.Example", "sender.example:40000")],
)
def test_the_same_host_may_be_written_differently(lab: Lab, data_host: str, address: str) -> None:
    campaign, client, server = begin(lab, data_host)
    server.listens_at = address
    runs = lab.drive(campaign, [server, client])
    assert [run["state"] for run in runs] == ["complete"]


def test_an_order_names_the_peers_data_host_even_where_it_is_a_name(lab: Lab) -> None:
    _, client, server = begin(lab, "sender.example")
    server.poll()
    order: dict[str, Any] | None = client.poll()
    assert order is not None
    assert order["flows"][0]["sender"] == {"agent": "server", "host": "sender.example"}


def test_a_sender_that_calls_itself_another_host_in_a_run_is_not_heard_until_it_is_over(lab: Lab) -> None:
    """Else it would agree with itself: `ready` names an address of its data host."""
    campaign, client, server = begin(lab)
    server.host["data_host"], server.is_new, server.listens_at = "169.254.169.254", True, "169.254.169.254:80"
    first, *_ = lab.drive(campaign, [server, client])
    assert (first["state"], first["reason"]) == ("failed", "port_failed")
    assert "192.0.2.1" in first["detail"]
    server.is_new = True
    server.poll()
    hosts = {each["name"]: each["host"]["data_host"] for each in lab.call("GET", "/agents")["items"]}
    assert hosts["server"] == "169.254.169.254"


@pytest.mark.parametrize("ticket", [None, "", "dlt_short"])
def test_a_run_without_a_proper_ticket_is_ordered_of_nobody(lab: Lab, ticket: str | None) -> None:
    campaign, client, server = begin(lab)
    with lab.units() as unit:
        unit.session.execute(update(RunFlow).values(ticket=ticket))
    assert client.act() is None
    assert server.act() is None
    (run,) = lab.runs(campaign)[:1]
    assert (run["state"], run["reason"]) == ("failed", "internal")
    assert "ticket" in run["detail"]


@pytest.mark.parametrize("liar", ["server", "client"])
def test_a_claim_beyond_what_the_link_carries_uses_up_no_allowance(lab: Lab, liar: str) -> None:
    """One end says that 4.6 EB went over a link of 144 Mb/s in five seconds; the other end is believed."""
    client, server = lab.join("client"), lab.join("server")
    lab.link(allowance_bytes=10**12)
    {"server": server, "client": client}[liar].claims = 2**62
    campaign = lab.launch(conditions=[{"name": "on"}])
    (run,) = lab.drive(campaign, [client, server])
    assert run["state"] == "complete"
    (link,) = lab.call("GET", "/links")["items"]
    assert 0 < link["month"]["used_bytes"] < 10**9
    details = [each["detail"] or "" for each in lab.call("GET", f"/runs/{run['id']}")["events"]]
    assert any(f"{liar}: flow 1 is said to have moved 4,611,686,018,427 MB" in each for each in details), details
