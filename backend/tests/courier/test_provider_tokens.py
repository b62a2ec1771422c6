"""A provider's token is believed when all of it is right, and not otherwise."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey

from downlink.courier.provider import LEEWAY_S, Client, Provider, _Known, read_answer
from downlink.domain.errors import DeniedError, UnavailableError
from tests.fixtures.receivers import Answer, WebReceiver

ISSUER, NOW_S = "https://idp.example", 1_800_000_000
KEY = RSAKey.generate_key(2048, {"kid": "k", "use": "sig"})
GOOD: dict[str, Any] = {"iss": ISSUER, "aud": "us", "sub": "ada", "nonce": "n", "iat": NOW_S, "exp": NOW_S + 60}


def checked(claims: dict[str, Any], header: dict[str, str] | None = None, key: Any = KEY, nonce: str = "n") -> Any:
    provider = Provider(Client(ISSUER, "us", "secret", "https://us.example/back", "openid"), lambda: 0.0)
    provider._known = _Known({}, KeySet([RSAKey.import_key(KEY.as_dict(private=False))]), 0.0)
    token = jwt.encode(header or {"alg": "RS256", "kid": "k"}, claims, key, algorithms=["RS256", "HS256", "none"])
    return provider._checked(token, nonce, NOW_S)


def test_a_right_token_is_believed() -> None:
    assert checked(GOOD)["sub"] == "ada"


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://other.example"},
        {"aud": "somebody else"},
        {"aud": ["us", "somebody else"], "azp": "somebody else"},
        {"nonce": "another"},
        {"exp": NOW_S - LEEWAY_S - 1},
        {"iat": NOW_S + 3600},
        {"sub": None},
        {"nonce": None},
        {"exp": None},
    ],
)
def test_one_wrong_claim_is_enough_to_refuse(changes: dict[str, Any]) -> None:
    claims = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    with pytest.raises(DeniedError) as caught:
        checked(claims)
    assert caught.value.code == "provider_token_invalid"


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ({"alg": "RS256", "kid": "k"}, RSAKey.generate_key(2048)),
        ({"alg": "HS256", "kid": "k"}, OctKey.import_key("secret-secret-secret-secret-secret")),
        ({"alg": "none"}, None),
    ],
)
def test_another_key_the_clients_secret_and_no_signature_are_refused(header: dict[str, str], key: Any) -> None:
    with pytest.raises((DeniedError, ValueError)) as caught:
        checked(GOOD, header, key)
    assert isinstance(caught.value, DeniedError) or header["alg"] == "none"


def test_a_provider_that_drips_holds_no_sign_in_longer_than_any_other() -> None:
    """Each byte comes long before a read would have waited for too long, and all of them never."""
    with WebReceiver([Answer(stalls="drip")]) as receiver:
        provider = Provider(Client(receiver.url(), "us", "secret", "https://us.example/back", "openid"), longest_s=0.3)
        with pytest.raises(UnavailableError) as caught:
            provider.sign_in_url("state", "nonce", "verifier")
    assert (caught.value.code, "does not answer; try again" in str(caught.value)) == ("provider_away", True)
    assert isinstance(caught.value.__cause__, TimeoutError | httpx.TimeoutException)


def test_a_sign_in_does_not_wait_for_ever_for_another_ones_call() -> None:
    provider = Provider(Client(ISSUER, "us", "secret", "https://us.example/back", "openid"), longest_s=0.01)
    with provider._lock, pytest.raises(UnavailableError) as caught:
        provider.sign_in_url("state", "nonce", "verifier")
    assert caught.value.code == "provider_away"


def test_an_answer_that_is_nested_without_end_is_none() -> None:
    with pytest.raises(UnavailableError, match="does not answer as it should"):
        read_answer(200, b"[" * 200_000)
