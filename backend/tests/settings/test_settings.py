"""Settings from outside: secrets that come apart from addresses."""

from __future__ import annotations

import pytest
from pydantic import SecretStr
from sqlalchemy import make_url

from downlink.settings import Settings

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
