"""Sign-in through a real, certified provider: who is let in, as whom, and what is said to everybody else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr, ValidationError

from downlink.process.settings import Settings
from downlink.stack.process import Supervisor
from downlink.storage.unit import UnitFactory
from tests.api.test_access import PASSWORD, sign_up
from tests.api.test_accounts import browser
from tests.fixtures.lab import API, Lab
from tests.fixtures.oidc_provider import OidcProvider

pytestmark = pytest.mark.verify("packages")

ORIGIN = {"Origin": "http://testserver"}
ROLES = "groups=satlab->operator, groups=guests->viewer, groups=bosses->admin"


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OidcProvider]:
    with Supervisor(tmp_path_factory.mktemp("oidc")) as supervisor:
        running = OidcProvider(supervisor)
        running.start(f"http://testserver{API}/provider/callback")
        yield running


def settings_for(settings: Settings, issuer: str, **changes: Any) -> Settings:
    own = {
        "oidc_issuer": issuer,
        "oidc_client_id": "downlink",
        "oidc_client_secret": SecretStr("of-the-tests"),
        "oidc_domains": "lab.example",
        "oidc_roles": ROLES,
    }
    return settings.model_copy(update={**own, **changes})


@pytest.fixture
def institute(units: UnitFactory, settings: Settings, provider: OidcProvider) -> Iterator[Lab]:
    """A server of an institute; `anna` is its first admin."""
    with Lab(settings_for(settings, provider.issuer), units) as opened:
        sign_up(opened)
        opened.client.cookies.clear()
        yield opened


def start(visitor: TestClient) -> str:
    """Where the button leads."""
    answer = visitor.get(f"{API}/provider/start", follow_redirects=False)
    assert answer.status_code == 303
    return str(answer.headers["location"])


def come_back(visitor: TestClient, place: str) -> str:
    """Where the server sends the browser that the provider has sent back."""
    answer = visitor.get(place.removeprefix("http://testserver"), follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def enter(lab: Lab, provider: OidcProvider, name: str) -> tuple[TestClient, str]:
    """The whole way; the browser, and where it ended."""
    visitor = browser(lab)
    return visitor, come_back(visitor, provider.sign_in(start(visitor), name))


def test_a_member_signs_in_and_is_the_same_account_next_time(institute: Lab, provider: OidcProvider) -> None:
    assert institute.client.get(f"{API}/provider").json() == {"is_on": True, "name": "your institute"}
    visitor, place = enter(institute, provider, "ada")
    assert place == "/"
    session = visitor.get(f"{API}/session").json()
    assert (session["username"], session["role"], session["kind"]) == ("ada", "operator", "session")
    again, _ = enter(institute, provider, "ada")
    assert again.get(f"{API}/session").json()["account_id"] == session["account_id"]
    (joined,) = [each for each in institute.call("GET", "/audit")["items"] if each["action"] == "join"]
    assert joined["subject"] == f"ada as operator, by {provider.issuer}"
    login = {"username": "ada", "password": "anything at all"}
    assert institute.client.post(f"{API}/login", json=login, headers=ORIGIN).status_code == 401


def test_the_way_there_has_a_state_a_nonce_and_a_challenge_and_its_cookie_is_for_no_script(institute: Lab) -> None:
    visitor = browser(institute)
    answer = visitor.get(f"{API}/provider/start", follow_redirects=False)
    asked = parse_qs(urlsplit(answer.headers["location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["response_type"] == ["code"]
    assert all(len(asked[name][0]) >= 43 for name in ("state", "nonce", "code_challenge"))
    assert len({asked[name][0] for name in ("state", "nonce", "code_challenge")}) == 3
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie


@pytest.mark.parametrize(
    ("name", "refusal"),
    [("eve", "provider_not_admitted"), ("rob", "provider_not_admitted"), ("amy", "provider_name_taken")],
)
def test_an_unverified_address_another_domain_and_a_taken_name_let_nobody_in(
    institute: Lab, provider: OidcProvider, name: str, refusal: str
) -> None:
    """amy has the name and the address of the admin anna: neither gives her that account."""
    visitor, place = enter(institute, provider, name)
    assert place == f"/login#refused={refusal}"
    assert visitor.get(f"{API}/session").status_code == 401


def test_claims_give_no_more_than_the_server_allows_and_a_role_follows_them(
    institute: Lab, provider: OidcProvider, units: UnitFactory, settings: Settings
) -> None:
    institute.call("PATCH", f"/accounts/{_account(institute, 'anna')}", {"role": "admin"})
    visitor, _ = enter(institute, provider, "ada")
    assert visitor.get(f"{API}/session").json()["role"] == "operator"
    stricter = settings_for(settings, provider.issuer, oidc_roles="groups=satlab->admin", oidc_most_role="viewer")
    with Lab(stricter, units) as later:
        visitor, _ = enter(later, provider, "ada")
        assert visitor.get(f"{API}/session").json()["role"] == "viewer"


def _account(lab: Lab, name: str) -> str:
    return next(str(each["id"]) for each in lab.call("GET", "/accounts")["items"] if each["username"] == name)


def test_an_account_is_connected_by_who_is_signed_in_to_it_and_keeps_its_role(
    institute: Lab, provider: OidcProvider
) -> None:
    anna = browser(institute)
    signed = anna.post(f"{API}/login", json={"username": "anna", "password": PASSWORD}, headers=ORIGIN)
    assert signed.status_code == 200
    way = anna.post(f"{API}/provider/connection", json={"password": PASSWORD}, headers=ORIGIN).json()["url"]
    assert come_back(anna, provider.sign_in(way, "gus")) == "/tokens"
    connected = anna.get(f"{API}/provider/connection").json()
    assert (connected["is_connected"], connected["has_password"]) == (True, True)
    assert [(each["issuer"], each["subject"]) for each in connected["identities"]] == [(provider.issuer, "gus")]
    visitor, _ = enter(institute, provider, "gus")
    session = visitor.get(f"{API}/session").json()
    assert (session["username"], session["role"]) == ("anna", "admin")
    assert anna.delete(f"{API}/provider/connection", headers=ORIGIN).status_code == 204
    visitor, _ = enter(institute, provider, "gus")
    assert visitor.get(f"{API}/session").json()["username"] == "gus"
    assert visitor.delete(f"{API}/provider/connection", headers=ORIGIN).json()["code"] == "no_password"


def test_a_state_works_once_in_its_own_browser_for_ten_minutes(institute: Lab, provider: OidcProvider) -> None:
    wrong = "/login#refused=provider_state_wrong"
    visitor = browser(institute)
    place = provider.sign_in(start(visitor), "ada")
    assert come_back(browser(institute), place) == wrong, "another browser"
    assert come_back(visitor, place) == wrong, "it was used"
    place = provider.sign_in(start(visitor), "ada")
    assert come_back(visitor, place.replace("state=", "state=x")) == wrong
    place = provider.sign_in(start(visitor), "ada")
    institute.wait(601)
    assert come_back(visitor, place) == wrong
    assert visitor.get(f"{API}/session").status_code == 401


def test_a_replayed_code_is_refused_by_the_provider(institute: Lab, provider: OidcProvider) -> None:
    visitor = browser(institute)
    first = provider.sign_in(start(visitor), "ada")
    assert come_back(visitor, first) == "/"
    code = parse_qs(urlsplit(first).query)["code"][0]
    thief = browser(institute)
    state = parse_qs(urlsplit(start(thief)).query)["state"][0]
    replayed = f"{API}/provider/callback?code={code}&state={state}"
    assert come_back(thief, replayed) == "/login#refused=provider_refused"


def test_a_token_that_has_expired_is_refused(institute: Lab, provider: OidcProvider) -> None:
    visitor = browser(institute)
    place = provider.sign_in(start(visitor), "ada")
    institute.wait(300)
    assert come_back(visitor, place) == "/login#refused=provider_token_invalid"


def test_who_turns_back_at_the_provider_is_told_so(institute: Lab) -> None:
    visitor = browser(institute)
    state = parse_qs(urlsplit(start(visitor)).query)["state"][0]
    place = f"{API}/provider/callback?error=access_denied&state={state}"
    assert come_back(visitor, place) == "/login#refused=provider_cancelled"


def test_another_issuer_and_a_provider_that_is_away_have_names_of_their_own(
    units: UnitFactory, settings: Settings, provider: OidcProvider
) -> None:
    other_name = provider.issuer.replace("127.0.0.1", "localhost")
    with Lab(settings_for(settings, other_name), units) as lab:
        assert start(browser(lab)) == "/login#refused=provider_unfit"
    with Lab(settings_for(settings, "http://127.0.0.1:1"), units) as lab:
        assert start(browser(lab)) == "/login#refused=provider_away"


def test_it_is_off_unless_it_is_set(lab: Lab) -> None:
    assert lab.client.get(f"{API}/provider").json() == {"is_on": False, "name": None}
    answer = lab.client.get(f"{API}/provider/start", follow_redirects=False)
    assert (answer.status_code, answer.json()["code"]) == (404, "provider_off")


def test_no_secret_of_the_client_is_shown(settings: Settings, provider: OidcProvider) -> None:
    own = settings_for(settings, provider.issuer)
    assert "of-the-tests" not in repr(own)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"oidc_issuer": "http://idp.example"}, "must begin with https"),
        ({"oidc_issuer": "https://idp.example"}, "set DOWNLINK_OIDC_CLIENT_ID"),
        (
            {"oidc_issuer": "https://a", "oidc_client_id": "a", "oidc_client_secret": "b", "oidc_roles": "staff"},
            "claim=value->role",
        ),
    ],
)
def test_settings_that_cannot_work_are_named(changes: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        Settings(**changes)


def test_the_provider_publishes_what_a_client_needs(provider: OidcProvider) -> None:
    said = httpx.get(f"{provider.issuer}/.well-known/openid-configuration", trust_env=False).json()
    assert said["issuer"] == provider.issuer
    assert Path(urlsplit(said["jwks_uri"]).path).name == "jwks"
