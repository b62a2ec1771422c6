"""The REST API as seen from the command line: where it is, who we are, and its errors as DownlinkErrors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import httpx

from downlink.domain.errors import (
    ConflictError,
    DeniedError,
    DownlinkError,
    InvalidError,
    NotFoundError,
    UnavailableError,
)

DEFAULT_SERVER = "http://127.0.0.1:8400"
PAGE = 500
UPLOAD_TIMEOUT_S = 900
_KINDS: dict[int, type[DownlinkError]] = {401: DeniedError, 403: DeniedError, 404: NotFoundError, 409: ConflictError}


@dataclass(frozen=True)
class Access:
    """The server's address and the API token for it."""

    server: str
    token: str


def find_access(folder: Path, env: os._Environ[str] | dict[str, str]) -> Access:
    """Server and token from the environment, or both from `.demo/env` in `folder` or above it: a token goes to its own server."""
    is_named = env.get("DOWNLINK_TOKEN") or env.get("DOWNLINK_SERVER")
    variables = env if is_named else read_stack_file(folder)
    token = variables.get("DOWNLINK_TOKEN")
    if not token:
        raise DeniedError(
            "no_token",
            "No API token. Set DOWNLINK_SERVER and DOWNLINK_TOKEN, both of them (`downlink token create NAME` on the server "
            "makes a token), or neither in a folder where `make demo` or `make up` runs.",
        )
    return Access(variables.get("DOWNLINK_SERVER") or DEFAULT_SERVER, token)


def read_stack_file(folder: Path) -> dict[str, str]:
    """Read the variables that the launcher wrote into `.demo/env` in `folder` or above it. Files of other users are ignored."""
    for parent in (folder, *folder.parents):
        file = parent / ".demo" / "env"
        if file.is_file() and os.access(file, os.R_OK) and file.stat().st_uid == os.geteuid():
            lines = (line.split("=", 1) for line in file.read_text().splitlines() if "=" in line)
            return {name.strip(): value.strip() for name, value in lines}
    return {}


class Client:
    """Calls paths under /api/v1 and answers decoded JSON."""

    def __init__(self, access: Access, transport: httpx.BaseTransport | None = None) -> None:
        self.access = access
        self._http = httpx.Client(
            base_url=f"{access.server.rstrip('/')}/api/v1",
            headers={"Authorization": f"Bearer {access.token}"},
            timeout=httpx.Timeout(30, connect=5),
            transport=transport,
            trust_env=not _is_loopback(access.server),
        )

    def get(self, path: str, **query: Any) -> Any:
        return self._call("GET", path, params=query)

    def post(self, path: str, body: Any = None) -> Any:
        return self._call("POST", path, json=body)

    def upload(self, path: str, files: Sequence[tuple[str, BinaryIO]], fields: Mapping[str, str]) -> Any:
        """Send files by name in a form's field `files`; the server reads them all before it answers."""
        parts = [("files", file) for file in files]
        return self._call("POST", path, files=parts, data=fields, timeout=httpx.Timeout(UPLOAD_TIMEOUT_S, connect=5))

    def put(self, path: str, body: Any) -> Any:
        return self._call("PUT", path, json=body)

    def patch(self, path: str, body: Any) -> Any:
        return self._call("PATCH", path, json=body)

    def delete(self, path: str) -> Any:
        return self._call("DELETE", path)

    def items(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """Every item of a list, page by page."""
        return list(self._pages(path, query))

    def _pages(self, path: str, query: dict[str, Any]) -> Iterator[dict[str, Any]]:
        offset = 0
        while True:
            page = self.get(path, limit=PAGE, offset=offset, **query)
            yield from page["items"]
            offset += len(page["items"])
            if not page["items"] or offset >= page["total"]:
                return

    def download(self, path: str, to: BinaryIO) -> int:
        """Stream a file into `to`; answer its size in bytes."""
        try:
            with self._http.stream("GET", path, timeout=httpx.Timeout(300, connect=5)) as answer:
                if answer.is_error:
                    answer.read()
                    raise _problem(answer)
                return sum(to.write(piece) for piece in answer.iter_bytes())
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def page_file(self, path: str) -> str:
        """A file of the dashboard that the same server hands out."""
        try:
            answer = self._http.get(f"{self.access.server.rstrip('/')}{path}")
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        if answer.is_error:
            raise _problem(answer)
        return answer.text

    def _call(self, verb: str, path: str, **kwargs: Any) -> Any:
        try:
            answer = self._http.request(verb, path, **kwargs)
        except UnicodeEncodeError as error:
            raise InvalidError("text_invalid", "A text holds bytes that are no UTF-8; write it again.") from error
        except ValueError as error:  # JSON has neither
            raise InvalidError("number_invalid", "nan and inf are no numbers here; write another one.") from error
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        if answer.is_error:
            raise _problem(answer)
        return answer.json() if answer.content else None

    def _unreachable(self, error: httpx.TransportError) -> UnavailableError:
        return UnavailableError(
            "server_unreachable",
            f"No answer from {self.access.server} ({error or type(error).__name__}). "
            "Is it running? `make demo` or `make up` starts one here; DOWNLINK_SERVER names another.",
        )


def _is_loopback(server: str) -> bool:
    return httpx.URL(server).host in {"127.0.0.1", "::1", "localhost"}


def placed(conflict: Mapping[str, Any]) -> str:
    """A conflict's sentence, behind the key of the campaign file that it is about."""
    return f"{conflict['place']}: {conflict['message']}" if conflict["place"] else str(conflict["message"])


def _problem(answer: httpx.Response) -> DownlinkError:
    """The server's problem (docs/api.md) as the error that it means."""
    try:
        body = answer.json()
        code, details = body["code"], body.get("details") or {}
        message = " ".join(placed(each) for each in details.get("conflicts", [])) or body["message"]
    except (ValueError, KeyError, TypeError):
        code, message, details = (
            "unexpected_answer",
            f"The server answered {answer.status_code} without saying why.",
            {},
        )
    kind = _KINDS.get(answer.status_code, UnavailableError if answer.status_code >= 500 else InvalidError)
    return kind(code, message, details)
