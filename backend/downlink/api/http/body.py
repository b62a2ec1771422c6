"""Reading a request's body without trusting its size."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from fastapi import Request
from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser

from downlink.api.http.pot import Held
from downlink.domain.errors import InvalidError

MAX_FIELDS = 16


class TooLargeError(InvalidError):
    """The body is larger than is taken here."""


async def read_held(request: Request, limit: int, held: Held) -> bytes:
    """Read the body, counting what it holds. TooLargeError as soon as it, or what it announces, is over the limit."""
    pieces = list[bytes]()
    try:
        async for piece in bounded_stream(request, limit):
            held.grow(len(piece))
            pieces.append(piece)
        held.is_whole = True
        return b"".join(pieces)
    finally:
        pieces.clear()  # an error remembers this frame for as long as its answer takes to leave


async def read_form(request: Request, limit: int, max_files: int) -> FormData:
    """A multipart form, its files on disk; to be closed by the caller.

    Raises TooLargeError like read_bounded, and InvalidError `form_unreadable` for anything that is no such form.
    """
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise InvalidError("form_unreadable", "Send the files as multipart/form-data.")
    stream = bounded_stream(request, limit)
    try:
        return await MultiPartParser(request.headers, stream, max_files=max_files, max_fields=MAX_FIELDS).parse()
    except MultiPartException as error:
        raise InvalidError("form_unreadable", f"This form cannot be read: {error.message}") from error


async def bounded_stream(request: Request, limit: int) -> AsyncGenerator[bytes, None]:
    """The body's pieces; TooLargeError as soon as they, or what is announced, are over the limit."""
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limit:
        raise _too_large(limit)
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > limit:
            raise _too_large(limit)
        yield piece


def _too_large(limit: int) -> TooLargeError:
    return TooLargeError("body_too_large", f"At most {limit} bytes are accepted here.")
