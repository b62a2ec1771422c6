"""Every error as the one problem shape, with a fitting status."""

from __future__ import annotations

import json
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from downlink.api.http.body import TooLargeError
from downlink.codec.wording import fault_of
from downlink.domain.errors import (
    ConflictError,
    DeniedError,
    DownlinkError,
    InvalidError,
    NotFoundError,
    UnavailableError,
)

_STATUS: dict[type[DownlinkError], int] = {
    TooLargeError: 413,
    InvalidError: 422,
    NotFoundError: 404,
    ConflictError: 409,
    DeniedError: 403,
    UnavailableError: 503,
}
# Not known at all, rather than known and not allowed.
_UNKNOWN_CALLER = frozenset(
    {"not_signed_in", "session_ended", "token_wrong", "login_wrong", "agent_unknown", "share_ended", "not_signed"}
)
_BY_CODE = {
    **dict.fromkeys(_UNKNOWN_CALLER, 401),
    "too_many_tries": 429,
    "too_many_open": 429,
    "too_many_requests": 429,
    "body_too_slow": 408,
    "caller_gone": 408,
    "disk_full": 507,
    "agent_too_old": 426,
    "agent_too_new": 426,
}
_HTTP_SAYS = {
    400: ("request_unreadable", "The request cannot be read."),
    404: ("not_found", "There is nothing at this address."),
    405: ("method_not_allowed", "This address does not take this method."),
}
MAX_PROBLEMS = 20  # a body of a thousand wrong things is not answered by as many sentences
log = structlog.get_logger()


def problem(
    status: int, code: str, message: str, details: Any = None, headers: dict[str, str] | None = None
) -> JSONResponse:
    return _AsciiResponse({"code": code, "message": message, "details": details or {}}, status, headers)


class _AsciiResponse(JSONResponse):
    """An error may quote what was sent: half a surrogate pair has no encoding, but an escape."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content).encode()


def status_of(error: DownlinkError) -> int:
    """The HTTP status that fits."""
    return _BY_CODE.get(error.code) or next(code for kind, code in _STATUS.items() if isinstance(error, kind))


def answer_to(error: DownlinkError) -> JSONResponse:
    """Return the answer that tells this error, for what answers before the application does."""
    status = status_of(error)
    return problem(status, error.code, error.message, error.details, _headers(status, error))


def add_problem_handlers(app: FastAPI) -> None:
    """Register a handler for each kind of error, the last for whatever is left."""

    @app.exception_handler(DownlinkError)
    async def expected(_request: Request, error: DownlinkError) -> JSONResponse:
        return answer_to(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> JSONResponse:
        errors = error.errors()[:MAX_PROBLEMS]
        faults = [{"place": ".".join(map(str, item["loc"])), "message": fault_of(item)} for item in errors]
        if any(item["type"] == "json_invalid" for item in errors):
            return problem(400, "request_unreadable", "The body is not JSON.", {"problems": faults})
        first = faults[0]
        return problem(422, "request_invalid", f"{first['place']}: {first['message']}.", {"problems": faults})

    @app.exception_handler(HTTPException)
    async def from_framework(_request: Request, error: HTTPException) -> JSONResponse:
        code, message = _HTTP_SAYS.get(error.status_code, ("http_error", str(error.detail)))
        return problem(error.status_code, code, message, headers=dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        log.error("unexpected_error", path=request.url.path, exc_info=error)
        return problem(500, "internal", "Something went wrong here; the server's log says what.")


def _headers(status: int, error: DownlinkError) -> dict[str, str]:
    match status:
        case 401:
            return {"WWW-Authenticate": "Bearer"}
        case 429 | 503 | 507:
            return {"Retry-After": str(error.details.get("retry_after_s", 5))}
    return {}
