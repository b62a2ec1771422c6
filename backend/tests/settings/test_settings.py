"""Settings from outside: secrets that come apart from addresses."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from kombu import Connection
from pydantic import SecretStr
from sqlalchemy import make_url

from downlink.domain.links.weather_source import Position
from downlink.main import run
from downlink.process.settings import Settings
from downlink.storage.traces.objects import TraceStore

PLACED = "https://a.example/?a={latitude}&b={longitude}&key=hunter2"
URL = SecretStr("postgresql+psycopg://downlink@db:5433/downlink?host=%2Frun%2Fpg")


@pytest.mark.parametrize("password", ["plain", "s/la@sh:and?more#%41", "ünïcode +"])
def test_a_password_of_any_characters_joins_the_databases_address(password: str) -> None:
    url = make_url(Settings(database_url=URL, database_password=SecretStr(password)).database)
    assert url.password == password
    assert (url.username, url.host, url.port, url.database) == ("downlink", "db", 5433, "downlink")
    assert url.query == {"host": "/run/pg"}


@pytest.mark.parametrize("password", ["plain", "s/la@sh:and?more#%41"])
def test_the_queues_password_joins_its_address(password: str) -> None:
    settings = Settings(redis_url=SecretStr("redis://redis:6379/0"), redis_password=SecretStr(password))
    assert (
        Connection(settings.queue).as_uri()
        == Connection(hostname="redis", password=password, transport="redis", port=6379, virtual_host="0").as_uri()
    )
    assert Settings(redis_url=SecretStr("redis://redis:6379/0")).queue == "redis://redis:6379/0"


def test_a_secret_may_be_in_a_file_that_a_variable_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "smtp").write_text("hunter2\n")
    monkeypatch.setenv("DOWNLINK_SMTP_PASSWORD_FILE", str(tmp_path / "smtp"))
    (tmp_path / "port").write_text("8123\n")
    monkeypatch.setenv("DOWNLINK_PORT_FILE", str(tmp_path / "port"))
    settings = Settings()
    assert settings.smtp_password == SecretStr("hunter2")
    assert settings.port == 8123


def test_without_a_password_the_address_is_as_given() -> None:
    assert Settings(database_url=URL).database == URL.get_secret_value()


def test_no_secret_is_shown() -> None:
    assert "hunter2" not in repr(Settings(database_url=URL, database_password=SecretStr("hunter2")))
    keys = {"s3_access_key": SecretStr("hunter2"), "s3_secret_key": SecretStr("hunter2")}
    settings = Settings(trace_store="s3://traces", **keys)
    assert "hunter2" not in repr(settings) + repr(TraceStore.of(settings))


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"TRACE_STORE": "s3://traces/lab"}, "names an S3 store: set DOWNLINK_S3_ACCESS_KEY and DOWNLINK_S3_SECRET_KEY too."),
        ({"TRACE_STORE": "/srv/traces"}, "DOWNLINK_TRACE_STORE must be `database` or s3://bucket/prefix."),
        ({"TRACE_STORE": "s3://"}, "DOWNLINK_TRACE_STORE must be `database` or s3://bucket/prefix."),
        ({"S3_ENDPOINT": "minio:9000"}, "DOWNLINK_S3_ENDPOINT must be https://host[:port]."),
        ({"SMTP_PASSWORD_FILE": "/no/such/file"}, "names /no/such/file, which cannot be read: No such file or directory."),
        ({"SMTP_PASSWORD_FILE": "/dev/zero"}, "which holds more than 65536 characters."),
        ({"PORT": "80", "PORT_FILE": "/etc/hostname"}, "DOWNLINK_PORT and DOWNLINK_PORT_FILE are both set: set one of them."),
        ({"SECURITY_CONTACT": "me@lab.example"}, "DOWNLINK_SECURITY_CONTACT must be https://… or mailto:name@host."),
        ({"WEATHER_URL": "https://a.example/?key=hunter2"}, "DOWNLINK_WEATHER_URL must begin with https:// and hold {latitude}"),
        ({"WEATHER_URL": PLACED}, "DOWNLINK_WEATHER_TIME: '' is no JSON pointer"),
        ({"WEATHER_URL": PLACED, "WEATHER_TIME": "/t"}, "DOWNLINK_WEATHER_QUANTITIES must name 1 to 50 quantities"),
        ({"WEATHER_EVERY_MIN": "4"}, "DOWNLINK_WEATHER_EVERY_MIN: must be at least 5."),
        ({"WEATHER_ALLOW": "lab"}, "DOWNLINK_WEATHER_ALLOW must be networks like 10.0.0.0/8, comma separated."),
        ({"PORT": "http"}, "DOWNLINK_PORT: must be a whole number."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anything_starts(
    variables: dict[str, str], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"DOWNLINK_{name}", value)
    monkeypatch.setattr(sys, "argv", ["downlink", "worker"])
    with pytest.raises(SystemExit) as ended:
        run()
    assert_refused(ended.value.code, *capsys.readouterr(), sentence)


def test_a_process_ends_at_once_with_what_is_wrong() -> None:
    command, wrong = [sys.executable, "-m", "downlink.main", "worker"], {"DOWNLINK_S3_ENDPOINT": "minio:9000"}
    done = subprocess.run(command, env={**os.environ, **wrong}, capture_output=True, text=True, check=False)
    assert_refused(done.returncode, done.stdout, done.stderr, "DOWNLINK_S3_ENDPOINT must be https://host[:port].")


def assert_refused(status: object, out: str, error: str, sentence: str) -> None:
    assert (status, out) == (2, "")
    assert error.startswith("downlink: DOWNLINK_")
    assert sentence in error
    assert "hunter2" not in error
    assert len(error.splitlines()) == 1


def test_a_prefix_ends_without_a_slash() -> None:
    keys = {"s3_access_key": SecretStr("a"), "s3_secret_key": SecretStr("b")}
    assert Settings(trace_store="s3://traces/lab/", **keys).trace_store_root == "s3://traces/lab"
    assert Settings().trace_store_root is None


def test_a_weather_service_is_off_unless_it_is_named_and_its_address_is_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Settings().weather_source is None
    (tmp_path / "url").write_text(f"{PLACED}\n")
    monkeypatch.setenv("DOWNLINK_WEATHER_URL_FILE", str(tmp_path / "url"))
    monkeypatch.setenv("DOWNLINK_WEATHER_TIME", "/now/time")
    monkeypatch.setenv("DOWNLINK_WEATHER_QUANTITIES", "weather.rain_mm_per_h=/now/rain")
    settings = Settings()
    assert "hunter2" not in repr(settings)
    source = settings.weather_source
    assert source is not None
    assert (source.name, source.every) == ("a.example", timedelta(minutes=15))
    assert source.url_of(Position(1, 2)) == "https://a.example/?a=1.00&b=2.00&key=hunter2"
