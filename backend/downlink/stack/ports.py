"""The port that people open: the one that was asked for, or the first that is free."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from downlink.domain.errors import UnavailableError
from downlink.stack.servers import free_port, is_listening

DEFAULT_PORT = 8400
MOST_TRIES = 10
Found = TypeVar("Found")


def port_asked(port: int | None, environ: Mapping[str, str]) -> int | None:
    """The port that an option or, without one, DOWNLINK_PORT asks for."""
    named = environ.get("DOWNLINK_PORT")
    return port if port is not None or not named else int(named)


def serve_on_free_port(asked: int | None, serve: Callable[[int], Found], say: Callable[[str], object]) -> Found:
    """Serve at the port that was asked for, 0 for one of the kernel's choice; without one, at the first free one from the default on.

    serve: raises UnavailableError where it cannot. Another program may have taken the port since it was seen free: then the
    next one is tried.
    """
    if asked is not None:
        return serve(free_port(asked, tries=1))
    wanted = DEFAULT_PORT
    for _ in range(MOST_TRIES):
        port = free_port(wanted)
        try:
            return serve(port)
        except UnavailableError:
            if not is_listening(port):
                raise
        say(f"Another program has taken port {port} meanwhile; trying the next one …")
        wanted = port + 1
    raise UnavailableError(
        "no_free_port", f"other programs took {MOST_TRIES} ports one after the other; ask for one with --port"
    )
