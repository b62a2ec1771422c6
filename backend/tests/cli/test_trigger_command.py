"""`downlink campaigns trigger` against the API itself, and the call that the campaign file's page prints."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from downlink.cli import triggers
from downlink.cli.client import Access, Client
from downlink.main import app
from tests.actions.test_faults import pair
from tests.actions.test_triggers import BLOCKED, wait_for
from tests.fixtures.lab import API, Lab

PAGE = Path(__file__).resolve().parents[3] / "docs" / "campaign-file.md"


@pytest.fixture(autouse=True)
def client(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        triggers, "connect", lambda: Client(Access("http://testserver", lab.token), lab.client._transport)
    )


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, ["campaigns", "trigger", *arguments])
    assert result.exit_code == 0, result.output
    return result


def printed_call(lab: Lab, campaign: str, secret: str) -> list[str]:
    """What the page's lines would have curl do, by the lab's clock."""
    (lines,) = re.findall(r"```sh\n(stamp=.*?)```", PAGE.read_text(), re.DOTALL)
    lines = lines.replace("SERVER", "testserver").replace("/ID/", f"/{campaign}/")
    stand_ins = f"date() {{ echo {int(lab.now().timestamp())}; }}\ncurl() {{ printf '%s\\n' \"$@\"; }}\n"
    done = subprocess.run(
        ["bash", "-euc", stand_ins + lines],
        env={"SECRET": secret, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_the_call_that_the_page_prints_starts_the_campaign(lab: Lab) -> None:
    pair(lab)
    campaign = wait_for(lab, {"call": True}, most=3)
    found = run(campaign)
    assert "Waits for a signed call. Fired 0 of 3 times." in found.stdout
    assert "--new-secret" in found.stderr
    assert "Nothing was fired yet." in found.output

    secret = run(campaign, "--new-secret").stdout.strip()
    arguments = printed_call(lab, campaign, secret)
    headers = dict(arguments[i + 1].split(": ") for i, each in enumerate(arguments) if each == "-H")
    assert arguments[-1] == f"https://testserver{API}/campaigns/{campaign}/trigger/call"
    answer = lab.client.post(arguments[-1], content=arguments[arguments.index("-d") + 1], headers=headers)
    assert (answer.status_code, answer.json()["is_fired"]) == (200, True)

    assert "Fired 1 of 3 times." in run(campaign).stdout
    assert [firing["cause"]["value"] for firing in json.loads(run(campaign, "--json").stdout)["firings"]] == [0.5]


def test_a_quantity_that_nobody_measures_is_named(lab: Lab) -> None:
    pair(lab)
    campaign = wait_for(lab, BLOCKED)
    lab.tick()
    found = run(campaign)
    assert "Now: Nobody has said" in found.stdout
    assert "--new-secret" not in found.output
