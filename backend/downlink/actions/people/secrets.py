"""Secrets: how they look and how they are kept."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

SESSION, API_TOKEN, ENROLMENT, AGENT, SETUP, TICKET = "dls_", "dlk_", "dle_", "dla_", "dlu_", "dlt_"
TRIGGER = "dlc_"
"""Prefix of a campaign's secret, which signs the calls that start its runs."""
SHARE = "dlv_"
"""Prefix of the secret of a visitor's link."""
INVITATION = "dli_"
VISIT = "dlo_"
"""Prefix of the secret of a browser on its way to the identity provider."""
PREFIX_SHOWN = 10


def make_secret(prefix: str) -> str:
    """A prefix that secret scanners can know, and 256 random bits."""
    return prefix + secrets.token_urlsafe(32)


def is_secret(prefix: str, text: str | None) -> bool:
    """Return whether make_secret could have made this text."""
    return text is not None and re.fullmatch(prefix + r"[A-Za-z0-9_-]{43}", text) is not None


def hash_secret(secret: str) -> bytes:
    """SHA-256: with 256 bits of entropy a slow hash would add nothing."""
    return hashlib.sha256(secret.encode()).digest()


def make_hop_secret() -> str:
    """Return the secret of one attempt at a run over relays, from which the keys of its hops are derived."""
    return secrets.token_hex(32)


def hop_key(secret: str, hop: int) -> str:
    """16 bytes in hexadecimal. Who has the key of one hop learns nothing of another's."""
    return _derived(secret, f"hop {hop}")[:32]


def content_seed(secret: str, flow: int) -> str:
    """Return the seed of an INTCP flow's bytes: 8 bytes in hexadecimal."""
    return _derived(secret, f"content {flow}")[:16]


def _derived(secret: str, purpose: str) -> str:
    return hmac.new(bytes.fromhex(secret), purpose.encode(), hashlib.sha256).hexdigest()
