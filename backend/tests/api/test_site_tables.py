"""Tables of what each site of an emulated link did: asked for, taken from the relay that speaks for them alone, kept and given out."""

from __future__ import annotations

import io
import zipfile
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow.parquet as pq
import pytest

from downlink.actions.campaigns.archive_read import load_archive
from downlink.codec.chunk import ChunkHeader, encode_chunk
from downlink.domain.traces.point import Point
from downlink.storage.unit import UnitFactory
from tests.api.test_relays import INTCP_FLOW, SPLIT_FLOW, conditions, crew, prepared
from tests.fixtures.lab import API, Lab
from tests.fixtures.scripted_agent import SITE_MOMENTS, ScriptedAgent, draw_sites

pytestmark = pytest.mark.sampled("faults")

DRAWN = draw_sites(SITE_MOMENTS)


def told(lab: Lab, *flows: dict[str, Any]) -> tuple[dict[str, ScriptedAgent], list[dict[str, Any]], str]:
    """Runs over a relay that keeps tables of sites, and one that does not."""
    agents = crew(lab)
    agents["near"].keeps_sites = True
    campaign = lab.launch(conditions=conditions(*flows))
    return agents, lab.drive(campaign, list(agents.values())), campaign


def flow_of(lab: Lab, run: dict[str, Any]) -> dict[str, Any]:
    (flow,) = lab.call("GET", f"/runs/{run['id']}")["flows"]
    assert isinstance(flow, dict)
    return flow


def test_relays_of_intcp_alone_are_asked_for_tables_of_sites(lab: Lab) -> None:
    agents = crew(lab)
    lab.launch(conditions=conditions(INTCP_FLOW))
    lab.tick()
    asked = {name: order["sampling"].get("sites") for name, order in prepared(agents).items()}
    assert asked == {"client": None, "server": None, "near": True, "far": True}


def test_a_relay_of_split_tcp_is_not_asked(lab: Lab) -> None:
    agents = crew(lab)
    lab.launch(conditions=conditions(SPLIT_FLOW))
    lab.tick()
    assert {order["sampling"].get("sites") for order in prepared(agents).values()} == {None}


def test_a_table_is_sealed_shown_and_given_out(lab: Lab) -> None:
    _, (run,), _ = told(lab, INTCP_FLOW)
    assert run["state"] == "complete"
    table = flow_of(lab, run)["sites"]
    assert (table["state"], table["samples"], table["chunks"]) == ("sealed", 2 * SITE_MOMENTS, 2)
    answer = lab.client.get(
        f"{API}/runs/{run['id']}/traces/1/sites.parquet", headers={"Authorization": f"Bearer {lab.token}"}
    )
    packed = pq.read_table(io.BytesIO(answer.content))
    assert {name: packed[name].to_pylist() for name in packed.column_names} == {
        name: values.tolist() for name, values in DRAWN.items()
    }
    lines = lab.call("GET", f"/runs/{run['id']}/traces/1/sites.csv").splitlines()
    assert lines[0] == ",".join(DRAWN)
    assert np.array_equal(np.loadtxt(lines[1:], np.int64, delimiter=","), np.stack(list(DRAWN.values()), axis=1))
    shown = lab.call("GET", f"/runs/{run['id']}/traces/1/sites/samples?column=site_node&points=200")
    assert shown["columns"]["site_node"]["values"] == DRAWN["site_node"].tolist()


def test_hops_are_told_apart_by_the_table(lab: Lab) -> None:
    _, (run,), _ = told(lab, INTCP_FLOW)
    (flow,) = lab.call("GET", f"/runs/{run['id']}/hops")["flows"]
    assert flow["is_summed"] is False
    first, second, last = flow["hops"]
    assert [hop["place"] for hop in flow["hops"]] == [1, 2, None]
    assert {first["nodes"][0], first["nodes"][-1]} == {7, 8}
    assert (first["totals"]["lost_packets"], second["totals"]["lost_packets"]) == (SITE_MOMENTS, SITE_MOMENTS)
    assert last["totals"]["repaired_bytes"] == 1_400 * SITE_MOMENTS
    assert second["rtt_ms"][0] == 20.0


def test_a_table_goes_into_an_archive_and_comes_back(lab: Lab, units: UnitFactory) -> None:
    _, (run,), campaign = told(lab, INTCP_FLOW)
    before = flow_of(lab, run), lab.call("GET", f"/runs/{run['id']}/traces/1/sites.csv")
    packed = lab.client.get(
        f"{API}/campaigns/{campaign}/archive.zip", headers={"Authorization": f"Bearer {lab.token}"}
    ).content
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert [name for name in archive.namelist() if "-sites-" in name] == [f"traces/{run['id']}/1-sites-0.parquet"]
    lab.call("DELETE", f"/campaigns/{campaign}")
    with units() as unit:
        assert load_archive(unit, packed) == (UUID(campaign), True)
    assert (flow_of(lab, run), lab.call("GET", f"/runs/{run['id']}/traces/1/sites.csv")) == before


def test_a_run_without_a_table_has_none(lab: Lab) -> None:
    agents = crew(lab)
    (run,) = lab.drive(lab.launch(conditions=conditions(INTCP_FLOW)), list(agents.values()))
    assert run["state"] == "complete"
    assert "sites" not in flow_of(lab, run)
    assert lab.call("GET", f"/runs/{run['id']}/traces/1/sites.csv", expect=404)["code"] == "trace_not_found"


def forged(run: str, samples: int) -> bytes:
    part = {name: values[:samples] for name, values in DRAWN.items()}
    return encode_chunk(ChunkHeader(run, 1, 1, Point.SITES, 0, samples, tuple(part)), part)


def test_nobody_else_may_deliver_a_table(lab: Lab) -> None:
    agents, (run,), _ = told(lab, INTCP_FLOW)
    answers = {
        name: agent.put(run["id"], 1, (1, "sites", 0), forged(run["id"], 4)).json()["code"]
        for name, agent in agents.items()
    }
    stranger = "not_your_run"
    assert answers == {"client": stranger, "server": stranger, "far": stranger, "near": "chunk_unwanted"}
    assert lab.call("GET", f"/runs/{run['id']}/traces/1/sites.csv").count("\n") == 2 * SITE_MOMENTS + 1


def test_of_two_relays_that_say_they_keep_one_the_first_is_taken(lab: Lab) -> None:
    agents = crew(lab)
    agents["near"].keeps_sites = agents["far"].keeps_sites = True
    own = agents["far"].sends
    agents["far"].sends = lambda held: [each for each in own(held) if each[0][1] != "sites"]
    (run,) = lab.drive(lab.launch(conditions=conditions(INTCP_FLOW)), list(agents.values()))
    assert (run["state"], flow_of(lab, run)["sites"]["state"]) == ("complete", "sealed")
    refused = agents["far"].put(run["id"], 1, (1, "sites", 0), forged(run["id"], 4))
    assert refused.json()["code"] == "not_your_run"


def test_a_relay_of_split_tcp_has_no_table_whatever_it_says(lab: Lab) -> None:
    agents = crew(lab)
    agents["near"].keeps_sites = True
    agents["near"].sends = lambda held: [each for each in held.items() if each[0][1] != "sites"]
    (run,) = lab.drive(lab.launch(conditions=conditions(SPLIT_FLOW)), list(agents.values()))
    assert (run["state"], flow_of(lab, run).get("sites")) == ("complete", None)
    refused = agents["near"].put(run["id"], 1, (1, "sites", 0), forged(run["id"], 4))
    assert refused.json()["code"] == "not_your_run"


def test_chunks_of_a_table_that_are_missing_are_said(lab: Lab) -> None:
    agents = crew(lab)
    agents["near"].keeps_sites = True
    agents["near"].sends = lambda held: [each for each in held.items() if each[0][1:] != ("sites", 1)]
    campaign = lab.launch(conditions=conditions(INTCP_FLOW), limits={"attempts": 1})
    (run,) = lab.drive(campaign, list(agents.values()))
    table = flow_of(lab, run)["sites"]
    assert (run["state"], table["state"], table["missing_chunks"]) == ("incomplete", "incomplete", [1])
