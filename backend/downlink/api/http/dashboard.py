"""The built dashboard at /: its files, and index.html for every page address that is no file."""

from __future__ import annotations

import mimetypes
import os
from collections.abc import Iterator
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from downlink.process.settings import Settings

YEAR_S = 31_536_000
PACKED = {"br": ".br", "gzip": ".gz"}
"""Encodings to the end of the name of a file that the build has packed, the smaller first."""


class DashboardFiles(StaticFiles):
    """Files under a name with a hash are kept permanently, and sent as the build packed them; index.html is requested each time."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != 404 or scope["path"].startswith(("/api/", "/assets/")) or "." in Path(path).name:
                raise
            response = FileResponse(Path(str(self.directory)) / "index.html")
        is_hashed = scope["path"].startswith("/assets/")
        response.headers["Cache-Control"] = f"public, max-age={YEAR_S}, immutable" if is_hashed else "no-cache"
        return response

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """A hashed file in the smallest encoding that the browser takes and the build has made."""
        if not scope["path"].startswith("/assets/"):
            return super().file_response(full_path, stat_result, scope, status_code)
        for encoding in _accepted(Headers(scope=scope).get("accept-encoding", "")):
            packed = Path(f"{full_path}{PACKED[encoding]}")
            if packed.is_file():
                response = super().file_response(packed, packed.stat(), scope, status_code)
                response.headers["Content-Encoding"] = encoding
                response.headers["Vary"] = "Accept-Encoding"
                response.headers["Content-Type"] = _media_type(full_path)
                break
        else:
            response = super().file_response(full_path, stat_result, scope, status_code)
        return response


def _media_type(path: str | os.PathLike[str]) -> str:
    """Return the media type of the file as it is unpacked."""
    kind = mimetypes.guess_type(path)[0] or "text/plain"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def _accepted(header: str) -> Iterator[str]:
    """Yield those of our encodings that a browser takes (RFC 9110, 12.5.3), the smaller first; `*` is not taken for one of them."""
    parts = [part.replace(" ", "").lower().partition(";q=") for part in header.split(",")]
    wanted = {name for name, _, weight in parts if weight.strip("0.") or not weight}
    yield from (encoding for encoding in PACKED if encoding in wanted)


def mount_dashboard(app: FastAPI, settings: Settings) -> None:
    """Last of all routes, so that the API comes first."""
    folder = settings.dashboard_dir
    if folder and (folder / "index.html").is_file():
        app.mount("/", DashboardFiles(directory=folder, html=True), name="dashboard")
        return

    @app.get("/", include_in_schema=False)
    async def no_dashboard(_request: Request) -> dict[str, str]:
        return {
            "message": "The API is at /api/v1 (page: /api/v1/docs). The dashboard is not built, or DOWNLINK_DASHBOARD_DIR does not name it."
        }
