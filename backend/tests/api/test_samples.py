"""Raw samples of a run for a plot: thinned over the whole, every one of a short stretch; and the moments that flags mark."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import update

from downlink.codec.parquet import columns_to_parquet, trace_columns
from downlink.storage.tables import Run
from downlink.storage.traces import trace_store
from tests.fixtures.lab import API, Lab
from tests.fixtures.scripted_agent import draw_slow_start

pytestmark = pytest.mark.sampled("faults")

HEADERS = "Authorization"


@pytest.fixture
def run(lab: Lab) -> dict[str, Any]:
    """A slow start over an emulated link that is logged."""
    client, server = lab.join("client"), lab.join("server")
    lab.link(is_emulated=True, profile="geo-viasat")
    server.draws, client.logs_link = draw_slow_start, True
    launched = lab.launch(timetable={"cycles": 1}, stop={"seconds": 9}, conditions=[{"name": "on"}])
    lab.drive(launched, [client, server])
    found: dict[str, Any] = lab.call("GET", f"/runs/{lab.runs(launched)[0]['id']}")
    return found


def recorded(lab: Lab, run: dict[str, Any], point: str = "sender", flow: int = 1) -> dict[str, np.ndarray[Any, Any]]:
    answer = lab.client.get(
        f"{API}/runs/{run['id']}/traces/{flow}/{point}.parquet", headers={HEADERS: f"Bearer {lab.token}"}
    )
    return trace_columns([answer.content])


def ask(lab: Lab, run: dict[str, Any], point: str = "sender", flow: int = 1, **query: Any) -> dict[str, Any]:
    found: dict[str, Any] = lab.call("GET", f"/runs/{run['id']}/traces/{flow}/{point}/samples", params=query)
    return found


def test_the_whole_trace_is_thinned_and_says_so(lab: Lab, run: dict[str, Any]) -> None:
    held = recorded(lab, run)
    said = ask(lab, run, column=["cwnd_segments", "ssthresh_segments"], points=100)
    assert (said["samples"], said["in_span"], said["is_thinned"]) == (len(held["elapsed_us"]),) * 2 + (True,)
    assert (said["first_us"], said["last_us"]) == (held["elapsed_us"][0], held["elapsed_us"][-1])
    cwnd = said["columns"]["cwnd_segments"]
    assert 50 <= len(cwnd["values"]) <= 100
    assert (min(cwnd["values"]), max(cwnd["values"])) == (held["cwnd_segments"].min(), held["cwnd_segments"].max())
    assert set(zip(cwnd["time_us"], cwnd["values"], strict=True)) <= set(
        zip(held["elapsed_us"].tolist(), held["cwnd_segments"].tolist(), strict=True)
    )
    assert set(said["columns"]["ssthresh_segments"]["values"]) == {None}  # never set
    assert {field["name"] for field in said["fields"]} == held.keys() - {"elapsed_us"}
    assert next(f for f in said["fields"] if f["name"] == "rtt_us")["unit"] == "us"


def test_a_short_stretch_has_every_sample(lab: Lab, run: dict[str, Any]) -> None:
    held = recorded(lab, run)
    said = ask(lab, run, column=["acked_bytes"], from_s=3.0, to_s=3.1)
    inside = (held["elapsed_us"] >= 3_000_000) & (held["elapsed_us"] <= 3_100_000)
    assert said["is_thinned"] is False
    assert said["columns"]["acked_bytes"] == {
        "time_us": held["elapsed_us"][inside].tolist(),
        "values": held["acked_bytes"][inside].tolist(),
    }
    assert said["in_span"] == inside.sum() > 0
    beyond = ask(lab, run, column=["acked_bytes"], from_s=500.0)
    assert (beyond["in_span"], beyond["columns"]["acked_bytes"]["values"]) == (0, [])


def test_a_trace_of_many_parts_reads_as_one_whole(lab: Lab, run: dict[str, Any]) -> None:
    """As that of a long run with every ACK: parts are found by their times, and those outside are not read."""
    held = recorded(lab, run)
    wanted = {"column": ["cwnd_segments", "acked_bytes"], "points": 60}
    before = [ask(lab, run, **wanted), ask(lab, run, **wanted, from_s=2.5, to_s=2.9)]
    with lab.units() as unit:
        traces_of = UUID(run["id"])
        for at in trace_store.part_sequences(unit, traces_of, 1, "sender"):
            trace_store.drop_chunk(unit, traces_of, 1, "sender", at)
        edges = [*range(0, len(held["elapsed_us"]), 37), len(held["elapsed_us"])]
        for sequence, (first, stop) in enumerate(pairwise(edges)):
            parquet = columns_to_parquet({name: values[first:stop] for name, values in held.items()})
            trace_store.add_part(unit, (traces_of, 1, "sender", 1_000 + sequence), [stop - first], parquet, lab.now())
    assert [ask(lab, run, **wanted), ask(lab, run, **wanted, from_s=2.5, to_s=2.9)] == before


def test_the_receiver_and_the_link_have_their_own_fields(lab: Lab, run: dict[str, Any]) -> None:
    assert ask(lab, run, "receiver", column=["app_bytes"])["columns"].keys() == {"app_bytes"}
    link = ask(lab, run, "link", 0, column=["down_waiting_bytes", "up_rate_bps"])
    assert link["columns"].keys() == {"down_waiting_bytes", "up_rate_bps"}
    # A field of the list that this kernel did not report is left out; one of no list is refused.
    assert ask(lab, run, column=["bbr_min_rtt_us"])["columns"] == {}


@pytest.mark.parametrize(
    ("path", "query", "status", "code"),
    [
        ("1/sender", {"column": "received_bytes"}, 422, "columns_unknown"),
        ("1/sender", {"column": ["cwnd_segments"] * 17}, 422, "request_invalid"),
        ("1/sender", {"points": 10_001}, 422, "request_invalid"),
        ("1/sender", {"from_s": -1}, 422, "request_invalid"),
        ("1/sender", {"from_s": 5, "to_s": 1}, 422, "span_invalid"),
        ("7/sender", {"column": "cwnd_segments"}, 404, "trace_not_found"),
    ],
)
def test_what_cannot_be_had_is_refused_by_name(
    lab: Lab, run: dict[str, Any], path: str, query: dict[str, Any], status: int, code: str
) -> None:
    answer = lab.client.get(
        f"{API}/runs/{run['id']}/traces/{path}/samples", params=query, headers={HEADERS: f"Bearer {lab.token}"}
    )
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_the_moments_of_a_run_are_those_of_its_page(lab: Lab, run: dict[str, Any]) -> None:
    moments = lab.call("GET", f"/runs/{run['id']}/moments")["moments"]
    found = {each["kind"]: each for each in reversed(moments)}  # of several the first
    flow = lab.call("GET", f"/runs/{run['id']}/exits")["flows"][0]
    assert found["first_byte"]["at_us"] == flow["origin_us"]
    assert found["first_loss"]["at_us"] == flow["origin_us"] + flow["times"]["dp_us"]
    assert found["end"]["at_us"] > found["first_loss"]["at_us"]
    assert (found["outage"]["way"], found["outage"]["at_us"], found["outage"]["until_us"]) == (
        "down",
        1_490_000,
        1_500_000,
    )
    assert [each["at_us"] for each in moments] == sorted(each["at_us"] for each in moments)


def test_annotations_that_touch_a_run_are_among_its_moments(lab: Lab, run: dict[str, Any]) -> None:
    """Of its campaign and of its link, from its zero on; neither those of other links nor those of other times."""
    # Scripted agents end a run before its zero where the machine is fast.
    with lab.units() as unit:
        unit.session.execute(
            update(Run).where(Run.id == UUID(run["id"])).values(ended_at=Run.start_at + timedelta(seconds=9))
        )
    run = lab.call("GET", f"/runs/{run['id']}")
    zero, end = (datetime.fromisoformat(run[key]) for key in ("started_at", "ended_at"))

    def note(text: str, from_at: datetime, to_at: datetime | None = None, **whose: str) -> None:
        until = to_at.isoformat() if to_at else None
        noted = {"kind": "weather", "text": text, "from_at": from_at.isoformat(), "to_at": until, **whose}
        lab.call("POST", "/annotations", noted, expect=201)

    lab.link("another")
    minute, tenth = timedelta(minutes=1), (end - zero) / 10
    note("rain", zero - minute, zero + tenth, link=run["link"])
    note("gust", zero + 2 * tenth, campaign_id=run["campaign_id"])
    note("storm", end - tenth, end + minute, link=run["link"])
    note("before", zero - 2 * minute, zero - minute, link=run["link"])
    note("elsewhere", zero, link="another")
    found = [each for each in lab.call("GET", f"/runs/{run['id']}/moments")["moments"] if each["kind"] == "annotation"]
    assert [each["text"] for each in found] == ["rain", "gust", "storm"]
    tenth_us = tenth.total_seconds() * 1e6
    # Moments leave the API in milliseconds.
    assert [each["at_us"] for each in found] == pytest.approx([0, 2 * tenth_us, 9 * tenth_us], abs=1_000)
    assert found[0]["until_us"] == pytest.approx(tenth_us, abs=1_000)
    assert [each["until_us"] for each in found[1:]] == [None, None]
