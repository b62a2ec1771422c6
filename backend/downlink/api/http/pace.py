"""Time limits of a body: no pause beyond a limit, and a least speed in all."""

from __future__ import annotations

import asyncio

from starlette.types import Message, Receive

from downlink.domain.errors import DeniedError, UnavailableError

LEAST_BYTES_S = 8 * 1024
"""Slower than any link that measurements run over; a body of 1 MiB has two minutes."""


class Pace:
    """The time that one body has: `stalled_s` for each pause, and for all pauses so much and a second per LEAST_BYTES_S that came.

    Only waiting for the sender counts, not what the server does with a piece.
    """

    def __init__(self, stalled_s: float) -> None:
        self._stalled_s = stalled_s
        self._left_s = stalled_s
        self._timeout: asyncio.Timeout | None = None
        self._is_given_up = False

    async def receive(self, receive: Receive) -> Message:
        """Wait for the next piece. DeniedError `body_too_slow` (408) when the time is over, UnavailableError `busy` when given up."""
        now = asyncio.get_running_loop().time
        began_s = now()
        try:
            async with asyncio.timeout(0 if self._is_given_up else min(self._stalled_s, self._left_s)) as self._timeout:
                message = await receive()
        except TimeoutError as error:
            raise self._refusal() from error
        finally:
            self._timeout = None
        self._left_s += len(message.get("body", b"")) / LEAST_BYTES_S - (now() - began_s)
        return message

    def give_up(self) -> None:
        """End the reading at once: somebody else needs the room."""
        self._is_given_up = True
        if self._timeout:
            self._timeout.reschedule(0)

    def _refusal(self) -> DeniedError | UnavailableError:
        if self._is_given_up:
            return UnavailableError("busy", "Too much is being sent at once; try again.")
        return DeniedError("body_too_slow", "The body did not come in time; send it again.")
