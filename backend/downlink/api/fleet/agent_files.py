"""Files for a new host: the agent's program for its processor, its checksum, the systemd unit.

Open to everybody: they hold no secret, and a host without a browser fetches them before it can sign in anywhere.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from fastapi import APIRouter
from fastapi import Path as InPath
from fastapi.responses import FileResponse, PlainTextResponse

from downlink.api.http.deps import Config, problems
from downlink.api.schemas.agents import AgentProgram, AgentPrograms
from downlink.domain.errors import NotFoundError
from downlink.domain.fleet.enrolment import UNIT_FILE

router = APIRouter(tags=["agents"])
# By Go's name and by what `uname -m` prints.
GoArch = Literal["amd64", "arm64"]
GO_ARCH: dict[str, GoArch] = {"amd64": "amd64", "x86_64": "amd64", "arm64": "arm64", "aarch64": "arm64"}
Arch = Annotated[
    str,
    InPath(pattern=f"^({'|'.join(GO_ARCH)})$", description="`amd64` or `arm64`; also what `uname -m` prints"),
]
BINARY: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}
HOW = "`make install` builds the agent for both processors, `make demo` for its own alone; DOWNLINK_AGENT_DIR names the folder."
TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}


@router.get("/agents/binaries")
def list_binaries(settings: Config) -> AgentPrograms:
    """List the agent programs of this server, and how to get the others."""
    items = [AgentProgram(arch=arch, is_here=_is_here(settings, _name(arch))) for arch in get_args(GoArch)]
    return AgentPrograms(items=items, how=None if all(item.is_here for item in items) else HOW)


@router.get("/agents/binaries/{arch}.sha256", response_class=PlainTextResponse, responses={**problems(404), **TEXT})
def get_checksum(arch: Arch, settings: Config) -> PlainTextResponse:
    """Return the program's SHA-256 in the format of `sha256sum --check`."""
    file = _program(settings, arch)
    return PlainTextResponse(f"{_sha256(file, file.stat().st_mtime_ns)}  downlink-agent\n")


@router.get("/agents/binaries/{arch}", response_class=FileResponse, responses={**problems(404), **BINARY})
def get_binary(arch: Arch, settings: Config) -> FileResponse:
    """Download the agent for Linux: one static file."""
    return FileResponse(_program(settings, arch), media_type="application/octet-stream", filename="downlink-agent")


@router.get("/agents/unit", response_class=PlainTextResponse, responses={**problems(404), **TEXT})
def get_unit(settings: Config) -> PlainTextResponse:
    """Download the systemd unit that keeps an agent running."""
    return PlainTextResponse(_find(settings, UNIT_FILE).read_text())


def _program(settings: Config, arch: str) -> Path:
    return _find(settings, _name(GO_ARCH[arch]))


def _name(go_arch: GoArch) -> str:
    return f"downlink-agent-linux-{go_arch}"


def _is_here(settings: Config, name: str) -> bool:
    return settings.agent_dir is not None and (settings.agent_dir / name).is_file()


def _find(settings: Config, name: str) -> Path:
    if settings.agent_dir is None or not _is_here(settings, name):
        raise NotFoundError("agent_file_missing", f"This server does not have {name}. {HOW}")
    return settings.agent_dir / name


@lru_cache(maxsize=8)
def _sha256(file: Path, _changed_ns: int) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
