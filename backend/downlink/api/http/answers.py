"""Answers that are encoded once and sent as they are."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterable
from datetime import datetime
from itertools import chain
from typing import Any, Generic, TypeVar, get_args

import orjson
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from pydantic import GetCoreSchemaHandler
from pydantic_core.core_schema import CoreSchema

from downlink.domain.moment import moment_text
from downlink.views.body_cache import Remade

PACKING = 6
_PACKED = Remade(32)
OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_PASSTHROUGH_DATETIME
T = TypeVar("T")


class Answer(Response, Generic[T]):
    """An encoded answer of a shape, usually a dataclass of `views`. FastAPI documents the shape and sends the bytes unchecked."""

    media_type = "application/json"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler(get_args(source)[0])


def json_response(content: T, status: int = 200) -> Answer[T]:
    """orjson, numpy included: a thousand points cost a tenth of a checked model (docs/decisions)."""
    return Answer(orjson.dumps(content, default=_text, option=OPTIONS), status)


def stored_response(body: bytes) -> Answer[Any]:
    """An answer that was encoded before; its view names the shape."""
    return Answer(body)


def packed_response(request: Request, body: bytes) -> Answer[Any]:
    """JSON that many ask for: it is packed for the first of them who takes gzip, and kept.

    A day's report has megabytes, and packing took five times as long as all else of the answer.
    """
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return stored_response(body)
    packed = _PACKED.find(hashlib.sha256(body).digest(), lambda: gzip.compress(body, PACKING))
    headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Answer(packed, headers=headers)


def _text(value: object) -> str:
    """Moments as in all other answers. TypeError, which orjson asks for, for what JSON has no form of."""
    if isinstance(value, datetime):
        return moment_text(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def download(chunks: Iterable[bytes], filename: str, media_type: str) -> StreamingResponse:
    """Stream a file under a name of ours: no character of it needs quoting (RFC 6266).

    The first chunk comes before the answer begins, so that what cannot be had is refused by its name. The next one is asked
    for when the one before has gone out; a reader who stops holds what is in hand, and nothing else.
    """
    pieces = iter(chunks)
    first = [next(pieces, b"")]
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", filename).strip("-.") or "download"
    headers = {"Content-Disposition": f'attachment; filename="{safe}"', "Cache-Control": "no-store"}
    return StreamingResponse(chain(first, pieces), media_type=media_type, headers=headers)
