"""The real conductor and worker: what a service says reaches the database, once, and logs hold no secret."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from downlink.domain.watch import CONDUCTOR
from downlink.stack.process import wait_until
from downlink.storage.heartbeats import find_pulse
from downlink.storage.links.weather_place_store import list_places
from tests.fixtures.lab import Lab
from tests.fixtures.receivers import Answer, WebReceiver
from tests.jobs.test_processes import START_S, Processes, processes

pytestmark = [pytest.mark.verify("faults"), pytest.mark.timeout(240)]
__all__ = ["processes"]


def ticked_since(lab: Lab, moment: datetime) -> bool:
    with lab.units() as unit:
        pulse = find_pulse(unit, CONDUCTOR)
    return pulse is not None and pulse.at > moment


def test_a_service_is_asked_once_by_the_real_processes_however_often_they_start(
    lab: Lab, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.join("client")
    lab.join("server")
    link = lab.link(latitude=39.47, longitude=-0.38)
    answer = Answer(body=json.dumps({"at": datetime.now(UTC).isoformat(), "rain": 2.5}).encode())
    with WebReceiver([answer, answer, answer]) as service:
        url = f"http://127.0.0.1:{service.port}/?a={{latitude}}&b={{longitude}}&key=s3cret"
        monkeypatch.setenv("DOWNLINK_WEATHER_URL", url)
        monkeypatch.setenv("DOWNLINK_WEATHER_QUANTITIES", "weather.rain_mm_per_h=/rain")
        monkeypatch.setenv("DOWNLINK_WEATHER_TIME", "/at")
        monkeypatch.setenv("DOWNLINK_WEATHER_ALLOW", "127.0.0.0/8")
        processes.start("conductor")
        processes.start("worker")
        assert wait_until(lambda: "weather_taken" in processes.log("worker"), START_S), processes.log("worker")
        processes.kill("conductor")
        killed_at = lab.now()
        processes.start("conductor")
        assert wait_until(lambda: ticked_since(lab, killed_at), START_S), processes.log("conductor")
        with lab.units() as unit:
            (place,) = list_places(unit)
        assert (place.hinted_at, place.problem, len(service.got)) == (None, None, 1)
    (strip,) = lab.call("GET", f"/links/{link['id']}/observations")["items"]
    assert (strip["source"], [each["mean"] for each in strip["bins"]]) == ("127.0.0.1", [2.5])
    assert "s3cret" not in processes.log("worker") + processes.log("conductor")
