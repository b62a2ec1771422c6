"""Tables in the form of a spreadsheet, for whichever route has a CSV: `?spreadsheet=semicolon`."""

from __future__ import annotations

import codecs
from typing import Any
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from downlink.api.http.problems import problem
from downlink.codec.spreadsheet import DECIMALS, SEPARATORS, Spreadsheet

QUERY: list[dict[str, Any]] = [
    {
        "name": "spreadsheet",
        "in": "query",
        "required": False,
        "schema": {"type": "string", "enum": list(SEPARATORS)},
        "description": "The table as spreadsheets open it, with this separator: a byte-order mark, numbers of 15 digits, an empty cell "
        "for a slow-start threshold that was never set. Without it every digit and value is kept",
    },
    {
        "name": "decimal",
        "in": "query",
        "required": False,
        "schema": {"type": "string", "enum": list(DECIMALS)},
        "description": "Of a spreadsheet; `comma` where the separator is a semicolon, else `point`",
    },
]


class Sheets:
    """ASGI middleware: what is no CSV passes as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1")) if scope["type"] == "http" else {}
        if "spreadsheet" not in asked or not scope["path"].endswith(".csv"):
            await self._app(scope, receive, send)
            return
        try:
            sheet = Spreadsheet.of(asked["spreadsheet"][-1], asked.get("decimal", [None])[-1])
        except KeyError:
            allowed = f"spreadsheet is one of {', '.join(SEPARATORS)}, and decimal one of {', '.join(DECIMALS)}."
            await problem(422, "request_invalid", allowed)(scope, receive, send)
            return
        await self._app(scope, receive, _Sender(send, sheet))


class _Sender:
    """Writes a CSV answer again, piece by piece; others are left."""

    def __init__(self, send: Send, sheet: Spreadsheet) -> None:
        self._send, self._sheet, self._is_csv = send, sheet, False
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            self._is_csv = message["status"] == 200 and headers.get("content-type", "").startswith("text/csv")
            if self._is_csv and "content-length" in headers:
                del headers["content-length"]
        elif self._is_csv and message["type"] == "http.response.body":
            is_last = not message.get("more_body", False)
            text = self._decoder.decode(message.get("body", b""), final=is_last)
            written = await run_in_threadpool(self._sheet.feed, text, is_last=is_last)
            message = {**message, "body": written.encode()}
        await self._send(message)
