"""Reading a request's body without trusting its size."""

from __future__ import annotations

from fastapi import Request

from downlink.domain.errors import InvalidError


class TooLargeError(InvalidError):
    """The body is larger than is taken here."""


async def read_bounded(request: Request, limit: int) -> bytes:
    """The body; TooLargeError as soon as it, or what it announces, is over the limit."""
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limit:
        raise _too_large(limit)
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > limit:
            raise _too_large(limit)
    return bytes(body)


def _too_large(limit: int) -> TooLargeError:
    return TooLargeError("body_too_large", f"At most {limit} bytes are taken here.")
