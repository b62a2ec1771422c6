"""One machine's stack in order: servers, tables, api, conductor, worker; and the address and token to reach it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import typer

from downlink.domain.errors import ConflictError, UnavailableError
from downlink.stack.ending import saying_why
from downlink.stack.ports import port_asked, serve_on_free_port
from downlink.stack.process import Kind, Program, Supervisor
from downlink.stack.servers import socket_folder, start_postgres, start_valkey

SERVICES = ("api", "conductor", "worker")
ACCESS_FILE = "env"
AGENT_FILES = Path("agents/bin")


@dataclass(frozen=True)
class Stack:
    """A running stack. env: what its processes were started with. setup_link: where the admin is made, while there is none."""

    supervisor: Supervisor
    address: str
    token: str
    env: Mapping[str, str]
    setup_link: str | None

    @property
    def home(self) -> Path:
        return self.supervisor.home

    @property
    def socket(self) -> Path:
        """The api's unix socket, for agents that share no network with it."""
        return Path(self.env["DOWNLINK_UDS"])


@contextlib.contextmanager
def running(home: Path, dashboard: Path | None, port: int | None = None) -> Iterator[Stack]:
    """Start everything under `home`, yield it, and stop it in reverse order whatever happens.

    port: where the api listens, and nowhere else; None: what DOWNLINK_PORT says, else the first free port from 8400 on.
    """
    typer.echo(f"Starting Downlink; data and logs are in {os.path.relpath(home)} …")
    home = home.resolve()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _only_one(home), Supervisor(home) as supervisor, saying_why(typer.echo):
        servers = _servers(supervisor)
        yield serve_on_free_port(
            port_asked(port, os.environ),
            lambda free: _serve(
                supervisor, {**servers, **_api_settings(home, free, dashboard)}, f"http://127.0.0.1:{free}"
            ),
            typer.echo,
        )


def _serve(supervisor: Supervisor, env: Mapping[str, str], address: str) -> Stack:
    """Start the services and wait until they answer. When they do not, they are stopped."""
    known = _known_token(supervisor.home / ACCESS_FILE)
    try:
        with _held(Path(env["DOWNLINK_AFTER"])):
            for name in SERVICES:
                start_service(supervisor, env, name)
            prepared = json.loads(command(env, "prepare", *(() if known else ("--token",))))
        with own_client(env["DOWNLINK_UDS"]) as api:
            supervisor.wait_ready("api", lambda: _is_ready(api), timeout_s=60)
            is_accepted = _is_accepted(api, known or prepared["token"])
    except UnavailableError:
        for name in set(SERVICES) & set(supervisor.names()):
            supervisor.stop(name)
        raise
    token = (known or prepared["token"]) if is_accepted else _new_token(env)
    _write_access(supervisor.home / ACCESS_FILE, env, address, token)
    return Stack(supervisor, address, token, env, prepared["setup_link"])


@contextlib.contextmanager
def _held(file: Path) -> Iterator[None]:
    """Services that were told to begin after this file load, and wait until it is let go."""
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def start_service(supervisor: Supervisor, env: Mapping[str, str], name: str) -> None:
    """Start one of SERVICES with these settings."""
    command = [sys.executable, "-P", "-m", "downlink.services", name]
    supervisor.start(Program(name, command, env, group="services", kind=Kind.SERVICE))


def command(env: Mapping[str, str], *arguments: str) -> str:
    """Run a `downlink` command to its end with the stack's settings; answer what it printed."""
    done = subprocess.run(
        [_executable(), *arguments], env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise UnavailableError("command_failed", f"`downlink {' '.join(arguments)}` failed:\n{done.stderr.strip()}")
    return done.stdout.strip()


def stop_signals_interrupt() -> None:
    """Let SIGTERM and SIGHUP end the launcher the way Ctrl-C does: through its tidy-up."""

    def interrupt(*_: object) -> None:
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(sig, signal.SIG_IGN)  # the tidy-up is bounded in time; do not break it off half-way
        raise KeyboardInterrupt

    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, interrupt)


def _executable() -> str:
    return str(Path(sys.executable).with_name("downlink"))


@contextlib.contextmanager
def _only_one(home: Path) -> Iterator[None]:
    with (home / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConflictError(
                "already_running", f"A stack is already running on {home}; stop it first (Ctrl-C where it was started)."
            ) from None
        yield


def named_database(environ: Mapping[str, str], home: Path) -> str | None:
    """The one to use instead of a private one. A shell that has read this home's access file names the private one itself."""
    url = environ.get("DOWNLINK_DATABASE_URL", "")
    is_private = parse_qs(urlsplit(url).query).get("host") == [str(socket_folder(home))]
    return url if url and not is_private else None


def _servers(supervisor: Supervisor) -> dict[str, str]:
    """The database and the queue: those the environment names, else private ones."""
    database = named_database(os.environ, supervisor.home) or start_postgres(supervisor, supervisor.home / "postgres")
    queue = os.environ.get("DOWNLINK_REDIS_URL") or start_valkey(supervisor, supervisor.home / "valkey")
    return {"DOWNLINK_DATABASE_URL": database, "DOWNLINK_REDIS_URL": queue}


def _api_settings(home: Path, port: int, dashboard: Path | None) -> dict[str, str]:
    settings = {
        "DOWNLINK_HOST": "127.0.0.1",
        "DOWNLINK_PORT": str(port),
        "DOWNLINK_UDS": str(socket_folder(home) / "api.sock"),
        "DOWNLINK_AFTER": str(home / "preparing"),
    }
    if "DOWNLINK_DISKS" not in os.environ:
        settings["DOWNLINK_DISKS"] = str(home.resolve())
    if dashboard and (dashboard / "index.html").exists():
        settings["DOWNLINK_DASHBOARD_DIR"] = str(dashboard.resolve())
    if AGENT_FILES.parent.is_dir():  # in a checkout; what is built into it later is offered too
        settings["DOWNLINK_AGENT_DIR"] = str(AGENT_FILES.resolve())
    return settings


def own_client(socket: str, timeout_s: float = 5) -> httpx.Client:
    """Through our own socket, not by port: that may have gone to another stack that started at the same moment."""
    return httpx.Client(
        transport=httpx.HTTPTransport(verify=False, uds=socket), base_url="http://api", timeout=timeout_s
    )


def _is_ready(api: httpx.Client) -> bool:
    try:
        return api.get("/readyz").status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def _is_accepted(api: httpx.Client, token: str) -> bool:
    answer = api.get("/api/v1/session", headers={"Authorization": f"Bearer {token}"})
    return answer.status_code == httpx.codes.OK and "admin" in answer.json()["scopes"]


def _new_token(env: Mapping[str, str]) -> str:
    """Create a token, to replace one that expired or whose database is gone."""
    return command(env, "token", "create", "launcher", "--admin", "--days", "365")


def _write_access(file: Path, env: Mapping[str, str], address: str, token: str) -> None:
    """Write the file with which people and commands reach this stack; only this user may read it."""
    with contextlib.suppress(FileNotFoundError):
        file.unlink()
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as out:
        out.write(f"DOWNLINK_SERVER={address}\nDOWNLINK_TOKEN={token}\n")
        # for the server's own commands, such as setup-link
        out.write(f"DOWNLINK_BASE_URL={address}\nDOWNLINK_DATABASE_URL={env['DOWNLINK_DATABASE_URL']}\n")


def _known_token(file: Path) -> str | None:
    if not file.exists():
        return None
    pairs = dict(line.split("=", 1) for line in file.read_text().splitlines() if "=" in line)
    return pairs.get("DOWNLINK_TOKEN")
