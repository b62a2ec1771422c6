"""A weather service on loopback, asked for the places of links: its values become theirs, and what is wrong has a name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from prometheus_client import generate_latest
from pydantic import SecretStr

from downlink.actions.links import weather_calls
from downlink.courier.weather import WeatherService
from downlink.domain.links.weather_source import Position
from downlink.process.settings import Settings
from downlink.storage.links.weather_place_store import list_places
from downlink.storage.unit import UnitFactory
from tests.actions.test_faults import ONE
from tests.fixtures.lab import CAMPAIGN, Lab
from tests.fixtures.receivers import Answer, WebReceiver

pytestmark = pytest.mark.sampled("faults")

RAIN, WARMTH = "weather.rain_mm_per_h", "weather.temperature_c"
VALENCIA = {"latitude": 39.4699, "longitude": -0.3763}
EVERY_S = 15 * 60


def answer(rain: Any = 0.3, warmth: Any = 12.5, *, minutes_ago: float = 5) -> Answer:
    at = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=minutes_ago)
    current = {"time": at.strftime("%Y-%m-%dT%H:%M"), "precipitation": rain, "temperature_2m": warmth}
    return Answer(body=json.dumps({"latitude": 39.5, "current": current}).encode())


@contextmanager
def a_lab(settings: Settings, units: UnitFactory, service: WebReceiver, **changes: Any) -> Iterator[Lab]:
    said = {
        "weather_url": SecretStr(
            f"http://127.0.0.1:{service.port}/v1?latitude={{latitude}}&longitude={{longitude}}&apikey=s3cret"
        ),
        "weather_quantities": f"{RAIN}=/current/precipitation * 4,{WARMTH}=/current/temperature_2m",
        "weather_time": "/current/time",
        "weather_name": "open data",
        "weather_allow": "127.0.0.0/8",
    }
    with Lab(settings.model_copy(update={**said, **changes}), units) as lab:
        lab.join("client")
        lab.join("server")
        lab.link(**VALENCIA)
        yield lab


def turn(lab: Lab, rounds: int = 1) -> None:
    for _ in range(rounds):
        lab.tick()
        lab.work()


def known(lab: Lab, link: str = "geo") -> dict[str, list[float]]:
    """Quantity to the values that are stored of it."""
    found = {each["name"]: each["id"] for each in lab.call("GET", "/links")["items"]}
    strips = lab.call("GET", f"/links/{found[link]}/observations?points=2000")["items"]
    return {strip["quantity"]: [each["mean"] for each in strip["bins"]] for strip in strips}


def only_place(lab: Lab) -> Any:
    (place,) = lab.call("GET", "/weather")["places"]
    return place


def link_id(lab: Lab) -> str:
    return str(lab.call("GET", "/links")["items"][0]["id"])


def test_values_become_those_of_the_link_and_the_same_ones_twice_add_nothing(
    settings: Settings, units: UnitFactory
) -> None:
    same = answer()
    with WebReceiver([same, same, answer(1, 13, minutes_ago=1)]) as service, a_lab(settings, units, service) as lab:
        turn(lab, 3)
        assert len(service.got) == 1, "once a period, however many ticks there are"
        asked = parse_qs(urlsplit(service.got[0].path).query)
        assert asked == {"latitude": ["39.47"], "longitude": ["-0.38"], "apikey": ["s3cret"]}
        first = {RAIN: [pytest.approx(1.2)], WARMTH: [12.5]}
        assert known(lab) == first
        quantities = lab.call("GET", f"/links/{link_id(lab)}/quantities")["items"]
        assert [(each["unit"], each["source"]) for each in quantities] == [("mm/h", "open data"), ("°C", "open data")]
        lab.wait(EVERY_S + 1)
        turn(lab)
        assert (len(service.got), known(lab)) == (2, first)
        lab.wait(EVERY_S + 1)
        turn(lab)
        assert known(lab) == {RAIN: [*first[RAIN], 4], WARMTH: [12.5, 13]}
        place = only_place(lab)
        assert (place["links"], place["problem"], place["latitude"]) == (["geo"], None, 39.47)
        assert "s3cret" not in json.dumps(lab.call("GET", "/weather"))
        assert 'downlink_weather_places{state="ok"} 1.0' in metrics(lab)


def metrics(lab: Lab) -> str:
    return generate_latest(lab.app.state.figures.registry).decode()


def test_a_start_asks_nobody_again(settings: Settings, units: UnitFactory) -> None:
    with WebReceiver([answer()]) as service:
        with a_lab(settings, units, service) as lab:
            turn(lab)
            changed = lab.app.state.settings
        with Lab(changed, units) as again:
            turn(again, 2)
        assert len(service.got) == 1
        with Lab(changed.model_copy(update={"weather_name": "another"}), units) as other:
            turn(other, 2)
        assert len(service.got) == 2, "what an admin has changed is tried at once"


@dataclass(frozen=True, slots=True)
class Dying(WeatherService):
    """The worker's process ends while the service is asked."""

    def ask(self, place: Position) -> bytes:  # noqa: ARG002 - the base class's
        raise SystemExit


def test_a_worker_that_ends_meanwhile_costs_a_period_and_no_storm(settings: Settings, units: UnitFactory) -> None:
    with WebReceiver([answer()]) as service, a_lab(settings, units, service) as lab:
        working, lab.weather = lab.weather, Dying(lab.weather.source)
        with pytest.raises(SystemExit):
            turn(lab)
        lab.weather = working
        for _ in range(3):
            lab.wait(31)
            turn(lab)
        assert service.got == [], "who starts again and again asks no more often"
        lab.wait(EVERY_S)
        turn(lab)
        assert len(service.got) == 1


def test_a_job_that_is_lost_is_sent_again_and_one_that_comes_twice_asks_once(
    settings: Settings, units: UnitFactory
) -> None:
    with WebReceiver([answer()]) as service, a_lab(settings, units, service) as lab:
        lab.tick()
        lab.work(lost="weather")
        turn(lab)
        assert service.got == [], "its job may still be in the queue"
        lab.wait(31)
        turn(lab)
        with units() as unit:
            (place,) = list_places(unit)
        weather_calls.ask(units, place.id, lab.now, lab.weather)
        assert len(service.got) == 1


def test_a_worker_without_the_settings_says_so(settings: Settings, units: UnitFactory) -> None:
    with WebReceiver() as service, a_lab(settings, units, service) as lab:
        lab.tick()
        lab.weather = None
        lab.work()
        assert only_place(lab)["problem"] == "weather_unset"


def test_links_of_one_site_are_asked_for_once_and_those_without_a_place_never(
    settings: Settings, units: UnitFactory
) -> None:
    with WebReceiver([answer(), answer()]) as service, a_lab(settings, units, service) as lab:
        lab.link("leo", latitude=39.4701, longitude=-0.3799)
        lab.link("nowhere")
        turn(lab, 3)
        assert len(service.got) == 1
        assert known(lab) == known(lab, "leo") != {}
        assert known(lab, "nowhere") == {}
        lab.link("north", latitude=60, longitude=25)
        turn(lab)
        assert len(service.got) == 2
        assert [place["links"] for place in lab.call("GET", "/weather")["places"]] == [["geo", "leo"], ["north"]]


WRONG = [
    (Answer(body=b"<html>"), "weather_unreadable"),
    (Answer(body=b'{"current": {"time": "2026-01-01T00:00Z"}}'), "weather_pointer_missing"),
    (answer("wet"), "weather_value_invalid"),
    (answer(None, None), "weather_no_value"),
    (Answer(500), "weather_status"),
    (Answer(302, location="http://169.254.169.254/latest/meta-data"), "weather_redirected"),
    (Answer(size=20 << 20), "weather_too_large"),
]


@pytest.mark.parametrize(("wrong", "code"), WRONG, ids=[code for _, code in WRONG])
def test_a_wrong_answer_is_a_problem_with_a_name_and_nothing_of_it_is_stored(
    settings: Settings, units: UnitFactory, wrong: Answer, code: str
) -> None:
    with WebReceiver([wrong, answer()]) as service, a_lab(settings, units, service) as lab:
        turn(lab, 2)
        place = only_place(lab)
        assert (place["problem"], place["taken_at"], len(service.got)) == (code, None, 1)
        assert place["detail"]
        assert known(lab) == {}
        assert 'downlink_weather_places{state="failing"} 1.0' in metrics(lab)
        lab.wait(EVERY_S + 1)
        turn(lab)
        assert (only_place(lab)["problem"], set(known(lab))) == (None, {RAIN, WARMTH})


def test_who_fails_again_and_again_is_asked_less_and_less(settings: Settings, units: UnitFactory) -> None:
    with WebReceiver([Answer(500)] * 3) as service, a_lab(settings, units, service) as lab:
        for asked, pause_min in ((1, 15), (2, 30), (3, 60)):
            turn(lab, 2)
            assert len(service.got) == asked
            place = only_place(lab)
            pause = datetime.fromisoformat(place["due_at"]) - datetime.fromisoformat(place["asked_at"])
            assert pause == timedelta(minutes=pause_min)
            lab.wait(pause_min * 60 - 60)
            turn(lab)
            assert len(service.got) == asked, "it is not asked before its time"
            lab.wait(61)


def test_a_network_that_is_not_public_needs_the_admins_word(settings: Settings, units: UnitFactory) -> None:
    with WebReceiver() as service, a_lab(settings, units, service, weather_allow="") as lab:
        turn(lab)
        assert service.got == []
        assert only_place(lab)["problem"] == "weather_address_refused"
        assert "DOWNLINK_WEATHER_ALLOW" in only_place(lab)["detail"]


def test_off_by_default_nobody_is_asked(lab: Lab) -> None:
    lab.join("client")
    lab.join("server")
    lab.link(**VALENCIA)
    with WebReceiver() as service:
        for _ in range(3):
            lab.tick()
            assert "weather" not in lab.work()
            lab.wait(EVERY_S)
        assert service.got == []
    state = lab.call("GET", "/weather")
    assert (state["is_on"], state["places"]) == (False, [])
    assert lab.call("POST", f"/links/{link_id(lab)}/weather/try", expect=409)["code"] == "weather_off"
    assert 'downlink_weather_places{state="ok"} 0.0' in metrics(lab)


def test_a_link_that_does_not_take_a_value_keeps_it_from_no_other(settings: Settings, units: UnitFactory) -> None:
    quantities = "weather.gust_m_per_s [m/s]=/current/precipitation"
    with (
        WebReceiver([answer(), answer()]) as service,
        a_lab(settings, units, service, weather_quantities=quantities) as lab,
    ):
        lab.link("leo", **VALENCIA)
        text = "time,weather.gust_m_per_s [km/h]\n2026-01-02T12:00Z,7\n"
        body = {"text": text, "source": "open data"}
        assert lab.call("POST", f"/links/{link_id(lab)}/observations/import", body)["stored"] == 1
        turn(lab)
        place = only_place(lab)
        assert place["problem"] == "observation_invalid"
        assert place["taken_at"], "the service itself does what it should"
        assert list(known(lab, "leo")) == ["weather.gust_m_per_s"]
        tried = lab.call("POST", f"/links/{link_id(lab)}/weather/try")
        assert (tried["problem"], len(tried["values"])) == ("observation_invalid", 1)


def test_it_may_be_tried_and_nothing_is_stored(settings: Settings, units: UnitFactory) -> None:
    with WebReceiver([answer(), Answer(503)]) as service, a_lab(settings, units, service) as lab:
        tried = lab.call("POST", f"/links/{link_id(lab)}/weather/try")
        assert (tried["host"], tried["problem"]) == ("127.0.0.1", None)
        assert [(each["quantity"], each["unit"], each["value"]) for each in tried["values"]] == [
            (RAIN, "mm/h", pytest.approx(1.2)),
            (WARMTH, "°C", 12.5),
        ]
        assert known(lab) == {}
        soon = lab.call("POST", f"/links/{link_id(lab)}/weather/try", expect=409)
        assert soon["code"] == "try_too_soon"
        lab.wait(6)
        failed = lab.call("POST", f"/links/{link_id(lab)}/weather/try")
        assert (failed["problem"], failed["detail"], failed["values"]) == ("weather_status", "Answered 503.", [])
        lab.wait(6)
        lab.call("PATCH", f"/links/{link_id(lab)}", {"latitude": None, "longitude": None})
        nowhere = lab.call("POST", f"/links/{link_id(lab)}/weather/try", expect=409)
        assert nowhere["code"] == "place_unknown"


def test_half_a_place_is_none(lab: Lab) -> None:
    lab.join("client")
    lab.join("server")
    link = lab.link()
    for body in ({"latitude": 3}, {"latitude": 91, "longitude": 0}):
        lab.call("PATCH", f"/links/{link['id']}", body, expect=422)
    placed = lab.call("PATCH", f"/links/{link['id']}", {"latitude": 3, "longitude": 4})
    assert (placed["latitude"], placed["longitude"]) == (3, 4)
    lab.call("PATCH", f"/links/{link['id']}", {"longitude": None}, expect=422)


def test_a_place_that_comes_back_is_not_asked_for_at_once(settings: Settings, units: UnitFactory) -> None:
    with WebReceiver([answer() for _ in range(4)]) as service, a_lab(settings, units, service) as lab:
        turn(lab)
        for latitude in (39.9, VALENCIA["latitude"], 39.9, VALENCIA["latitude"]):
            lab.call("PATCH", f"/links/{link_id(lab)}", {"latitude": latitude})
            turn(lab)
        assert len(service.got) == 2
        lab.wait(EVERY_S + 1)
        turn(lab, 2)
        assert len(service.got) == 3, "the other place has no link any more"


def test_values_of_the_service_fire_a_trigger(settings: Settings, units: UnitFactory) -> None:
    """Rain of 1.2 mm/h in two values, ten minutes apart, as the worker fetches them."""
    rain = [answer(0.3, minutes_ago=minutes) for minutes in (5, -5)]
    with WebReceiver(rain) as service, a_lab(settings, units, service, weather_every_min=10) as lab:
        agents = [lab.join("far"), lab.join("near")]
        lab.link("leo", "far", ("near",), **VALENCIA)
        turn(lab)
        when = {"quantity": RAIN, "above": 1, "for_s": 600}
        campaign = lab.launch(**ONE, links=["leo"], trigger={"when": when})
        lab.tick()
        assert "for 0 s of 600 s so far" in lab.call("GET", f"/campaigns/{campaign}/trigger")["waits"]
        assert lab.runs(campaign) == []
        lab.wait(10 * 60 + 1)
        for agent in agents:
            agent.poll()
        turn(lab)
        lab.tick()
        (run,) = lab.runs(campaign)
        assert (run["trigger"]["name"], run["trigger"]["source"]) == (f"{RAIN} above 1 for 600 s", "open data")
        assert run["trigger"]["value"] == pytest.approx(1.2)


def test_a_service_that_is_asked_each_hour_is_too_slow_for_a_trigger(settings: Settings, units: UnitFactory) -> None:
    hourly = [answer(0.3, minutes_ago=minutes) for minutes in (5, -55)]
    with WebReceiver(hourly) as service, a_lab(settings, units, service, weather_every_min=60) as lab:
        turn(lab)
        lab.wait(60 * 60 + 1)
        turn(lab)
        file = {**CAMPAIGN, **ONE, "trigger": {"when": {"quantity": RAIN, "above": 1, "for_s": 600}}}
        found = lab.call("POST", "/campaigns/preview", {"campaign": file})["conflicts"]
        (said,) = [each["message"] for each in found if each["code"] == "quantity_rare"]
        assert said.startswith(f"{RAIN} comes every 60 minutes from open data")
