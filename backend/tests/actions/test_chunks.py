"""Chunks: any order, any repeats, the same table; and nothing that is not sound, wanted and one's own."""

from __future__ import annotations

import random
from typing import Any
from uuid import uuid4

import httpx
import pytest
import zstandard
from sqlalchemy import text

from downlink.actions.chunks import MOST_BYTES
from tests.actions.test_faults import ONE, pair, until
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent, make_chunk

Content = dict[tuple[int, str, int], bytes]


def uploading(lab: Lab) -> tuple[ScriptedAgent, ScriptedAgent, dict[str, Any], Content]:
    """A run whose sender's chunks (five of them) are awaited."""
    client, server = pair(lab)
    run = until(lab, lab.launch(**ONE, stop={"seconds": 9}), [client, server], "uploading")
    return client, server, run, server.spool[run["id"], 1]


def table(lab: Lab) -> list[Any]:
    with lab.units() as unit:
        return list(
            unit.session.execute(text('SELECT flow, "end", sequence, sha256, samples FROM chunks ORDER BY 1, 2, 3'))
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
    assert problem(server.put(run["id"], 1, place, other)) == (409, "chunk_differs")


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


def test_an_agent_may_store_so_much_of_a_run_and_no_more(lab: Lab) -> None:
    _, server, run, content = uploading(lab)
    place, body = next(iter(content.items()))
    with lab.units() as unit:
        unit.session.execute(text("UPDATE run_hosts SET stored_bytes = :size"), {"size": MOST_BYTES - len(body) + 1})
    assert problem(server.put(run["id"], 1, place, body)) == (422, "quota_used")
    with lab.units() as unit:
        unit.session.execute(text("UPDATE run_hosts SET stored_bytes = :size"), {"size": MOST_BYTES - len(body)})
    assert server.put(run["id"], 1, place, body).status_code == 200
