"""The built dashboard at /: its files, and index.html for every page address that is no file."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from downlink.settings import Settings

YEAR_S = 31_536_000


class DashboardFiles(StaticFiles):
    """Files under a name with a hash are kept for good; index.html is asked for anew each time."""

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
