"""The private servers start as root and as anyone else, keep their data, and are closed to others."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest
import redis
from sqlalchemy import create_engine, text

from downlink.domain.errors import UnavailableError
from downlink.stack.launcher import named_database
from downlink.stack.process import Supervisor
from downlink.stack.servers import free_port, is_listening, start_postgres, start_valkey


def test_postgres_keeps_its_data_from_one_start_to_the_next(tmp_path: Path) -> None:
    for expected in (1, 2):
        with Supervisor(tmp_path / "home") as supervisor:
            engine = create_engine(start_postgres(supervisor, tmp_path / "data"))
            with engine.begin() as connection:
                connection.execute(text("create table if not exists visit (at timestamptz default now())"))
                connection.execute(text("insert into visit default values"))
                assert connection.scalar(text("select count(*) from visit")) == expected
            engine.dispose()


def test_a_folder_of_another_major_version_is_named_with_the_way_to_move_and_left_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "PG_VERSION").write_text("15\n")
    with Supervisor(tmp_path / "home") as supervisor, pytest.raises(UnavailableError) as refusal:
        start_postgres(supervisor, data)
    assert refusal.value.code == "postgres_version"
    for part in ("made by PostgreSQL 15", "downlink backup FOLDER", "downlink restore FOLDER"):
        assert part in refusal.value.message
    assert [each.name for each in data.iterdir()] == ["PG_VERSION"]


def test_postgres_guards_its_socket_with_a_folder_of_its_own(tmp_path: Path) -> None:
    with Supervisor(tmp_path / "home") as supervisor:
        start_postgres(supervisor, tmp_path / "data")
        assert (tmp_path / "home" / "run").stat().st_mode & 0o077 == 0


def test_a_shell_that_read_the_access_file_starts_the_same_private_database(tmp_path: Path) -> None:
    own = tmp_path / "home"
    with Supervisor(own) as supervisor:
        url = start_postgres(supervisor, tmp_path / "data")
    another = "postgresql+psycopg://lab@db.example/lab"
    found = [named_database(environ, own) for environ in ({}, {"DOWNLINK_DATABASE_URL": url})]
    assert found == [None, None]
    for other in (another, f"{url}s/another"):
        assert named_database({"DOWNLINK_DATABASE_URL": other}, own) == other


def test_valkey_refuses_who_does_not_know_the_password(tmp_path: Path) -> None:
    with Supervisor(tmp_path / "home") as supervisor:
        url = start_valkey(supervisor, tmp_path / "data")
        assert redis.Redis.from_url(url).ping()
        port = int(url.rsplit(":", 1)[1].split("/")[0])
        with pytest.raises(redis.exceptions.AuthenticationError):
            redis.Redis(port=port).ping()
        assert url.split(":")[2].split("@")[0] not in subprocess.check_output(["ps", "axww", "-o", "args"], text=True)
    assert not is_listening(port)


def test_a_taken_port_is_passed_over_or_named() -> None:
    taken = free_port()
    with socket.create_server(("127.0.0.1", taken)):
        assert free_port(taken) > taken
        with pytest.raises(UnavailableError, match="DOWNLINK_PORT"):
            free_port(taken, tries=1)
