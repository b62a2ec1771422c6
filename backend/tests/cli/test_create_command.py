"""`downlink campaigns create` against the API itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from downlink.cli import campaigns
from downlink.cli.client import Access, Client
from downlink.domain.errors import ConflictError
from downlink.main import app
from tests.fixtures.lab import Lab

FILE = "name: later\nlinks: [geo]\nstop: {seconds: 5}\ntimetable: {cycles: 1}\nconditions: [{name: plain}]\n"


@pytest.fixture(autouse=True)
def client(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line with the lab's token."""
    found = Client(Access("http://testserver", lab.token), lab.client._transport)
    monkeypatch.setattr(campaigns, "connect", lambda: found)


def test_a_draft_whose_launch_is_refused_is_named(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "later.yaml"
    file.write_text(FILE)
    refused = CliRunner().invoke(app, ["campaigns", "create", str(file), "--launch"])
    assert isinstance(refused.exception, ConflictError)
    assert refused.exception.message.startswith("links[0]: There is no link called geo")
    shown = CliRunner().invoke(app, ["campaigns", "preview", str(file)])
    assert (shown.exit_code, "conflict: links[0]: There is no link called geo" in shown.stderr) == (1, True)
    (draft,) = lab.call("GET", "/campaigns")["items"]
    assert (refused.stdout.strip(), draft["state"]) == (draft["id"], "draft")


def test_only_what_prevents_the_launch_makes_a_preview_fail(lab: Lab, tmp_path: Path) -> None:
    lab.join("client"), lab.join("server")
    link = lab.link()
    file = tmp_path / "later.yaml"
    file.write_text(FILE)
    assert CliRunner().invoke(app, ["campaigns", "preview", str(file)]).exit_code == 0
    lab.call("PATCH", f"/links/{link['id']}", {"allowance_bytes": 1000})
    warned = CliRunner().invoke(app, ["campaigns", "preview", str(file)])
    assert warned.exit_code == 0
    assert warned.stderr.startswith("warning: ")
    assert "conflict: " not in warned.stderr
    file.write_text(FILE.replace("geo", "nowhere"))
    prevented = CliRunner().invoke(app, ["campaigns", "preview", str(file)])
    assert prevented.exit_code == 1
    assert "conflict: links[0]: There is no link called nowhere" in prevented.stderr
