"""Secrets: how they look and how they are kept."""

from __future__ import annotations

import hashlib
import secrets

SESSION, API_TOKEN, ENROLMENT, AGENT, SETUP, TICKET = "dls_", "dlk_", "dle_", "dla_", "dlu_", "dlt_"
PREFIX_SHOWN = 10


def make_secret(prefix: str) -> str:
    """A prefix that secret scanners can know, and 256 random bits."""
    return prefix + secrets.token_urlsafe(32)


def hash_secret(secret: str) -> bytes:
    """SHA-256: with 256 bits of entropy a slow hash would add nothing."""
    return hashlib.sha256(secret.encode()).digest()
