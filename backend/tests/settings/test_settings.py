"""Settings from outside: secrets that come apart from addresses."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from pydantic import SecretStr
from sqlalchemy import make_url

from downlink.settings import Settings
from downlink.tracestore import TraceStore

URL = SecretStr("postgresql+psycopg://downlink@db:5433/downlink?host=%2Frun%2Fpg")


@pytest.mark.parametrize("password", ["plain", "s/la@sh:and?more#%41", "ünïcode +"])
def test_a_password_of_any_characters_joins_the_databases_address(password: str) -> None:
    url = make_url(Settings(database_url=URL, database_password=SecretStr(password)).database)
    assert url.password == password
    assert (url.username, url.host, url.port, url.database) == ("downlink", "db", 5433, "downlink")
    assert url.query == {"host": "/run/pg"}


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
        ({"PORT": "http"}, "DOWNLINK_PORT: Input should be a valid integer"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anything_starts(variables: dict[str, str], sentence: str) -> None:
    wrong = {f"DOWNLINK_{name}": value for name, value in variables.items()}
    done = subprocess.run(
        [sys.executable, "-m", "downlink.main", "worker"],
        env={**os.environ, **wrong},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("downlink: DOWNLINK_")
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_prefix_ends_without_a_slash() -> None:
    keys = {"s3_access_key": SecretStr("a"), "s3_secret_key": SecretStr("b")}
    assert Settings(trace_store="s3://traces/lab/", **keys).trace_store_root == "s3://traces/lab"
    assert Settings().trace_store_root is None
