"""The processes of the server. Here they begin without the client's commands, which an idle one would hold in memory."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from downlink.domain.errors import (
    ConflictError,
    DeniedError,
    DownlinkError,
    InvalidError,
    NotFoundError,
    UnavailableError,
)
from downlink.domain.text import without_controls

if TYPE_CHECKING:
    from downlink.process.settings import Settings

if __name__ == "__main__":
    sys.modules["rich"] = None  # type: ignore[assignment]  # structlog and httpx load it where they find it: 6 MB for terminals

EXIT_STATUS: dict[type[DownlinkError], int] = {
    InvalidError: 2,
    DeniedError: 3,
    NotFoundError: 4,
    ConflictError: 5,
    UnavailableError: 6,
}


def read_settings(**named: str) -> Settings:
    """Read the environment. InvalidError names the variables that are wrong, and why."""
    from downlink.process.settings import Settings

    try:
        return Settings(**named)  # type: ignore[arg-type]
    except ValueError as error:
        raise InvalidError("settings_invalid", _sentences(error)) from error


def _sentences(error: ValueError) -> str:
    """Return a validation's messages, with the variables' names and without their values, which may be secrets."""
    from downlink.codec.wording import fault_of

    if not hasattr(error, "errors"):
        return f"{error}."
    faults = [("_".join(map(str, each["loc"])), fault_of(each)) for each in error.errors()]
    return "\n".join(f"DOWNLINK_{name.upper()}: {fault}." if name else f"{fault}." for name, fault in faults)


def _await_launcher() -> None:
    """The launcher starts its services while it prepares their database, so that they load meanwhile; then it lets go of a lock."""
    if file := os.environ.get("DOWNLINK_AFTER"):
        with Path(file).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)


def _leave() -> NoReturn:
    """End at once: all is closed, and to take a large interpreter apart takes longer than that."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _started(part: str) -> Settings:
    """Read the settings and start spans for a process of the server. Spans come before the rooms: these take the libraries' functions
    as they are then."""
    from downlink.process.spans import start_spans

    settings = read_settings()
    start_spans(settings, part)
    return settings


def api() -> None:
    """Serve until SIGTERM or SIGINT."""
    settings = _started("api")
    from downlink.api.server import serve

    _await_launcher()
    serve(settings)


def worker(concurrency: int = 2) -> None:
    """Carry out jobs until SIGTERM or SIGINT, so many at a time."""
    settings = _started("worker")
    from downlink.jobs.worker import run_worker

    _await_launcher()
    run_worker(settings, concurrency)
    _leave()


def conductor() -> None:
    """Tick until SIGTERM or SIGINT."""
    settings = _started("conductor")
    from downlink.jobs.conduct import run_conductor

    _await_launcher()
    run_conductor(settings)
    _leave()


def run(command: Callable[[], object], program: str = "downlink") -> None:
    """Run a program: expected failures become a sentence on standard error and an exit status (docs/cli.md)."""
    try:
        command()
    except DownlinkError as error:
        print(without_controls(f"{program}: {error.message}", but="\n\t"), file=sys.stderr)
        sys.exit(EXIT_STATUS.get(type(error), 1))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run({"api": api, "worker": worker, "conductor": conductor}[sys.argv[1]])
