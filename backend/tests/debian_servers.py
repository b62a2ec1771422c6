"""Run a command against Debian's postgresql and redis-server, started privately and ended with it.

    python backend/tests/debian_servers.py COMMAND…

The servers live in a temporary folder, PostgreSQL on a unix socket there, Redis on a loopback port behind a password.
DOWNLINK_DATABASE_URL and DOWNLINK_REDIS_URL name them to the command.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from downlink.stack.process import Supervisor
from downlink.stack.servers import start_postgres, start_valkey


def newest_postgres() -> Path:
    """Debian keeps each version's programs in a folder of its own, outside PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
    if not found:
        sys.exit("Debian's PostgreSQL is missing. Type: sudo apt-get install postgresql")
    return found[-1]


def main(command: list[str]) -> int:
    redis = shutil.which("redis-server")
    if redis is None:
        sys.exit("Debian's Redis is missing. Type: sudo apt-get install redis-server")
    with tempfile.TemporaryDirectory(prefix="downlink-servers-") as folder, Supervisor(Path(folder)) as supervisor:
        database = start_postgres(supervisor, Path(folder) / "postgres", tools=newest_postgres())
        queue = start_valkey(supervisor, Path(folder) / "redis", server=redis)
        env = {"DOWNLINK_DATABASE_URL": database, "DOWNLINK_REDIS_URL": queue}
        print(f"PostgreSQL from {newest_postgres()}, Redis from {redis}", flush=True)
        return subprocess.run(command, env={**os.environ, **env}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
