"""`downlink notify` against the API itself."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner, Result

from downlink.cli import notify
from downlink.cli.client import Access, Client
from downlink.domain.errors import DownlinkError, InvalidError, NotFoundError, UnavailableError
from downlink.main import app
from tests.fixtures.lab import Lab
from tests.fixtures.receivers import WebReceiver


@pytest.fixture(autouse=True)
def client(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Client:
    settings = lab.app.state.settings
    lab.app.state.settings = settings.model_copy(update={"notify_allow": "127.0.0.0/8"})
    found = Client(Access("http://testserver", lab.token), lab.client._transport)
    monkeypatch.setattr(notify, "connect", lambda: found)
    return found


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, ["notify", *arguments])
    if isinstance(result.exception, DownlinkError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def rows(*arguments: str) -> list[list[str]]:
    return [line.split("\t") for line in run(*arguments).stdout.splitlines()][1:]


def test_a_channel_is_added_tested_listed_and_removed() -> None:
    with WebReceiver() as receiver:
        added = run("add", "ops", receiver.url(), "--kind", "webhook", "--of", "volume", "--of", "failures")
        assert added.stdout.startswith("whsec_")
        assert run("test", "ops").stdout == "Answered 200.\n"
    [channel] = rows("list")
    assert channel[1:6] == ["ops", "webhook", f"http://127.0.0.1:{receiver.port}/…", "failures, volume", "yes"]
    assert [row[2:] for row in rows("sent", "ops")] == [["sent", "1", "Answered 200."]]
    run("remove", channel[0])
    assert rows("list") == []


def test_a_test_that_does_not_arrive_says_why() -> None:
    run("add", "inside", "https://127.0.0.1:1/x", "--kind", "chat")
    with pytest.raises(UnavailableError, match="No connection"):
        run("test", "inside")


def test_an_address_that_is_not_allowed_is_refused_at_once() -> None:
    with pytest.raises(InvalidError, match="DOWNLINK_NOTIFY_ALLOW"):
        run("add", "inside", "https://10.0.0.1/x", "--kind", "chat")


def test_nobody_of_this_name() -> None:
    with pytest.raises(NotFoundError, match="notify list"):
        run("test", "ops")
