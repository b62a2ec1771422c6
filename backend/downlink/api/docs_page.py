"""The REST API as one plain page: made from the OpenAPI document, without a script."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

router = APIRouter(include_in_schema=False)
_STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
)
_HEAD = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Downlink REST API</title><style>{_STYLE}</style>'


@router.get("/docs", response_class=HTMLResponse)
def docs(request: Request) -> HTMLResponse:
    """Every address with its verb and what it does."""
    document = request.app.openapi()
    intro = '<h1>Downlink REST API</h1><p>For programs: <a href="openapi.json">openapi.json</a>.</p>'
    return HTMLResponse(_HEAD + intro + "".join(_sections(document)))


def _sections(document: dict[str, Any]) -> Iterator[str]:
    by_tag: dict[str, list[str]] = {}
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            by_tag.setdefault(operation["tags"][0], []).append(_entry(verb, path, operation))
    for tag, entries in by_tag.items():
        yield f"<h2>{escape(tag.capitalize())}</h2><dl>{''.join(entries)}</dl>"


def _entry(verb: str, path: str, operation: dict[str, Any]) -> str:
    said = operation.get("description") or operation.get("summary", "")
    answers = ", ".join(sorted(operation["responses"]))
    return f"<dt><code>{verb.upper()} {escape(path)}</code></dt><dd>{escape(said)} <small>({answers})</small></dd>"
