"""`downlink campaigns figure`: the dashboard's own drawing functions, run here over the API's answers.

The server hands out the functions as one script (`figures.js`, built with the dashboard), so that a figure is drawn as the pages
of that server draw it. The script runs in an interpreter inside this process, which can reach neither files nor network.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from downlink.cli.client import Client
from downlink.domain.errors import DownlinkError, InvalidError, NotFoundError, UnavailableError

REPRODUCED = {"varied", "ratios", "delays", "jitter", "rates"}
"""Kinds in which published values are drawn."""
SCRIPT = "/figures.js"
MEMORY_BYTES = 512_000_000
TIME_S = 60
PAPER_DPI = 300
IN_MILLIMETRES = re.compile(r'width="[\d.]+mm" height="[\d.]+mm" viewBox="0 0 ([\d.]+) ([\d.]+)"')
"""The drawing's own units are points, which is what the converter takes lengths without a unit for."""
INSTALL = "Type: pip install 'downlink[figures]' (in a checkout: make install)."


def figure_file(client: Client, identity: str, request: dict[str, Any], file_format: str) -> bytes:
    """A figure's file. request: kind, width, hasCaption, link, condition, phase, metric. DownlinkError where a part or the data is
    missing."""
    script, answers = _script(client), _answers(client, identity, request)
    text = _drawn(script, {**request, **answers, "format": "csv" if file_format == "csv" else "svg"})
    if file_format in {"svg", "csv"}:
        return text.encode()
    return _printed(text, file_format)


def format_of(to: Path, wanted: str | None, formats: tuple[str, ...]) -> str:
    """Return the wanted format, else the one that the file's name ends with."""
    name = wanted or to.suffix.lstrip(".").lower()
    if name not in formats:
        raise InvalidError(
            "figure_format", f"{to} does not say which format to write. Type --format, one of {', '.join(formats)}."
        )
    return name


def _answers(client: Client, identity: str, request: dict[str, Any]) -> dict[str, Any]:
    """Fetch the answers from which the kind is drawn."""
    kind, path = request["kind"], f"/campaigns/{identity}"
    quantity = {name: request[name] for name in ("phase", "metric") if request.get(name)}
    return {
        "campaign": client.get(path),
        "report": None if kind in {"exits", "ecdf", "day"} else client.get(f"{path}/report"),
        "exits": client.get(f"{path}/exits") if kind == "exits" else None,
        "values": client.get(f"{path}/values", **quantity) if kind in {"ecdf", "varied", "ratios"} else None,
        "day": client.get(f"{path}/day", **quantity) if kind == "day" else None,
        "delays": client.get(f"{path}/delays") if kind in {"delays", "jitter"} else None,
        "rates": client.get(f"{path}/rates") if kind == "rates" else None,
        "reproduction": client.get(f"{path}/reproduction") if kind in REPRODUCED else None,
        "links": client.items("/links"),
    }


def _script(client: Client) -> str:
    try:
        return client.page_file(SCRIPT)
    except NotFoundError as error:
        raise UnavailableError(
            "no_figures",
            f"The server {client.access.server} has no {SCRIPT}: its dashboard is not built, or older than this command. "
            "`npm run build` in frontend/ makes it.",
        ) from error


def _drawn(script: str, request: dict[str, Any]) -> str:
    try:
        import quickjs
    except ImportError as error:
        raise UnavailableError("no_interpreter", f"Figures need the package python-quickjs-ng. {INSTALL}") from error
    context = quickjs.Context()
    context.set_memory_limit(MEMORY_BYTES)
    context.set_time_limit(TIME_S)
    try:
        context.eval(script)
        return str(json.loads(context.get("downlinkFigure")(json.dumps(request))))
    except quickjs.JSException as error:
        raise InvalidError("figure_not_drawn", _sentence(str(error))) from error


def _sentence(error: str) -> str:
    """Return the script's message for users, without its position in the script."""
    return error.splitlines()[0].removeprefix("Error: ")


def _printed(svg: str, file_format: str) -> bytes:
    """SVG text as PDF with its fonts inside, or as PNG of 300 dots per inch."""
    try:
        import vl_convert
    except ImportError as error:
        message = f"PNG and PDF need the package vl-convert-python; SVG needs nothing more. {INSTALL}"
        raise UnavailableError("no_converter", message) from error
    in_points = IN_MILLIMETRES.sub(r'width="\1" height="\2" viewBox="0 0 \1 \2"', svg, count=1)
    try:
        if file_format == "pdf":
            return bytes(vl_convert.svg_to_pdf(in_points))
        return bytes(vl_convert.svg_to_png(in_points, scale=1, ppi=PAPER_DPI))
    except ValueError as error:
        raise DownlinkError("figure_not_converted", f"The figure could not be converted: {error}") from error
