"""`downlink runs trace` against the API itself: every point at which a flow is measured can be downloaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from downlink.cli import runs
from downlink.cli.client import Access, Client
from downlink.main import app
from tests.api.test_relays import INTCP_FLOW, conditions, crew
from tests.fixtures.lab import Lab

POINTS = {
    "sender": "retransmitted_bytes", "receiver": "arrived_bytes", "hop-1": "backlog_bytes", "hop-2": "backlog_bytes",
    "sent": "sent_at_us", "delivered": "delivered_at_us", "sites": "site_node", "link": "down_queued_bytes",
}  # fmt: skip


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["runs", "trace", *arguments])


def test_every_point_that_the_api_has_is_downloaded(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agents = crew(lab)
    for agent in agents.values():
        agent.keeps_delivery = True
    agents["near"].keeps_sites = agents["client"].logs_link = True
    lab.call("PATCH", f"/links/{lab.call('GET', '/links')['items'][0]['id']}", {"is_emulated": True})
    (found,) = lab.drive(lab.launch(conditions=conditions(INTCP_FLOW)), list(agents.values()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runs, "connect", lambda: Client(Access("http://testserver", lab.token), lab.client._transport))
    for point, field in POINTS.items():
        done = run(found["id"], "--point", point, "--format", "csv")
        assert done.exit_code == 0, done.output
        name = f"{found['id']}-{0 if point == 'link' else 1}-{point}.csv"
        header, first = (tmp_path / name).read_text().split("\n")[:2]
        assert field in header.split(",")
        assert header.count(",") == first.count(",")


def test_what_is_no_point_is_refused_with_those_that_there_are() -> None:
    refused = run("01890a5d-ac96-774b-9000-000000000001", "--point", "middle")
    assert refused.exit_code == 2
    assert "'middle' is not a point" in " ".join(refused.output.replace("│", " ").split())
