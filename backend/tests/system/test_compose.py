"""The compose file by its own client, and its queue by Debian's Redis. No container engine is here: nothing is built or started."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from downlink.stack.process import Program, Supervisor, wait_until
from downlink.stack.servers import free_port
from tests.stack.test_containers import services
from tests.system.conftest import ROOT

pytestmark = pytest.mark.verify("packages")


def test_the_queues_command_asks_for_its_password(supervisor: Supervisor, tmp_path: Path) -> None:
    """By the program that runs here: the compose file's own command and health check, with their paths in this folder."""
    port, folder = free_port(), tmp_path / "redis"
    folder.mkdir()
    (folder / "downlink_redis_password").write_text("s3cret-of-letters\n")
    programs = {
        "valkey-server": f'redis-server "$@" --bind 127.0.0.1 --port {port}',
        "valkey-cli": f'redis-cli -p {port} "$@"',
    }
    for name, line in programs.items():
        (folder / name).write_text(f"#!/bin/sh\nexec {line}\n")
        (folder / name).chmod(0o755)

    def here(line: str) -> str:
        return line.replace("$$", "$").replace("/run/secrets/", f"{folder}/").replace("/data/", f"{folder}/")

    redis = services()["redis"]
    path = {"PATH": f"{folder}:{os.environ['PATH']}"}
    supervisor.start(Program("queue-of-compose", [here(word) for word in redis["command"]], env=path))
    check = here(redis["healthcheck"]["test"][1])
    env = {**os.environ, **path}
    assert wait_until(lambda: subprocess.run(["sh", "-c", check], env=env, check=False).returncode == 0, 30, step_s=0.2)
    refused = subprocess.run([str(folder / "valkey-cli"), "ping"], capture_output=True, text=True, check=True)
    assert "NOAUTH" in refused.stdout
    listed = Path(f"/proc/{supervisor.pid('queue-of-compose')}/cmdline").read_text()
    assert "s3cret" not in listed
    supervisor.stop("queue-of-compose")


def test_the_compose_file_follows_its_schema(tmp_path: Path) -> None:
    done = subprocess.run(
        ["docker-compose", "-f", str(ROOT / "docker-compose.yml"), "config", "-q"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
