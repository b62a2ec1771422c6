"""Chunks: any order, any repeats, the same table; and nothing that is not sound, wanted and one's own."""

from __future__ import annotations

import random
from typing import Any
from uuid import uuid4

import httpx
import pytest
import zstandard
from sqlalchemy import text

from downlink.actions.traces.chunks import MOST_BYTES
from tests.actions.test_faults import ONE, pair, until
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent, bundle_line, make_chunk

pytestmark = pytest.mark.sampled("faults")

Content = dict[tuple[int, str, int], bytes]


def uploading(lab: Lab) -> tuple[ScriptedAgent, ScriptedAgent, dict[str, Any], Content]:
    """A run whose sender's chunks (five of them) are awaited."""
    client, server = pair(lab)
    run = until(lab, lab.launch(**ONE, stop={"seconds": 9}), [client, server], "uploading")
    return client, server, run, server.spool[run["id"], 1]


def table(lab: Lab) -> list[Any]:
    with lab.units() as unit:
        return list(
            unit.session.execute(text("SELECT flow, point, sequence, sha256, samples FROM chunks ORDER BY 1, 2, 3"))
        )


@pytest.mark.parametrize("seed", range(5))
def test_any_order_with_any_repeats_gives_the_same_table(lab: Lab, seed: int) -> None:
    _, server, run, content = uploading(lab)
    wanted = [(place, content[place]) for place in sorted(content)]
    mixed = wanted + random.Random(seed).choices(wanted, k=7)
    random.Random(seed).shuffle(mixed)
    seen: set[tuple[int, str, int]] = set()
    for place, body in mixed:
        answer = server.put(run["id"], 1, place, body)
        assert answer.json() == {"stored": place not in seen}
        seen.add(place)
    assert [row[2] for row in table(lab)] == [0, 1, 2, 3, 4]


def test_a_repeat_after_sealing_is_still_a_no_op(lab: Lab) -> None:
    client, server, run, content = uploading(lab)
    for _ in range(4):
        client.act()
        server.act()
    while lab.work():
        pass
    place, body = next(iter(content.items()))
    assert server.put(run["id"], 1, place, body).json() == {"stored": False}
    other = make_chunk(run["id"], 1, *place, range(5))
    assert problem(server.put(run["id"], 1, place, other)) == (409, "chunk_unwanted")


def problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_another_content_in_the_same_place_is_refused(lab: Lab) -> None:
    _, server, run, content = uploading(lab)
    place, body = next(iter(content.items()))
    assert server.put(run["id"], 1, place, body).status_code == 200
    other = make_chunk(run["id"], 1, *place, range(5))
    for _ in range(3):
        assert problem(server.put(run["id"], 1, place, other)) == (409, "chunk_differs")
    record = [each["detail"] for each in lab.call("GET", f"/runs/{run['id']}")["events"]]
    said = "server: chunk_differs: Chunk 0 of flow 1, sender, is already stored with different content."
    assert [each for each in record if each and "differ" in each] == [said], "who tries it often says no more by that"


def test_only_the_leased_agent_may_write_and_only_its_own_end(lab: Lab) -> None:
    client, server, run, content = uploading(lab)
    place, body = next(iter(content.items()))
    stranger = lab.join("stranger")
    assert problem(stranger.put(run["id"], 1, place, body)) == (409, "not_your_run")
    assert problem(client.put(run["id"], 1, place, body)) == (409, "not_your_run")
    assert problem(server.put(str(uuid4()), 1, place, body)) == (422, "chunk_misplaced")
    server.secret = "dla_wrong"
    assert problem(server.put(run["id"], 1, place, body)) == (401, "agent_unknown")
    assert table(lab) == []


def test_nothing_is_taken_before_the_order_to_upload(lab: Lab) -> None:
    client, server = pair(lab)
    run = until(lab, lab.launch(**ONE), [client, server], "running")
    body = make_chunk(run["id"], 1, 1, "sender", 0, range(5))
    assert problem(server.put(run["id"], 1, (1, "sender", 0), body)) == (422, "chunk_surplus")
    client.act()
    server.act()
    server.act()
    assert lab.runs(run["campaign_id"])[0]["state"] == "running"
    assert problem(server.put(run["id"], 1, (1, "sender", 0), body)) == (409, "chunk_unwanted")


def test_unsound_chunks_are_refused_with_the_reason(lab: Lab) -> None:
    _, server, run, content = uploading(lab)
    place, body = next(iter(content.items()))
    bomb = zstandard.compress(bytes(200 * 2**20))
    assert problem(server.put(run["id"], 1, place, bomb)) == (422, "chunk_invalid")
    assert problem(server.put(run["id"], 1, place, body[:-3])) == (422, "chunk_invalid")
    assert problem(server.put(run["id"], 1, place, bytes(5 * 2**20))) == (413, "body_too_large")
    assert problem(server.put(run["id"], 1, (1, "sender", 4), body)) == (422, "chunk_misplaced")
    surplus = make_chunk(run["id"], 1, 1, "sender", 5, range(5))
    assert problem(server.put(run["id"], 1, (1, "sender", 5), surplus)) == (422, "chunk_surplus")
    damaged = server._send(
        "PUT",
        f"/runs/{run['id']}/traces/1/sender/0",
        content=body,
        headers={"X-Content-SHA256": "0" * 64, "X-Attempt": "1"},
    )
    assert problem(damaged) == (422, "chunk_damaged")
    assert table(lab) == []


def test_a_chunk_that_does_not_continue_its_trace_counts_as_missing(lab: Lab) -> None:
    client, server, run, content = uploading(lab)
    content[1, "sender", 2] = make_chunk(run["id"], 1, 1, "sender", 2, range(200))  # back in time
    for _ in range(4):
        client.act()
        server.act()
    while lab.work():
        pass
    flow = lab.call("GET", f"/runs/{run['id']}")["flows"][0]
    assert flow["traces"]["sender"]["missing_chunks"] == [2]
    assert flow["traces"]["sender"]["samples"] == 701
    assert ended(lab, run) == (
        "incomplete", "upload_refused",
        "1 of the chunks of flow 1 at the sender cannot be used; the first is 2: its fields are others than before, or its time goes back.",
    )  # fmt: skip


def ended(lab: Lab, run: dict[str, Any]) -> tuple[str, str, str]:
    found = lab.call("GET", f"/runs/{run['id']}")
    return found["state"], found["reason"], found["detail"]


def test_a_chunk_whose_columns_cannot_be_read_ends_its_run_with_that_reason(lab: Lab) -> None:
    """Its header and its digest are right, so that it is taken; what it holds is found when the trace is sealed."""
    client, server, run, content = uploading(lab)
    place = (1, "sender", 3)
    line, _, columns = zstandard.decompress(content[place]).partition(b"\n")
    content[place] = zstandard.compress(line + b"\n" + b"\xff" * len(columns))
    for _ in range(4):
        client.act()
        server.act()
    while lab.work():
        pass
    assert lab.call("GET", f"/runs/{run['id']}")["flows"][0]["traces"]["sender"]["missing_chunks"] == [3]
    state, reason, detail = ended(lab, run)
    assert (state, reason) == ("incomplete", "upload_refused")
    assert "the first is 3: This chunk cannot be read: elapsed_us must not be negative" in detail
    lab.drive(run["campaign_id"], [client, server])  # and the campaign ends all the same


@pytest.mark.parametrize("seed", range(3))
def test_bundles_of_any_chunks_give_the_same_table(lab: Lab, seed: int) -> None:
    _, server, run, content = uploading(lab)
    wanted = [(place, content[place]) for place in sorted(content)]
    mixed = wanted + random.Random(seed).choices(wanted, k=9)
    random.Random(seed).shuffle(mixed)
    seen: set[tuple[int, str, int]] = set()
    for bundle in (mixed[:4], mixed[4:9], mixed[9:]):
        answer = server.post(run["id"], 1, bundle)
        assert answer.status_code == 200, answer.text
        for (place, _), said in zip(bundle, answer.json()["chunks"], strict=True):
            told = dict(zip(("flow", "point", "sequence"), place, strict=True))
            assert said == {**told, "status": 200, "stored": place not in seen}
            seen.add(place)
    assert [row[2] for row in table(lab)] == [0, 1, 2, 3, 4]
    with lab.units() as unit:
        stored = unit.session.execute(text("SELECT stored_bytes FROM run_hosts WHERE stored_bytes > 0")).scalar_one()
    assert stored == sum(map(len, content.values()))


def test_each_chunk_of_a_bundle_is_answered_as_its_put_would_be(lab: Lab) -> None:
    client, server, run, content = uploading(lab)
    places = sorted(content)
    other = make_chunk(run["id"], 1, *places[0], range(5))
    assert server.put(run["id"], 1, places[0], content[places[0]]).status_code == 200
    receiver = next(place for each in (client.spool[run["id"], 1], content) for place in each if place[1] == "receiver")
    bundle = [
        (places[0], other), (places[0], content[places[0]]), (places[1], content[places[2]]), (places[2], b"no chunk"),
        ((1, "sender", 5), make_chunk(run["id"], 1, 1, "sender", 5, range(5))),
        (receiver, client.spool[run["id"], 1][receiver]), (places[3], content[places[3]]),
    ]  # fmt: skip
    answers = server.post(run["id"], 1, bundle).json()["chunks"]
    for (place, body), said in zip(bundle, answers, strict=True):
        put = server.put(run["id"], 1, place, body)
        assert said["status"] == put.status_code
        assert said.get("code") == put.json().get("code")
    assert [said["status"] for said in answers] == [409, 200, 422, 422, 422, 409, 200]
    assert [row[2] for row in table(lab)] == [0, 3]


def test_a_bundle_that_cannot_be_taken_apart_stores_nothing(lab: Lab) -> None:
    _, server, run, content = uploading(lab)
    place, body = next(iter(content.items()))

    def refused(pieces: bytes) -> tuple[int, str]:
        return problem(server._send("POST", f"/runs/{run['id']}/chunks", content=pieces, headers={"X-Attempt": "1"}))

    good = bundle_line(place, body) + body
    for bad in (
        b"", good[:-1], good + b"x", good + good[:30], body, bundle_line(place, body, size=0) + body,
        bundle_line(place, body, size=5 * 2**20) + bytes(5 * 2**20), bundle_line(place, body, point="middle") + body,
        bundle_line(place, body, sha256="00") + body, bundle_line(place, body, flow=True) + body,
        bundle_line(place, body, more=1) + body, b"[" * 400 + good, good * 65,
    ):  # fmt: skip
        assert refused(bad) == (422, "bundle_invalid"), bad[:100]
    assert refused(bytes(8 * 2**20 + 1)) == (413, "body_too_large")
    server.secret = "dla_wrong"
    assert refused(good) == (401, "agent_unknown")
    assert table(lab) == []


def test_a_bundle_stops_at_the_quota(lab: Lab) -> None:
    _, server, run, content = uploading(lab)
    bundle = [(place, content[place]) for place in sorted(content)][:3]
    room = len(bundle[0][1]) + len(bundle[1][1])
    with lab.units() as unit:
        unit.session.execute(text("UPDATE run_hosts SET stored_bytes = :size"), {"size": MOST_BYTES - room})
    answers = server.post(run["id"], 1, bundle).json()["chunks"]
    assert [said["status"] for said in answers] == [200, 200, 422]
    assert answers[2]["code"] == "quota_used"


def test_an_agent_may_store_so_much_of_a_run_and_no_more(lab: Lab) -> None:
    _, server, run, content = uploading(lab)
    place, body = next(iter(content.items()))
    with lab.units() as unit:
        unit.session.execute(text("UPDATE run_hosts SET stored_bytes = :size"), {"size": MOST_BYTES - len(body) + 1})
    assert problem(server.put(run["id"], 1, place, body)) == (422, "quota_used")
    with lab.units() as unit:
        unit.session.execute(text("UPDATE run_hosts SET stored_bytes = :size"), {"size": MOST_BYTES - len(body)})
    assert server.put(run["id"], 1, place, body).status_code == 200
