"""The last line of the launcher when it cannot continue, printed at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from downlink.domain.errors import DownlinkError


@contextmanager
def saying_why(say: Callable[[str], object]) -> Iterator[None]:
    """Say the whole error where it happens; raise it with its reason alone, for a last line once all has been stopped."""
    try:
        yield
    except DownlinkError as error:
        why = reason(error)
        say(f"\n{error.message}\nStopping everything because {why}.")
        raise type(error)(error.code, f"stopped everything because {why}.", error.details) from error


def reason(error: DownlinkError) -> str:
    """An error's reason as the end of a sentence: what it names as such, else its first line."""
    named = error.details.get("reason") or error.message.splitlines()[0].rstrip(".:")
    return str(named[:1].lower() + named[1:])
