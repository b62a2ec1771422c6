"""A campaign's archive with something wrong in it enters the database as it is shown, or is refused in a sentence and leaves nothing.

Mutants of the zip itself; of a member, under a manifest that fits; and of one value inside a member of JSON.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pytest
from hypothesis import strategies as st
from sqlalchemy import text

from downlink.actions.campaigns.archive_read import load_archive
from downlink.storage.unit import UnitFactory
from tests.actions.test_archive import archive_of
from tests.fixtures.lab import Lab
from tests.fuzz.decoders import Decoder
from tests.fuzz.mutating import edited, edits
from tests.fuzz.test_decoders import EXAMPLES, FUZZ_S, fuzz

MEMBERS = ("rows.json", "chunks.json", "manifest.json")
pytestmark = [pytest.mark.sampled("faults", one_of=1), pytest.mark.timeout(180 + 4 * FUZZ_S)]


class UndoneError(Exception):
    """What was loaded goes again."""


@dataclass(frozen=True)
class Loader:
    units: UnitFactory

    def __call__(self, content: bytes) -> None:
        try:
            with self.units() as unit:
                load_archive(unit, content)
                raise UndoneError
        except UndoneError:
            pass

    def is_empty(self) -> bool:
        with self.units() as unit:
            return not unit.session.scalar(text("SELECT count(*) FROM campaigns"))


def packed(members: dict[str, bytes]) -> bytes:
    """With a manifest that has the digests of what is there, where it is a manifest at all."""
    try:
        manifest = json.loads(members["manifest.json"])
        manifest["sha256"] = {
            name: hashlib.sha256(content).hexdigest() for name, content in members.items() if name != "manifest.json"
        }
        members = {**members, "manifest.json": json.dumps(manifest).encode()}
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2**63, -(2**63) - 1, 10**400, 0.5, 1e308, "", "x", "\0", "\ud800", "é\u202e", "9" * 5_000, [], {}, [[]], {"a": None},
    "2026-01-01T00:00:00", "0001-01-01T00:00:00+23:59", "00000000-0000-0000-0000-000000000000",
)  # fmt: skip


def _places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(place for key, each in inner for place in _places(each, (*here, key)))]


def _changed(value: Any, place: tuple[Any, ...], odd: Any) -> Any:
    """A copy with another value at a place; without it where that is `...`."""
    if not place:
        return odd
    first, *rest = place
    copy = value.copy()
    if not rest and odd is ...:
        del copy[first]
    else:
        copy[first] = _changed(copy[first], tuple(rest), odd)
    return copy


def mutants(members: dict[str, bytes]) -> st.SearchStrategy[bytes]:
    texts = {name: json.loads(members[name]) for name in MEMBERS}
    places = [(name, place) for name, text in texts.items() for place in _places(text) if place]
    whole = packed(members)

    def of_value(drawn: tuple[tuple[str, tuple[Any, ...]], Any]) -> bytes:
        (name, place), odd = drawn
        return packed({**members, name: json.dumps(_changed(texts[name], place, odd)).encode()})

    def of_member(drawn: tuple[str, list[Any]]) -> bytes:
        name, changes = drawn
        return packed({**members, name: reduce(edited, changes, members[name])})

    some_edits = st.lists(edits, min_size=1, max_size=3)
    return st.one_of(
        st.tuples(st.sampled_from(places), st.sampled_from((*ODD_VALUES, ...))).map(of_value),
        st.tuples(st.sampled_from(sorted(members)), some_edits).map(of_member),
        some_edits.map(lambda changes: reduce(edited, changes, whole)),
    )


def test_an_archive_is_loaded_or_refused(lab: Lab, units: UnitFactory) -> None:
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    campaign = lab.launch()
    lab.drive(campaign, agents)
    content = archive_of(lab, campaign)
    lab.call("DELETE", f"/campaigns/{campaign}")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    load = Loader(units)
    load(packed(members))
    fuzz(Decoder("archives", [content], load), mutants(members), EXAMPLES // 6)  # each one goes into the database
    assert load.is_empty()
