"""Share links: one campaign for whoever has the link, and nothing else on this server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, get_args
from uuid import UUID

import pytest
import structlog
from fastapi.testclient import TestClient
from httpx import Cookies
from sqlalchemy import select
from typer.testing import CliRunner

from downlink.actions.campaigns.archive_read import load_archive
from downlink.api.http.slots import Slots, Turns
from downlink.cli import shares
from downlink.domain.people.share import MOST_SHARES, ExpiryDays
from downlink.main import app
from downlink.storage.tables import Audit, Share
from downlink.views.results.tables import TableName
from tests.api.test_routes import asked, fill
from tests.fixtures.lab import API, Lab
from tests.fixtures.recorded import ARCHIVE

pytestmark = pytest.mark.sampled("faults")

PREFIX = f"{API}/campaigns/{{campaign_id}}"
OPENED = {
    ("GET", PREFIX + end)
    for end in (
        "", "/report", "/statistics", "/values", "/reproduction", "/circumstances", "/links", "/exits", "/limits", "/delays", "/rates",
        "/day",
        "/{table}.csv",
    )
}  # fmt: skip
"""What a visitor reads. A route that is not here is closed to visitors, however new it is."""
STORED = {("GET", PREFIX), ("GET", f"{PREFIX}/links")}
"""Those that read rows and compute nothing, so that they wait for no turn."""


@pytest.fixture
def campaign(lab: Lab) -> str:
    with lab.units() as unit:
        return str(load_archive(unit, ARCHIVE.read_bytes())[0])


@pytest.fixture
def other(lab: Lab) -> str:
    """Another campaign of the same server, with results of its own."""
    source = "name: hidden study\nlinks: [hidden-link]\nstop: {seconds: 5}\ntimetable: {cycles: 1}\nconditions: [{name: a}]\n"
    return str(lab.call("POST", "/campaigns", {"source": source})["id"])


@pytest.fixture
def visitor(lab: Lab) -> Iterator[TestClient]:
    """A browser that has never been here."""
    with TestClient(lab.app, raise_server_exceptions=False) as browser:
        yield browser


def share(lab: Lab, campaign: str, **body: Any) -> dict[str, Any]:
    made: dict[str, Any] = lab.call("POST", f"/campaigns/{campaign}/shares", {"name": "partners", **body})
    return made


def secret_of(made: dict[str, Any]) -> str:
    return str(made["link"]).partition("#")[2]


def open_link(browser: TestClient, made: dict[str, Any]) -> Any:
    answer = browser.post(f"{API}/shares/open", json={"secret": secret_of(made)})
    assert answer.status_code == 200, answer.text
    return answer.json()


def cookies_for(made: dict[str, Any]) -> Cookies:
    """The cookie sent to every path, as no browser would: it is the server that has to refuse."""
    cookies = Cookies()
    cookies.set("downlink-share", secret_of(made))
    return cookies


def place(path: str, campaign: str) -> str:
    return fill(path.replace("{campaign_id}", campaign))


def test_a_link_opens_in_a_fresh_browser_and_says_what_it_is(lab: Lab, campaign: str, visitor: TestClient) -> None:
    made = share(lab, campaign, expires_in_days=7)
    assert visitor.get(f"{API}/campaigns/{campaign}/report").status_code == 401
    opened = open_link(visitor, made)
    assert opened["campaign_id"] == campaign
    assert (opened["campaign"], opened["expires_at"]) == ("Demo: HyStart on and off", made["expires_at"])
    assert visitor.get(f"{API}/campaigns/{campaign}/report").json()["campaign_id"] == campaign
    [listed] = lab.call("GET", f"/campaigns/{campaign}/shares")["items"]
    assert (listed["opened"], listed["name"]) == (1, "partners")
    assert "link" not in listed


def test_the_cookie_goes_to_its_campaign_alone_and_to_no_script(lab: Lab, campaign: str, visitor: TestClient) -> None:
    made = share(lab, campaign, expires_in_days=1)
    cookie = visitor.post(f"{API}/shares/open", json={"secret": secret_of(made)}).headers["set-cookie"]
    assert f"Path={API}/campaigns/{campaign}" in cookie
    for part in ("HttpOnly", "SameSite=strict"):
        assert part in cookie
    age = int(cookie.split("Max-Age=")[1].split(";")[0])
    assert 0 < age <= 24 * 3600


def test_of_all_routes_a_visitor_opens_those_of_the_own_campaign_alone(lab: Lab, campaign: str, other: str) -> None:
    made = share(lab, campaign)
    with TestClient(lab.app, raise_server_exceptions=False, cookies=cookies_for(made)) as browser:
        for verb, path in asked():
            answer = browser.request(verb, place(path, campaign), json={})
            if (verb, path) in OPENED:
                assert answer.status_code == 200, (verb, path, answer.text)
            else:
                assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in"), (verb, path)
        for verb, path in OPENED:
            for elsewhere in (other, "00000000-0000-0000-0000-000000000000"):
                answer = browser.request(verb, place(path, elsewhere))
                assert (answer.status_code, answer.json()["code"]) == (403, "role_denied"), (verb, path)


def test_as_a_bearer_token_the_secret_opens_nothing(lab: Lab, campaign: str) -> None:
    headers = {"Authorization": f"Bearer {secret_of(share(lab, campaign))}"}
    for verb, path in asked():
        answer = lab.client.request(verb, place(path, campaign), headers=headers, json={})
        assert answer.status_code == 401, (verb, path)


def test_nothing_but_the_campaign_is_named(lab: Lab, campaign: str, other: str) -> None:
    """Agents, users, tokens, other campaigns, links and shares of the server: none of their names is in what a visitor reads."""
    day = lab.call("GET", f"/campaigns/{campaign}/day")
    link = day["links"][0]["link"]
    lab.join("hidden-agent")
    lab.join("hidden-sender")
    lab.link(link, receiver="hidden-agent", senders=("hidden-sender",))
    note = {"kind": "weather", "from_at": day["from_at"], "to_at": day["to_at"]}
    lab.call("POST", "/annotations", {**note, "link": link, "text": "hidden: of the link alone"})
    lab.call("POST", "/annotations", {**note, "campaign_id": campaign, "text": "of the campaign"})
    lab.call("POST", "/tokens", {"name": "hidden-token", "scopes": ["read"]})
    made = share(lab, campaign)
    lab.call("POST", f"/campaigns/{campaign}/shares", {"name": "hidden-share"})
    with TestClient(lab.app, cookies=cookies_for(made)) as browser:
        paths = [path for _, path in sorted(OPENED) if "{table}" not in path]
        paths += [f"{PREFIX}/{table}.csv" for table in get_args(TableName)]
        for path in paths:
            answer = browser.get(place(path, campaign))
            assert answer.status_code == 200, path
            text = answer.text
            for word in ("hidden", other, "demo-sender", "demo-receiver", made["id"], "boot_id"):
                assert word not in text, (path, word)
        noted = browser.get(f"{API}/campaigns/{campaign}/day").json()["annotations"]
    assert [each["text"] for each in noted] == ["of the campaign"]
    noted = lab.call("GET", f"/campaigns/{campaign}/day")["annotations"]
    assert {each["text"] for each in noted} == {"hidden: of the link alone", "of the campaign"}


def test_whatever_is_computed_for_visitors_takes_a_turn_of_theirs(lab: Lab, campaign: str) -> None:
    """A route that is added takes one too, or a place for a download, or is known to read stored rows alone."""
    cookies = cookies_for(share(lab, campaign))
    lab.app.state.visitors_computing = Turns("answers", in_all=0, per_caller=0, waiting=0)
    lab.app.state.visitors_exports = Slots("downloads", in_all=0, per_caller=0)
    with TestClient(lab.app, raise_server_exceptions=False, cookies=cookies) as browser:
        for verb, path in sorted(OPENED):
            answer = browser.request(verb, place(path, campaign))
            code = None if answer.status_code == 200 else answer.json()["code"]
            assert code == (None if (verb, path) in STORED else "too_many_open"), path
            lab.call(verb, place(path, campaign).removeprefix(API), expect=200)


def test_a_revoked_link_is_closed_at_once_and_so_is_one_that_expired(
    lab: Lab, campaign: str, visitor: TestClient
) -> None:
    first, second = share(lab, campaign), share(lab, campaign, expires_in_days=1)
    open_link(visitor, first)
    lab.call("DELETE", f"/campaigns/{campaign}/shares/{first['id']}", expect=204)
    refused = visitor.get(f"{API}/campaigns/{campaign}/report")
    assert (refused.status_code, refused.json()["code"]) == (401, "share_ended")
    open_link(visitor, second)
    lab.wait(24 * 3600 + 1)
    answers = [
        visitor.get(f"{API}/campaigns/{campaign}/report", cookies=cookies_for(second)),
        visitor.post(f"{API}/shares/open", json={"secret": secret_of(second)}),
        visitor.post(f"{API}/shares/open", json={"secret": secret_of(first)}),
        visitor.post(f"{API}/shares/open", json={"secret": "dlv_" + "a" * 43}),
        visitor.post(f"{API}/shares/open", json={"secret": "nothing of the kind"}),
    ]
    assert {(answer.status_code, answer.json()["message"]) for answer in answers} == {(401, refused.json()["message"])}


def test_a_campaign_that_is_deleted_takes_its_links_with_it(lab: Lab, campaign: str, visitor: TestClient) -> None:
    open_link(visitor, share(lab, campaign))
    lab.call("DELETE", f"/campaigns/{campaign}", expect=204)
    assert visitor.get(f"{API}/campaigns/{campaign}/report").status_code == 401
    with lab.units() as unit:
        assert unit.session.scalars(select(Share)).all() == []


def test_the_secret_is_in_the_fragment_and_nowhere_else(lab: Lab, campaign: str, visitor: TestClient) -> None:
    made = share(lab, campaign)
    before, sign, secret = made["link"].partition("#")
    assert (before.endswith("/shared"), sign, secret[:4], len(secret)) == (True, "#", "dlv_", 47)
    with structlog.testing.capture_logs() as logged:
        answer = visitor.post(f"{API}/shares/open", json={"secret": secret})
        visitor.get(f"{API}/campaigns/{campaign}/report")
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    assert secret not in answer.text
    assert secret not in json.dumps(logged, default=str)
    with lab.units() as unit:
        [row] = unit.session.scalars(select(Share))
        assert secret.encode() not in row.secret_hash
        assert len(row.secret_hash) == 32


def test_who_made_and_who_revoked_a_link_is_on_record(lab: Lab, campaign: str) -> None:
    made = share(lab, campaign)
    lab.call("DELETE", f"/campaigns/{campaign}/shares/{made['id']}", expect=204)
    with lab.units() as unit:
        rows = unit.session.scalars(select(Audit).where(Audit.subject_id == UUID(made["id"])).order_by(Audit.id)).all()
        assert [(row.action, row.actor_kind, row.actor) for row in rows] == [
            ("create_share", "token", "tests"),
            ("revoke_share", "token", "tests"),
        ]
        assert all(campaign in row.subject for row in rows)


def test_a_link_expires_as_one_of_the_list_says(lab: Lab, campaign: str) -> None:
    for days in get_args(ExpiryDays):
        made = share(lab, campaign, expires_in_days=days)
        assert moments_apart(made) == timedelta(days=days)
    for days in (0, 2, 365, 10_000, None):
        lab.call("POST", f"/campaigns/{campaign}/shares", {"name": "a", "expires_in_days": days}, expect=422)


def moments_apart(made: dict[str, Any]) -> timedelta:
    return datetime.fromisoformat(made["expires_at"]) - datetime.fromisoformat(made["created_at"])


def test_a_campaign_has_so_many_links_and_expired_ones_make_room(lab: Lab, campaign: str) -> None:
    for _ in range(MOST_SHARES):
        share(lab, campaign, expires_in_days=1)
    full = lab.call("POST", f"/campaigns/{campaign}/shares", {"name": "a"}, expect=409)
    assert full["code"] == "shares_full"
    lab.wait(24 * 3600 + 1)
    share(lab, campaign)
    assert lab.call("GET", f"/campaigns/{campaign}/shares")["total"] == 1


def test_another_campaigns_link_cannot_be_revoked_by_this_ones_address(lab: Lab, campaign: str, other: str) -> None:
    made = share(lab, campaign)
    lab.call("DELETE", f"/campaigns/{other}/shares/{made['id']}", expect=404)
    assert lab.call("GET", f"/campaigns/{campaign}/shares")["total"] == 1


def test_whoever_asks_too_often_waits_before_the_database_is_asked(
    lab: Lab, campaign: str, visitor: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = share(lab, campaign)
    monkeypatch.setattr(lab.app.state.gate, "_burst", 3)
    asked_rows: list[str] = []
    monkeypatch.setattr("downlink.actions.people.shares.rows.find_share", lambda *_: asked_rows.append("asked"))

    answers = [visitor.post(f"{API}/shares/open", json={"secret": secret_of(made)}) for _ in range(8)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert len(asked_rows) == len(answers) - len(refused)
    assert int(refused[0].headers["retry-after"]) >= 1


def test_a_session_that_has_ended_takes_nothing_away_from_a_link(lab: Lab, campaign: str) -> None:
    cookies = cookies_for(share(lab, campaign))
    cookies.set("downlink", "dls_" + "a" * 43)
    with TestClient(lab.app, cookies=cookies) as browser:
        assert browser.get(f"{API}/campaigns/{campaign}/report").status_code == 200
        assert browser.get(f"{API}/campaigns/{campaign}/runs").json()["code"] == "session_ended"


def test_the_command_line_makes_lists_and_revokes_links(
    lab: Lab, campaign: str, visitor: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Here:
        def items(self, path: str) -> Any:
            return lab.call("GET", path)["items"]

        def get(self, path: str) -> Any:
            return lab.call("GET", path)

        def post(self, path: str, body: Any) -> Any:
            return lab.call("POST", path, body)

        def delete(self, path: str) -> Any:
            return lab.call("DELETE", path, expect=204)

    monkeypatch.setattr(shares, "connect", Here)

    def run(*words: str) -> str:
        answer = CliRunner().invoke(app, ["campaigns", *words])
        assert answer.exit_code == 0, answer.output
        lines = answer.stdout.splitlines()  # the server is in this process, and says so when it is slow
        return "\n".join(line for line in lines if "[warning" not in line)

    link = run("share", campaign, "--for", "partners", "--days", "7").strip()
    open_link(visitor, {"link": link})
    [listed] = json.loads(run("shares", campaign, "--json"))
    assert (listed["name"], listed["opened"]) == ("partners", 1)
    assert "partners" in run("shares", campaign)
    run("unshare", campaign, listed["id"])
    assert visitor.get(f"{API}/campaigns/{campaign}/report").status_code == 401
    assert json.loads(run("shares", campaign, "--json")) == []
