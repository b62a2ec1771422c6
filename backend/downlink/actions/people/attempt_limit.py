"""Tries at secrets are counted before they are judged, so that a thousand at once are no more than one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta

from downlink.domain.errors import DeniedError
from downlink.storage.people import access_store
from downlink.storage.unit import UnitFactory, lock

WINDOW = timedelta(minutes=15)


@contextmanager
def counted(units: UnitFactory, allowed: Mapping[str, int | None], now: datetime) -> Iterator[None]:
    """Refuse more failures per key than allowed within a quarter of an hour; None only counts. What ends well does not count.

    The try is on record before anything slow begins. Whatever is not a refusal (DeniedError) takes it off again.
    """
    with units() as unit:
        for key in sorted(allowed):  # numbers must rise in the order of the commits
            lock(unit, f"tries:{key}")
        tries = access_store.add_tries(unit, list(allowed), now, WINDOW)
    with units() as unit:
        is_over = any(
            access_store.count_tries(unit, key, now - WINDOW, tries[key]) > most
            for key, most in allowed.items()
            if most is not None
        )
    if is_over:
        _take_off(units, tries)
        raise DeniedError(
            "too_many_tries",
            "Too many failed tries; wait a quarter of an hour.",
            {"retry_after_s": round(WINDOW.total_seconds())},
        )
    try:
        yield
    except DeniedError:
        raise
    except BaseException:
        _take_off(units, tries)
        raise
    _take_off(units, tries)


def _take_off(units: UnitFactory, tries: Mapping[str, int]) -> None:
    with units() as unit:
        access_store.delete_tries(unit, list(tries.values()))
