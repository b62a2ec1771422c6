"""Passwords: how strong one must be, and the slow hash, of which only a few are computed at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import BoundedSemaphore

from pwdlib import PasswordHash

from downlink.actions.people.secrets import SESSION, make_secret
from downlink.domain.errors import InvalidError, UnavailableError

LEAST_SCORE = 3
"""zxcvbn: from 10^8 guesses on, beyond what a rate limit lets through in a lifetime."""
JUDGED_CHARS = 72
"""zxcvbn's time grows with the square of the length."""
HASHES_AT_A_TIME = 2
"""argon2 takes 64 MiB and a core for some tenths of a second."""
PATIENCE_S = 10.0
_slots = BoundedSemaphore(HASHES_AT_A_TIME)


def check_strength(password: str, username: str) -> None:
    """InvalidError, with the reason, for a password that is guessed early."""
    from zxcvbn import zxcvbn  # noqa: PLC0415  (its word lists take 10 MB and 0.2 s)

    if username.lower() in password.lower():
        raise InvalidError("password_weak", "The password contains the user name; choose one without it.")
    judged = zxcvbn(password[:JUDGED_CHARS], [username, "downlink"], max_length=JUDGED_CHARS)
    if judged["score"] < LEAST_SCORE:
        reason = judged["feedback"]["warning"] or "It is easy to guess."
        raise InvalidError("password_weak", f"This password is too weak. {reason} A few uncommon words do well.")


def hash_password(password: str) -> str:
    with _slot():
        return _hashing().hash(password)


def is_password(password: str, password_hash: str | None) -> bool:
    """Return whether it is the password that was hashed. Without a hash it takes the same time, and is never right."""
    with _slot():
        is_right = _hashing().verify(password, password_hash or _no_ones_hash())
    return is_right and password_hash is not None


@contextmanager
def _slot() -> Iterator[None]:
    if not _slots.acquire(timeout=PATIENCE_S):
        raise UnavailableError("sign_in_busy", "Too many sign-ins at once; try again in a few seconds.")
    try:
        yield
    finally:
        _slots.release()


@cache
def _hashing() -> PasswordHash:
    return PasswordHash.recommended()


@cache
def _no_ones_hash() -> str:
    return _hashing().hash(make_secret(SESSION))
