"""Quantities of links: taken of agents and files, shown over time and beside runs, correlated with what runs measured."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from downlink.domain.observation import Observation
from downlink.storage.observations import add_observations
from tests.fixtures.fleet import SHORT
from tests.fixtures.lab import API, Lab
from tests.fixtures.scripted_agent import ScriptedAgent

RAIN = "weather.rain_mm_per_h"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def agents(lab: Lab) -> list[ScriptedAgent]:
    return [lab.join("client"), lab.join("server")]


def link_id(lab: Lab) -> str:
    return str(lab.link()["id"])


def observe(lab: Lab, agent: ScriptedAgent, values: list[tuple[datetime, float]], **changes: Any) -> Any:
    said = {"quantity": "dish.obstruction_ratio", "unit": "ratio", "source": "dish", **changes}
    body = {"link": None, "observations": [{**said, "at": at.isoformat(), "value": value} for at, value in values]}
    return lab.client.post(f"{API}/agent/observations", json=body, headers={"Authorization": f"Bearer {agent.secret}"})


def test_what_an_agent_observes_is_stored_once_with_its_links_and_nobody_elses(
    lab: Lab, agents: list[ScriptedAgent]
) -> None:
    link, now = link_id(lab), lab.now()
    values = [(now - timedelta(seconds=10 * step), step / 10) for step in range(5)]
    assert observe(lab, agents[0], values).json() == {"stored": 5}
    assert observe(lab, agents[0], values).json() == {"stored": 0}
    refused = observe(lab, agents[1], values)
    assert (refused.status_code, refused.json()["code"]) == (403, "link_not_own")
    wrong = observe(lab, agents[0], values, unit="percent")
    assert (wrong.status_code, wrong.json()["code"]) == (422, "observation_invalid")
    (known,) = lab.call("GET", f"/links/{link}/quantities")["items"]
    assert (known["link"], known["quantity"], known["unit"], known["source"]) == (
        "geo",
        "dish.obstruction_ratio",
        "ratio",
        "dish",
    )
    (strip,) = lab.call("GET", f"/links/{link}/observations?points=1")["items"]
    (only,) = strip["bins"]
    assert (only["low"], only["mean"], only["high"]) == (0.0, pytest.approx(0.2), 0.4)
    assert lab.call("GET", f"/links/{link}/observations?quantity=dish.snr")["items"] == []


def test_a_stations_file_is_imported_and_its_faults_named(lab: Lab, agents: list[ScriptedAgent]) -> None:
    path = f"/links/{link_id(lab)}/observations/import"
    text = f"time,{RAIN}\n2026-01-02T12:00Z,0.2\n2026-01-02T12:10Z,4.8\n"
    assert lab.call("POST", path, {"text": text}) == {"values": 2, "stored": 2, "differing": 0}
    assert lab.call("POST", path, {"text": text}) == {"values": 2, "stored": 0, "differing": 0}
    other = text.replace("4.8", "4.9") + "2026-01-02T12:20Z,1\n"
    assert lab.call("POST", path, {"text": other}) == {"values": 3, "stored": 1, "differing": 1}
    assert lab.call("POST", path, {"text": "time\n"}, expect=422)["code"] == "station_unreadable"
    assert lab.call("POST", path, {"text": text, "time_zone": "Mars"}, expect=422)["code"] == "time_zone_unknown"


def test_values_beyond_all_quantities_are_refused_and_older_ones_make_no_figure_fail(
    lab: Lab, agents: list[ScriptedAgent]
) -> None:
    link = link_id(lab)
    campaign = lab.launch(**SHORT, conditions=[{"name": "plain"}], timetable={"cycles": 2})
    lab.drive(campaign, agents)
    runs = lab.call("GET", f"/campaigns/{campaign}/day")["runs"]
    begun, last = sorted(datetime.fromisoformat(run["at"]) for run in runs)
    moments = [begun + (last - begun) * part for part in (0.25, 0.5, 0.75)]
    text = f"time,{RAIN}\n{moments[0].isoformat()},1.7e308\n"
    said = lab.call("POST", f"/links/{link}/observations/import", {"text": text}, expect=422)
    assert "Line 2" in said["message"]
    assert observe(lab, agents[0], [(moments[0], 1e300)]).json()["code"] == "observation_invalid"
    with lab.units() as unit:
        values = zip(moments, (3.0, 1.7e308, 1.7e308), strict=True)
        add_observations(unit, "geo", [Observation(RAIN, "mm/h", "station", at, value) for at, value in values])
    span = "&".join(f"{name}={at:%Y-%m-%dT%H:%M:%SZ}" for name, at in (("from_at", begun), ("to_at", last + MINUTE)))
    for path in (f"/links/{link}/observations?points=1&{span}", f"/campaigns/{campaign}/quantities"):
        (strip,) = lab.call("GET", path)["items"]
        assert [each["high"] for each in strip["bins"]] == [3.0]
    assert lab.call("GET", f"/campaigns/{campaign}/correlations")["items"]


def test_runs_are_shown_with_what_it_was_like_and_correlated_with_it(lab: Lab, agents: list[ScriptedAgent]) -> None:
    link_id(lab)
    campaign = lab.launch(**SHORT, conditions=[{"name": "plain"}], timetable={"cycles": 6})
    runs = lab.drive(campaign, agents)
    day = lab.call("GET", f"/campaigns/{campaign}/day")
    begun = [datetime.fromisoformat(run["at"]) for run in day["runs"]]
    values = [(at, float(place % 4)) for place, at in enumerate(begun)]
    assert observe(lab, agents[0], values).status_code == 200
    (strip,) = lab.call("GET", f"/campaigns/{campaign}/quantities")["items"]
    assert sum(each["mean"] for each in strip["bins"]) == sum(value for _, value in values)
    (near,) = lab.call("GET", f"/runs/{runs[0]['id']}/quantities")["items"]
    assert near["quantity"] == "dish.obstruction_ratio"
    found = lab.call("GET", f"/campaigns/{campaign}/correlations?metric=throughput_bps")["items"]
    assert [(each["link"], each["condition"], each["quantity"], each["n"]) for each in found] == [
        ("geo", "plain", "dish.obstruction_ratio", 6)
    ]
    assert found[0]["rho"] is not None or found[0]["why"]
    assert lab.call("GET", f"/campaigns/{campaign}/correlations?metric=unheard", expect=422)["code"] == "metric_unknown"
