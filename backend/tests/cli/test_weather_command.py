"""`downlink weather try` and `places`, and places of links, against the API itself."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr
from typer.testing import CliRunner, Result

from downlink.cli import links, weather
from downlink.cli.client import Access, Client
from downlink.domain.errors import ConflictError, DownlinkError, InvalidError, UnavailableError
from downlink.main import app
from tests.fixtures.lab import Lab
from tests.fixtures.receivers import Answer, WebReceiver


@pytest.fixture(autouse=True)
def client(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Client:
    found = Client(Access("http://testserver", lab.token), lab.client._transport)
    for part in (links, weather):
        monkeypatch.setattr(part, "connect", lambda: found)
    lab.join("client")
    lab.join("server")
    lab.link()
    return found


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, [*arguments])
    if isinstance(result.exception, DownlinkError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def name_service(lab: Lab, service: WebReceiver) -> None:
    said = {
        "weather_url": SecretStr(f"http://127.0.0.1:{service.port}/?a={{latitude}}&b={{longitude}}&key=s3cret"),
        "weather_quantities": "weather.rain_mm_per_h=/rain",
        "weather_time": "/at",
        "weather_name": "open data",
        "weather_allow": "127.0.0.0/8",
    }
    lab.app.state.settings = lab.app.state.settings.model_copy(update=said)


def test_a_long_file_goes_in_parts_and_a_refusal_names_its_own_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weather, "PART_CHARACTERS", 200)
    begin = datetime(2026, 1, 2, tzinfo=UTC)
    lines = [f"{(begin + timedelta(minutes=minute)).isoformat()},{minute}" for minute in range(60)]
    lines[20:40] = [line.partition(",")[0] + ",NA" for line in lines[20:40]]
    file = tmp_path / "roof.csv"

    def take(text: list[str]) -> str:
        file.write_text("\n".join(["time,weather.rain_mm_per_h", *text]))
        return run("weather", "import", str(file), "--link", "geo").stdout

    assert take(lines) == "40 values, 40 of them new.\n"
    with pytest.raises(InvalidError, match=r"Line 52, weather\.rain_mm_per_h: "):
        take(["2026-01-01T00:00Z,9", *lines[1:50], "2026-01-02T00:50Z,-999", *lines[51:]])
    changed = ["2026-01-01T00:00Z,9", *lines[1:5], lines[5].replace(",5", ",6"), *lines[6:]]
    assert take(changed) == (  # nothing of the refused file was stored
        "40 values, 1 of them new. 1 differ from what is stored for their moments, which stays.\n"
    )
    ahead = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    refused = r"in the future; .* 2 values of lines before were stored; the same command again is safe\."
    with pytest.raises(InvalidError, match=refused):
        take(["2026-01-01T00:01Z,9", *lines[1:50], "2026-01-01T00:02Z,9", *lines, f"{ahead},1"])
    with pytest.raises(InvalidError, match="No line"):
        take(lines[20:40])


def test_a_row_that_cannot_be_read_is_noted_and_strict_refuses_it(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "roof.csv"
    file.write_text("time,weather.rain_mm_per_h\n2026-01-02T00:00Z,1\n2026-01-02T00:10Z,2\n2026-01-02T00:2")
    asked = ("weather", "import", str(file), "--link", "geo")
    with pytest.raises(InvalidError, match="Line 4: '2026-01-02T00:2' is not a time"):
        run(*asked, "--strict")
    done = run(*asked)
    assert done.stdout == "2 values, 2 of them new.\n"
    assert "Left out: 1 that cannot be read. line 4: '2026-01-02T00:2' is not a time" in done.stderr.replace("\n", " ")


def test_what_a_file_says_as_a_whole_holds_for_each_part_of_it(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weather, "PART_CHARACTERS", 120)
    link = lab.call("GET", "/links")["items"][0]["id"]
    local = [f"2026-10-25 0{hour}:30,{value}" for value, hour in enumerate((1, 2, 2, 3, 4))]
    rows = "\n".join(["# Time zone: Europe/Madrid", "time,Gust", *local, "time,daily", "2026-10-25,9"])
    file = tmp_path / "roof.csv"
    file.write_text(rows)
    done = run("weather", "import", str(file), "--link", "geo", "--column", "Gust=weather.gust [a;b]")
    assert done.stdout == "5 values, 5 of them new.\n"
    assert "another table" in done.stderr.replace("\n", " ")
    found = lab.call("GET", f"/links/{link}/observations?from_at=2026-10-24T00:00Z&to_at=2026-10-26T00:00Z&points=2000")
    assert [(each["at"][11:16], each["mean"]) for each in found["items"][0]["bins"]] == [
        ("23:30", 0), ("00:30", 1), ("01:30", 2), ("02:30", 3), ("03:30", 4),
    ]  # fmt: skip
    assert found["items"][0]["unit"] == "a;b"


def test_a_time_zone_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    (tmp_path / "roof.csv").write_text("time,weather.rain_mm_per_h\n2026-01-02 00:00,1\n")
    with pytest.raises(InvalidError, match="There is no time zone Mars"):
        run("weather", "import", str(tmp_path / "roof.csv"), "--link", "geo", "--time-zone", "Mars")


def test_a_link_gets_a_place_and_the_service_is_tried_for_it(lab: Lab) -> None:
    assert "names one with DOWNLINK_WEATHER_URL" in run("weather", "places").stderr
    at = datetime.now(UTC).replace(microsecond=0)
    with WebReceiver([Answer(body=json.dumps({"at": at.isoformat(), "rain": 2.5}).encode()), Answer(500)]) as service:
        name_service(lab, service)
        assert "No link has a place" in run("weather", "places").stderr
        with pytest.raises(ConflictError, match="where geo is"):
            run("weather", "try", "--link", "geo")
        run("links", "change", "geo", "--latitude", "39.4699", "--longitude", "-0.3763")
        said = run("weather", "try", "--link", "geo").stdout.splitlines()
        assert said[1].split("\t") == [
            "weather.rain_mm_per_h", "2.5", "mm/h", "open data", at.strftime("%Y-%m-%d %H:%M:%SZ"),
        ]  # fmt: skip
        lab.wait(6)
        with pytest.raises(UnavailableError, match=r"127\.0\.0\.1: Answered 500\. \(weather_status\)"):
            run("weather", "try", "--link", "geo")
    (place,) = [line.split("\t") for line in run("weather", "places").stdout.splitlines()][1:]
    assert place[:3] == ["39.47", "-0.38", "geo"]
    assert "s3cret" not in run("weather", "places", "--json").stdout


def test_a_place_is_changed_and_taken_away(lab: Lab) -> None:
    run("links", "change", "geo", "--latitude", "0", "--longitude", "0")
    (link,) = lab.call("GET", "/links")["items"]
    assert (link["latitude"], link["longitude"]) == (0, 0)
    with pytest.raises(InvalidError):
        run("links", "change", "geo", "--latitude", "1", "--no-place")
    run("links", "change", "geo", "--no-place")
    (link,) = lab.call("GET", "/links")["items"]
    assert (link["latitude"], link["longitude"]) == (None, None)
