"""Sealed chunks share files: the samples stay what they were, every repeat is known, and late chunks find their place."""

from __future__ import annotations

import hashlib
import io
import json
import random
import zipfile
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from downlink.actions.campaigns.archive_read import load_archive
from downlink.actions.traces import seal
from downlink.actions.traces.seal import PART_BYTES, PART_CHUNKS, Piece, parts
from downlink.codec.chunk import Columns, decode_chunk
from downlink.codec.parquet import columns_to_parquet, joined, row_batches, trace_columns
from downlink.domain.errors import InvalidError
from downlink.process.settings import Settings
from downlink.storage.traces import trace_store
from downlink.storage.unit import UnitFactory
from tests.actions.test_archive import archive_of, everything
from tests.actions.test_chunks import Content, problem
from tests.actions.test_faults import ONE, pair, until
from tests.actions.test_trace_store import clear, count, finish, wait_an_hour
from tests.fixtures.lab import Lab
from tests.fixtures.s3_server import S3Server
from tests.fixtures.scripted_agent import ScriptedAgent, make_chunk

pytestmark = pytest.mark.sampled("faults")

LONG = {**ONE, "stop": {"seconds": 100}}
"""51 chunks at each end: parts of 16, 16, 16 and 3."""
PLACES = ("sender", "receiver")


@pytest.fixture(params=["database", pytest.param("s3", marks=pytest.mark.verify("packages"))])
def any_lab(request: pytest.FixtureRequest, units: UnitFactory, settings: Settings) -> Iterator[Lab]:
    """A server with either place for sealed traces."""
    where = request.getfixturevalue("s3").settings(settings) if request.param == "s3" else settings
    with Lab(where, units) as opened:
        yield opened


def sealed(lab: Lab, run: str, point: str) -> list[bytes]:
    with lab.app.state.units(is_read_only=True) as unit:
        return list(trace_store.sealed_parts(unit, UUID(run), 1, point))


def sent(content: Content, point: str) -> Columns:
    """What was measured at a point, of those chunks."""
    return joined([decode_chunk(body)[1] for place, body in sorted(content.items()) if place[1] == point])


def same(one: Columns, other: Columns) -> bool:
    return list(one) == list(other) and all(np.array_equal(one[name], other[name]) for name in one)


def seal_again(lab: Lab, run: str) -> None:
    """As the job does when the run wants it."""
    with lab.units() as unit:
        unit.session.execute(text("UPDATE runs SET needs = 'seal'"))
    with lab.app.state.units() as unit:
        seal.seal(unit, UUID(run), lab.now())


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, PART_BYTES)), max_size=60), st.booleans())
def test_parts_hold_all_pieces_in_their_order_and_never_reach_over_a_gap(
    steps: list[tuple[int, int]], are_small: bool
) -> None:
    sequence, pieces = -1, []
    for step, size in steps:
        sequence += step if size % 3 == 0 else 1
        pieces.append(Piece(sequence, size // 1_000 if are_small else size, {}))
    found = list(parts(pieces))
    assert [piece for part in found for piece in part] == pieces
    for part in found:
        numbers = [piece.sequence for piece in part]
        assert numbers == list(range(numbers[0], numbers[0] + len(part)))
        assert len(part) <= PART_CHUNKS
        assert len(part) == 1 or sum(piece.size for piece in part) <= PART_BYTES
    for part, following in pairwise(found):
        size = sum(piece.size for piece in part) + following[0].size
        is_full = len(part) == PART_CHUNKS or size > PART_BYTES
        assert is_full or following[0].sequence > part[-1].sequence + 1, "no part ends before it must"


@pytest.mark.parametrize("seed", range(3))
def test_chunks_that_come_in_any_order_and_late_become_the_samples_that_were_sent(any_lab: Lab, seed: int) -> None:
    """Sealed after each of some deliveries, as late chunks are."""
    chance = random.Random(seed)
    client, server = pair(any_lab)
    run = until(any_lab, any_lab.launch(**LONG), [client, server], "uploading")["id"]
    content = server.spool[run, 1]
    left = sorted(content)
    chance.shuffle(left)
    delivered: Content = {}
    while left:
        now, left = left[: (many := chance.randint(1, 40))], left[many:]
        for place in now:
            assert server.put(run, 1, place, content[place]).json() == {"stored": True}
            delivered[place] = content[place]
        before = sealed(any_lab, run, "sender") if len(delivered) > len(now) else []
        seal_again(any_lab, run)
        found = sealed(any_lab, run, "sender")
        assert same(trace_columns(found), sent(delivered, "sender"))
        assert set(before) <= set(found), "what was sealed before stays as it was, byte for byte"
        for place in chance.choices(sorted(delivered), k=5):
            assert server.put(run, 1, place, content[place]).json() == {"stored": False}
            other = make_chunk(run, 1, *place, range(5))
            assert problem(server.put(run, 1, place, other)) == (409, "chunk_differs")
    assert count(any_lab, "chunks WHERE packed IS NOT NULL") == 0
    with any_lab.units() as unit:
        trace = trace_store.find_trace(unit, UUID(run), 1, "sender")
        assert trace is not None
        assert (trace.samples, trace.chunks, trace.missing) == (10_001, 51, [])


def test_a_long_trace_becomes_few_files_and_every_export_has_all_of_it(any_lab: Lab) -> None:
    client, server = pair(any_lab)
    campaign = any_lab.launch(**LONG)
    run = until(any_lab, campaign, [client, server], "uploading")["id"]
    content = {**client.spool[run, 1], **server.spool[run, 1]}
    any_lab.drive(campaign, [client, server])
    for point in PLACES:
        assert [len(trace_columns([part])["elapsed_us"]) for part in sealed(any_lab, run, point)] == [3_200] * 3 + [401]
        whole = sent(content, point)
        packed = any_lab.client.get(
            f"/api/v1/runs/{run}/traces/1/{point}.parquet", headers={"Authorization": f"Bearer {any_lab.token}"}
        ).content
        assert same(trace_columns([packed]), whole)
        lines = any_lab.call("GET", f"/runs/{run}/traces/1/{point}.csv").splitlines()
        assert lines[0] == ",".join(whole)
        assert np.array_equal(np.loadtxt(lines[1:], np.int64, delimiter=","), np.stack(list(whole.values()), axis=1))
        shown = any_lab.call("GET", f"/runs/{run}")["flows"][0]["traces"][point]
        assert (shown["state"], shown["samples"], shown["chunks"]) == ("sealed", 10_001, 51)
    assert count(any_lab, "chunks WHERE joined_to IS NULL") == 8


class Killed(BaseException):
    pass


@pytest.mark.parametrize("survived", [0, 1, 5])
def test_a_seal_that_is_killed_within_loses_nothing(
    any_lab: Lab, survived: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After so many parts; an S3 store has their objects by then."""
    client, server = pair(any_lab)
    campaign = any_lab.launch(**LONG)
    run = until(any_lab, campaign, [client, server], "uploading")["id"]
    content = {**client.spool[run, 1], **server.spool[run, 1]}
    for agent in (client, server):
        agent.act()
    seal_part, done = trace_store.seal_part, []

    def dying(*args: Any) -> None:
        if len(done) == survived:
            raise Killed
        seal_part(*args)
        done.append(args)

    with monkeypatch.context() as patched:
        patched.setattr(trace_store, "seal_part", dying)
        with pytest.raises(Killed):
            finish(any_lab, [client, server])
    assert count(any_lab, "chunks WHERE packed IS NOT NULL") == len(content) == 102, "as if it had never begun"
    finish(any_lab, [client, server])
    assert any_lab.runs(campaign)[0]["state"] == "complete"
    for point in PLACES:
        assert same(trace_columns(sealed(any_lab, run, point)), sent(content, point))


def seal_and_end(lab: Lab, run: str) -> None:
    """All objects are written, and the transaction whose rows would name them never ends."""
    with lab.app.state.units() as unit:
        unit.session.execute(text("UPDATE runs SET needs = 'seal'"))
        seal.seal(unit, UUID(run), lab.now())
        unit.folder.finish()
        raise Killed


def test_objects_of_a_killed_seal_are_removed_later(s3: S3Server, units: UnitFactory, settings: Settings) -> None:
    with Lab(s3.settings(settings), units) as lab:
        client, server = pair(lab)
        campaign = lab.launch(**LONG)
        until(lab, campaign, [client, server], "uploading")
        for agent in (client, server):
            agent.act()
        with pytest.raises(Killed):
            seal_and_end(lab, lab.runs(campaign)[0]["id"])
        assert len(s3.objects()) == 8, "written, and named by nobody"
        finish(lab, [client, server])
        assert len(s3.objects()) == 16
        wait_an_hour(lab)
        clear(lab)
        assert len(s3.objects()) == 8
        assert lab.runs(campaign)[0]["state"] == "complete"


def split(packed: bytes) -> bytes:
    """The archive as versions before wrote it: a file for each chunk."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    places = json.loads(members["chunks.json"])
    first: dict[str, int] = {}
    files = {}
    for place in places:
        at = first.get(place["member"], 0)
        first[place["member"]] = at + place["samples"]
        columns = trace_columns([members[place["member"]]])
        name = f"traces/{place['run_id']}/{place['flow']}-{place['point']}-{place['sequence']}.parquet"
        files[name] = columns_to_parquet({key: each[at : first[place["member"]]] for key, each in columns.items()})
        place["member"] = name
        place.pop("joined_to", None)
    others = {name: content for name, content in members.items() if not name.startswith("traces/")}
    return pack({**others, **files, "chunks.json": json.dumps(places).encode()}, "dl-archive/1")


def pack(members: dict[str, bytes], form: str | None = None) -> bytes:
    """With a manifest that fits."""
    manifest = json.loads(members["manifest.json"])
    own = {name: content for name, content in members.items() if name != "manifest.json"}
    manifest["format"] = form or manifest["format"]
    manifest["sha256"] = {name: hashlib.sha256(content).hexdigest() for name, content in own.items()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in {**own, "manifest.json": json.dumps(manifest).encode()}.items():
            archive.writestr(name, content)
    return out.getvalue()


def recorded(shown: dict[str, Any]) -> dict[str, Any]:
    return {**shown, "campaign": {**shown["campaign"], "is_recorded": True, "origin": "recorded"}}


def test_archives_from_before_and_of_today_hold_the_same_campaign(any_lab: Lab) -> None:
    agents = list(pair(any_lab))
    campaign = any_lab.launch(stop={"seconds": 40})
    any_lab.drive(campaign, agents)
    packed, before = archive_of(any_lab, campaign), recorded(everything(any_lab, campaign))
    for content, files in ((packed, None), (split(packed), 0)):
        any_lab.call("DELETE", f"/campaigns/{campaign}")
        with any_lab.app.state.units() as unit:
            assert load_archive(unit, content) == (UUID(campaign), True)
        joins = count(any_lab, "chunks WHERE joined_to IS NOT NULL")
        assert joins == files if files is not None else joins > 30
        assert everything(any_lab, campaign) == before
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        names = [name for name in archive.namelist() if name.startswith("traces/")]
        places = json.loads(archive.read("chunks.json"))
    assert len(names) == len(set(names)) == sum("joined_to" not in place for place in places)
    assert {place["member"] for place in places} == set(names)


def test_an_archive_whose_joined_chunk_has_no_first_is_refused(lab: Lab) -> None:
    agents = list(pair(lab))
    campaign = lab.launch(**LONG)
    lab.drive(campaign, agents)
    with zipfile.ZipFile(io.BytesIO(archive_of(lab, campaign))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    places = json.loads(members["chunks.json"])
    members["chunks.json"] = json.dumps([each for each in places if each["sequence"] != 16]).encode()
    lab.call("DELETE", f"/campaigns/{campaign}")
    with (
        pytest.raises(InvalidError, match=r"chunk 16, which .*-16\.parquet is to begin with, is missing"),
        lab.units() as unit,
    ):
        load_archive(unit, pack(members))
    assert lab.call("GET", "/campaigns")["total"] == 0


def test_the_database_itself_keeps_each_chunk_in_one_place(lab: Lab) -> None:
    agents: list[ScriptedAgent] = list(pair(lab))
    lab.drive(lab.launch(**LONG), agents)
    for change in ("joined_to = 0", "packed = 'x'", "parquet = NULL"):
        with pytest.raises(IntegrityError, match="ck_chunks_one_place"), lab.units() as unit:
            unit.session.execute(text(f"UPDATE chunks SET {change} WHERE parquet IS NOT NULL"))  # noqa: S608


@given(st.integers(0, 13_000), st.integers(0, 2**32))
def test_batches_of_a_part_are_its_rows(rows: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(-(2**62), 2**62, (2, rows))
    columns = {"elapsed_us": values[0], "rtt_us": values[1]}
    batches = list(row_batches(columns_to_parquet(columns)))
    assert all(len(batch["rtt_us"]) <= 5_000 for batch in batches)
    assert same(joined(batches) if batches else {name: each[:0] for name, each in columns.items()}, columns)
