"""Calls to the identity provider that the server's admin has named: its metadata, its keys, a code for a token."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from types import MappingProxyType
from typing import Any

import httpx
import structlog
from authlib.common.errors import AuthlibBaseError
from authlib.common.urls import add_params_to_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from downlink.courier.deadline import within
from downlink.domain.errors import DeniedError, UnavailableError

LONGEST_S = 10.0
"""Time of one call, from the look at the name to the end of the answer; also of the wait for a call that another
sign-in has begun."""
MOST_BYTES = 2**20
KEEP_S = 3600.0
LEAST_KEEP_S = 60.0
"""An unknown key has the keys read again, but not more often than this."""
LEEWAY_S = 60
ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
"""Never `none`, and none that is made with the client's secret."""
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Client:
    """The registration of this server at the provider."""

    issuer: str
    id: str
    secret: str = field(repr=False)
    redirect_uri: str
    scopes: str


@dataclass
class _Known:
    metadata: Mapping[str, Any]
    keys: KeySet
    read_at: float


class Provider:
    """Its metadata and keys are read when they are first needed, and kept for an hour. Safe to use from several threads."""

    def __init__(
        self, client: Client, clock: Callable[[], float] = time.monotonic, longest_s: float = LONGEST_S
    ) -> None:
        self.client = client
        self._clock = clock
        self._longest_s = longest_s
        self._lock = Lock()
        self._known: _Known | None = None

    def sign_in_url(self, state: str, nonce: str, verifier: str) -> str:
        """Return the address to which the browser goes. Raise UnavailableError if the provider does not answer."""
        asked = {
            "response_type": "code",
            "client_id": self.client.id,
            "redirect_uri": self.client.redirect_uri,
            "scope": self.client.scopes,
            "state": state,
            "nonce": nonce,
            "code_challenge": create_s256_code_challenge(verifier),
            "code_challenge_method": "S256",
        }
        url: str = add_params_to_uri(self._find().metadata["authorization_endpoint"], list(asked.items()))
        return url

    def claims_for(self, code: str, nonce: str, verifier: str, now_s: int) -> Mapping[str, Any]:
        """Return the provider's claims about the person who has this code. Raise DeniedError if the provider or its token is not to
        be trusted."""
        known = self._find()
        body = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.client.redirect_uri,
            "code_verifier": verifier,
        }
        auth = (self.client.id, self.client.secret)
        answer = self._fetch("POST", known.metadata["token_endpoint"], data=body, auth=auth)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise DeniedError("provider_refused", "The identity provider gave no proof of who you are; sign in again.")
        claims = self._checked(token, nonce, now_s)
        return {**self._said_besides(known.metadata, answer.get("access_token"), claims["sub"]), **claims}

    def _checked(self, token: str, nonce: str, now_s: int) -> Mapping[str, Any]:
        options = {
            "iss": {"essential": True, "value": self.client.issuer},
            "aud": {"essential": True, "value": self.client.id},
            "nonce": {"essential": True, "value": nonce},
            "sub": {"essential": True},
        }
        decoded = self._decode(token)
        try:
            claims = CodeIDToken(decoded.claims, decoded.header, options, {"client_id": self.client.id, "nonce": nonce})
            claims.validate(now=now_s, leeway=LEEWAY_S)
        except (AuthlibBaseError, JoseError, ValueError, KeyError, TypeError) as error:
            raise _untrusted(error) from error
        return dict(decoded.claims)

    def _decode(self, token: str) -> jwt.Token:
        """Decode a token with the known keys, or with the current ones if it was made with another."""
        try:
            return jwt.decode(token, self._find().keys, algorithms=ALGORITHMS)
        except (JoseError, ValueError):
            try:
                return jwt.decode(token, self._find(is_renewed=True).keys, algorithms=ALGORITHMS)
            except (JoseError, ValueError) as error:
                raise _untrusted(error) from error

    def _find(self, *, is_renewed: bool = False) -> _Known:
        if not self._lock.acquire(timeout=self._longest_s):
            raise _away("another sign-in waits for it")
        try:
            keep_s = LEAST_KEEP_S if is_renewed else KEEP_S
            if self._known is None or self._clock() - self._known.read_at > keep_s:
                self._known = self._read()
            return self._known
        finally:
            self._lock.release()

    def _read(self) -> _Known:
        metadata = self._fetch("GET", self.client.issuer.rstrip("/") + "/.well-known/openid-configuration")
        if metadata.get("issuer") != self.client.issuer:
            log.error("provider_issuer_differs", asked=self.client.issuer, said=str(metadata.get("issuer"))[:200])
            message = (
                "The identity provider calls itself by another name than DOWNLINK_OIDC_ISSUER; tell the server's admin."
            )
            raise UnavailableError("provider_unfit", message)
        scheme = self.client.issuer.partition(":")[0]
        if not all(str(metadata.get(name, "")).startswith(f"{scheme}://") for name in ENDPOINTS):
            raise UnavailableError(
                "provider_unfit", "The identity provider's metadata is not complete; tell the server's admin."
            )
        try:
            keys = KeySet.import_key_set(self._fetch("GET", metadata["jwks_uri"]))  # type: ignore[arg-type]
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise UnavailableError(
                "provider_unfit", "The identity provider's keys cannot be read; tell the server's admin."
            ) from error
        return _Known(metadata, keys, self._clock())

    def _said_besides(self, metadata: Mapping[str, Any], token: Any, subject: Any) -> Mapping[str, Any]:
        """Many providers say groups and addresses at their userinfo endpoint alone. Of another subject nothing is believed."""
        url = metadata.get("userinfo_endpoint")
        if not isinstance(url, str) or not isinstance(token, str):
            return {}
        answer = self._fetch("GET", url, headers={"Authorization": f"Bearer {token}"})
        return answer if answer.get("sub") == subject else {}

    def _fetch(
        self, method: str, url: str, headers: Mapping[str, str] = MappingProxyType({}), **options: Any
    ) -> dict[str, Any]:
        """A JSON object, bounded in time and size; no redirect is followed."""
        asked = {"headers": {"Accept": "application/json", **headers}, **options}
        try:
            # The outer bound is for the resolver, which cannot be interrupted.
            status, body = within(self._longest_s, lambda: asyncio.run(_ask(self._longest_s, method, url, asked)))
        except (TimeoutError, httpx.HTTPError, httpx.InvalidURL) as error:
            raise _away(type(error).__name__) from error
        return read_answer(status, body)


def _untrusted(error: Exception) -> DeniedError:
    """Log the fault, without the token; return the error for the caller."""
    log.warning("provider_token_refused", reason=type(error).__name__, detail=str(error)[:200])
    message = "The identity provider's proof of who you are is not valid here, or no longer; sign in again."
    return DeniedError("provider_token_invalid", message)


def _away(reason: str) -> UnavailableError:
    log.warning("provider_away", reason=reason)
    message = "The identity provider does not answer; try again in some minutes, or sign in with a password."
    return UnavailableError("provider_away", message)


async def _ask(longest_s: float, method: str, url: str, asked: Mapping[str, Any]) -> tuple[int, bytes]:
    """Status and body. The timeout of the client is for each read alone."""
    async with (
        asyncio.timeout(longest_s),
        httpx.AsyncClient(timeout=longest_s, trust_env=False, follow_redirects=False) as client,
        client.stream(method, url, **asked) as answer,
    ):
        return answer.status_code, await _bounded(answer)


async def _bounded(answer: httpx.Response) -> bytes:
    body = b""
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > MOST_BYTES:
            raise UnavailableError(
                "provider_unfit", "The identity provider answers at too great a length; tell the server's admin."
            )
    return body


def read_answer(status: int, body: bytes) -> dict[str, Any]:
    """A JSON object. DeniedError for a refusal; UnavailableError for anything else."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if 400 <= status < 500 and isinstance(answer, dict) and "error" in answer:
        log.warning("provider_refused", error=str(answer["error"])[:100])
        message = "The identity provider refused this sign-in: its code was used or has expired. Sign in again."
        raise DeniedError("provider_refused", message)
    if status != 200 or not isinstance(answer, dict):
        log.warning("provider_unfit", status=status)
        raise UnavailableError(
            "provider_away", "The identity provider does not answer as it should; try again in some minutes."
        )
    return answer
