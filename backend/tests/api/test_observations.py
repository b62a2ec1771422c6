"""Quantities of links: taken of agents and files, shown over time and beside runs, correlated with what runs measured."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from downlink.domain.links.observation import MOST_QUANTITIES, Observation
from downlink.storage.links.observation_store import add_observations
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


def send(lab: Lab, agent: ScriptedAgent, observations: list[Any]) -> Any:
    body = {"link": None, "observations": observations}
    answer = lab.client.post(
        f"{API}/agent/observations", json=body, headers={"Authorization": f"Bearer {agent.secret}"}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def snr(at: datetime, **changes: Any) -> dict[str, Any]:
    return {"quantity": "dish.snr", "unit": "dB", "source": "dish", "at": at.isoformat(), "value": 9.5, **changes}


def test_a_value_that_is_refused_costs_no_other_one(lab: Lab, agents: list[ScriptedAgent]) -> None:
    link, now = link_id(lab), lab.now()
    moments, tomorrow = [now - timedelta(seconds=10 * step) for step in range(7)], now + timedelta(days=1)
    wrong: list[Any] = [
        snr(moments[0], unit="dBm"),
        snr(moments[1], value=1e300),
        snr(moments[2], value=None),
        {**snr(now), "at": "yesterday"},
        snr(moments[4], quantity="x" * 101),
        snr(tomorrow),
        7,
    ]
    both = [each for place, bad in enumerate(wrong) for each in (bad, snr(moments[place], quantity="modem.snr_db"))]
    said = send(lab, agents[0], both)
    assert (said["stored"], said["refused_count"]) == (7, 7)
    assert {each["place"]: each["message"] for each in said["refused"]} == {
        0: "dish.snr is in dB here, not in dBm: convert it first.",
        2: f"dish.snr at {moments[1]:%Y-%m-%d %H:%M}: 1e+300 is beyond 1e+15, which no quantity reaches; correct it, or leave it out.",
        4: "value: must be a number, not null.",
        6: "at: must be a moment with its offset from UTC, such as 2026-01-02T03:04:05Z.",
        8: "quantity: must have at most 100 characters.",
        10: f"dish.snr: {tomorrow:%Y-%m-%d %H:%M} UTC is more than 15 minutes in the future; check the clock or the time zone.",
        12: "this: must be a mapping of keys to values, not a number.",
    }
    (known,) = lab.call("GET", f"/links/{link}/quantities")["items"]
    assert known["quantity"] == "modem.snr_db"


def test_of_many_refused_values_the_first_ones_are_named(lab: Lab, agents: list[ScriptedAgent]) -> None:
    link_id(lab)
    at = lab.now()
    many = [snr(at - timedelta(seconds=step), unit="V") for step in range(1999)]
    said = send(lab, agents[0], [*many, snr(at)])
    assert (said["stored"], said["refused_count"], len(said["refused"])) == (1, 1999, 20)


def test_a_link_that_takes_no_further_quantity_still_takes_those_that_it_has(
    lab: Lab, agents: list[ScriptedAgent]
) -> None:
    link_id(lab)
    at = lab.now()
    all_of_them = [snr(at, quantity=f"modem.number_{number}") for number in range(MOST_QUANTITIES)]
    assert send(lab, agents[0], all_of_them) == {"stored": MOST_QUANTITIES}
    later = at - timedelta(seconds=1)
    said = send(lab, agents[0], [snr(later, quantity="modem.one_more"), snr(later, quantity="modem.number_0")])
    assert (said["stored"], [(each["place"], each["code"]) for each in said["refused"]]) == (
        1,
        [(0, "quantities_full")],
    )


def test_what_one_of_several_links_refuses_is_stored_with_the_others(lab: Lab, agents: list[ScriptedAgent]) -> None:
    for name in ("geo", "leo"):
        lab.link(name)
    at = lab.now()
    with lab.units() as unit:
        add_observations(unit, "leo", [Observation("modem.snr_db", "dBm", "dish", at - timedelta(seconds=1), 1.0)])
    said = send(lab, agents[0], [snr(at, quantity="modem.snr_db")])
    assert (said["stored"], said["refused_count"]) == (1, 1)
    assert said["refused"][0]["message"] == "modem.snr_db of dish is in dBm on leo, and not in dB."


def test_a_stations_file_is_imported_and_its_faults_named(lab: Lab, agents: list[ScriptedAgent]) -> None:
    path = f"/links/{link_id(lab)}/observations/import"
    text = f"time,{RAIN}\n2026-01-02T12:00Z,0.2\n2026-01-02T12:10Z,4.8\n"

    def taken(**body: Any) -> tuple[int, int, int]:
        said = lab.call("POST", path, body)
        return (said["values"], said["stored"], said["differing"])

    assert taken(text=text) == (2, 2, 0)
    assert taken(text=text) == (2, 0, 0)
    other = text.replace("4.8", "4.9") + "2026-01-02T12:20Z,1\n"
    assert taken(text=other) == (3, 1, 1)
    said = lab.call("POST", path, {"text": text + "2026-01-02T12:3"})
    assert (said["left_out"], said["partial"]) == (
        1,
        ["line 4: '2026-01-02T12:3' is not a time; write it as 2026-11-25T06:10Z"],
    )
    strict = lab.call("POST", path, {"text": text + "2026-01-02T12:3", "strict": True}, expect=422)
    assert strict["message"].startswith("Line 4: ")
    asked = {"text": f"when,{RAIN}\n20/11/2026   15:30,1\n", "time_column": "when", "time_format": "%d/%m/%Y %H:%M"}
    assert taken(**asked, time_zone="UTC") == (1, 1, 0)
    utc = {"text": f"# Time Zone -> Etc/UTC\ntime,{RAIN}\n2026-01-02 13:00,3\n", "source": "service"}
    lab.call("PATCH", path.removesuffix("/observations/import"), {"time_zone": "Asia/Tokyo"})
    assert taken(**utc) == taken(**utc, time_zone="Europe/Madrid") == (1, 1, 0)
    assert taken(text=utc["text"].replace("13:00", "13:00Z"), source="service") == (1, 0, 0)
    assert lab.call("POST", path, {"text": "time\n"}, expect=422)["code"] == "station_unreadable"
    assert lab.call("POST", path, {"text": text, "time_zone": "Mars"}, expect=422)["code"] == "time_zone_unknown"


@pytest.mark.sampled("faults")
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
    assert observe(lab, agents[0], [(moments[0], 1e300)]).json()["refused"][0]["code"] == "observation_invalid"
    with lab.units() as unit:
        values = zip(moments, (3.0, 1.7e308, 1.7e308), strict=True)
        add_observations(unit, "geo", [Observation(RAIN, "mm/h", "station", at, value) for at, value in values])
    span = "&".join(f"{name}={at:%Y-%m-%dT%H:%M:%SZ}" for name, at in (("from_at", begun), ("to_at", last + MINUTE)))
    for path in (f"/links/{link}/observations?points=1&{span}", f"/campaigns/{campaign}/quantities"):
        (strip,) = lab.call("GET", path)["items"]
        assert [each["high"] for each in strip["bins"]] == [3.0]
    assert lab.call("GET", f"/campaigns/{campaign}/correlations")["items"]


@pytest.mark.sampled("faults")
def test_runs_are_shown_with_what_it_was_like_and_correlated_with_it(lab: Lab, agents: list[ScriptedAgent]) -> None:
    link_id(lab)
    campaign = lab.launch(**SHORT, conditions=[{"name": "plain"}], timetable={"cycles": 6})
    runs = lab.drive(campaign, agents)
    day = lab.call("GET", f"/campaigns/{campaign}/day")
    begun = [datetime.fromisoformat(run["at"]) for run in day["runs"]]
    values = [(at, place % 4 / 4) for place, at in enumerate(begun)]
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
