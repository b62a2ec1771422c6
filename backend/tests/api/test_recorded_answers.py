"""The dashboard's tests use what this server says: one answer per question that pages ask, recorded in tests/answers.

RECORD_ANSWERS=1 writes them again; a recording that has changed is a change of what pages get, to be read before it is committed.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from downlink.process.settings import Settings
from downlink.storage.unit import UnitFactory
from tests.fixtures.story import StillLab, tell

FOLDER = Path(__file__).parents[1] / "answers"
AGAIN = "record it again: RECORD_ANSWERS=1 .venv/bin/python -m pytest backend/tests/api/test_recorded_answers.py"


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its place."""
    if isinstance(value, dict | list):
        yield place, len(value)
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, f"{place}.{name}")
    else:
        yield place, value


def is_same(one: Any, other: Any) -> bool:
    """Numbers may differ in their last digits from one processor to another."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    return type(one) is type(other) and bool(one == other)


@pytest.mark.timeout(600)  # a campaign after the other, a tick every four seconds of theirs
def test_every_recorded_answer_is_what_the_server_says(settings: Settings, units: UnitFactory) -> None:
    with StillLab(settings, units) as lab:
        told = tell(lab).text()
    if os.environ.get("RECORD_ANSWERS"):
        for file in FOLDER.glob("*.json"):
            file.unlink()
        for name, text in told.items():
            (FOLDER / f"{name}.json").write_text(text)
    assert {file.stem for file in FOLDER.glob("*.json")} == set(told), AGAIN
    for name, text in told.items():
        recorded = dict(leaves(json.loads((FOLDER / f"{name}.json").read_text())))
        now = dict(leaves(json.loads(text)))
        stale = {place for place in recorded.keys() | now.keys() if not is_same(recorded.get(place), now.get(place))}
        assert not stale, f"{name}.json is stale at {sorted(stale)[:5]}; {AGAIN}"
