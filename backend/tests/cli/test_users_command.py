"""`downlink users` against the API itself."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner, Result

from downlink.cli import users
from downlink.cli.client import Access, Client
from downlink.domain.errors import ConflictError, DownlinkError, InvalidError, NotFoundError
from downlink.main import app
from tests.api.test_access import sign_up
from tests.api.test_accounts import accept, account, accounts, browser
from tests.fixtures.lab import Lab


@pytest.fixture(autouse=True)
def client(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The command line with the lab's token; `anna` is the first admin."""
    sign_up(lab)
    found = Client(Access("http://testserver", lab.token), lab.client._transport)
    monkeypatch.setattr(users, "connect", lambda: found)
    return found


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, ["users", *arguments])
    if isinstance(result.exception, DownlinkError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def rows(*arguments: str) -> list[list[str]]:
    return [line.split("\t") for line in run(*arguments).stdout.splitlines()][1:]


def test_an_invitation_of_the_command_line_makes_an_account_with_its_role(lab: Lab) -> None:
    link = run("invite", "Vera Example", "--role", "viewer").stdout.strip()
    [invitation] = rows("list", "--invitations")
    assert invitation[1:3] == ["Vera Example", "an account as viewer"]
    made: Any = accept(browser(lab), link.partition("#")[2], "vera")
    assert (made.status_code, made.json()["role"]) == (201, "viewer")
    assert [row[:2] for row in rows("list")] == [["anna", "admin"], ["vera", "viewer"]]
    assert rows("list", "--invitations") == []


def test_a_withdrawn_invitation_works_no_more(lab: Lab) -> None:
    link = run("invite", "Vera Example").stdout.strip()
    [invitation] = rows("list", "--invitations")
    run("withdraw", invitation[0])
    assert accept(browser(lab), link.partition("#")[2], "vera").status_code == 403


def test_a_role_is_changed_and_an_account_removed_by_name_and_id(lab: Lab) -> None:
    vera = account(lab, "viewer", "vera")
    assert run("role", "vera", "operator").stdout == "vera is operator.\n"
    assert vera.get("/api/v1/session").json()["role"] == "operator"
    run("remove", accounts(lab)["vera"]["id"])
    assert vera.get("/api/v1/session").status_code == 401
    assert list(accounts(lab)) == ["anna"]


def test_a_lost_password_is_replaced_by_a_link(lab: Lab) -> None:
    account(lab, "viewer", "vera")
    link = run("password", "vera").stdout.strip()
    made = accept(browser(lab), link.partition("#")[2], None, "another horse battery staple")
    assert (made.status_code, made.json()["username"]) == (201, "vera")


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(NotFoundError, match="There is no user 'nobody'; `downlink users list`"):
        run("remove", "nobody")
    with pytest.raises(ConflictError, match="anna is the only admin"):
        run("remove", "anna")
    with pytest.raises(InvalidError):
        run("role", "anna", "king")
