"""The REST API as one page to read and search: made from the OpenAPI document, without a script."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

router = APIRouter(include_in_schema=False)
_STYLE = """
:root{color-scheme:light dark;--ink:#1a1d21;--paper:#fff;--link:#0b5cad}
@media (prefers-color-scheme:dark){:root{--ink:#e6e8ea;--paper:#16181c;--link:#8ab8ff}}
html{background:var(--paper);color:var(--ink)}a{color:var(--link)}
body{background:var(--paper);font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}
nav a{display:inline-block;padding:.25rem .75rem .25rem 0}
details{border-top:1px solid #8886;padding:.4rem 0}
summary{cursor:pointer}
details>*:not(summary){margin-inline-start:1rem}
pre{white-space:pre-wrap;padding:.5rem;border:1px solid #8886}
dt{margin-top:.5rem}dd{margin-inline-start:1rem}
h2{margin-top:2rem}h3{font-size:1rem;margin-bottom:0}
"""
_HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    f"<title>Downlink REST API</title><style>{_STYLE}</style></head>"
)
_CALLERS = {
    "token": "an API token (<code>Authorization: Bearer dlk_…</code>)",
    "session": "a signed-in browser",
    "share": "a visitor with a link to the campaign",
    "agent": "an agent (<code>Authorization: Bearer dla_…</code>)",
}
Schema = dict[str, Any]


@router.get("/openapi.json")
def openapi(request: Request) -> Response:
    """Return the document from a thread: to make it takes seconds, in which the other answers must not wait."""
    return JSONResponse(request.app.openapi())


@router.get("/docs", response_class=HTMLResponse)
def docs(request: Request) -> HTMLResponse:
    """Every address with its parameters, body and answers, and every shape."""
    return HTMLResponse(_HEAD + "<body>" + "".join(_page(request.app.openapi())) + "</body></html>")


def _page(document: dict[str, Any]) -> Iterator[str]:
    by_tag: dict[str, list[str]] = {}
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            by_tag.setdefault(operation["tags"][0], []).append("".join(_operation(verb, path, operation)))
    yield "<header><h1>Downlink REST API</h1>"
    yield "<p>Addresses are those of this server; each one opens. For programs: "
    yield '<a href="openapi.json">openapi.json</a> (OpenAPI 3.1).</p></header>'
    links = "".join(f'<a href="#{_anchor(tag)}">{escape(tag.capitalize())}</a>' for tag in (*by_tag, "shapes"))
    yield f'<nav aria-label="Sections">{links}</nav><main>'
    for tag, entries in by_tag.items():
        yield f'<h2 id="{_anchor(tag)}">{escape(tag.capitalize())}</h2>{"".join(entries)}'
    yield '<h2 id="shapes">Shapes</h2>'
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield "".join(_shape(name, schema))
    yield "</main>"


def _said(text: str) -> str:
    """A description, its `words of code` marked as such."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _anchor(tag: str) -> str:
    return "section-" + tag.replace(" ", "-") if tag != "shapes" else "shapes"


def _operation(verb: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    text = operation.get("description") or operation.get("summary", "")
    first, _, rest = text.partition("\n")
    yield f'<details id="{escape(operation["operationId"])}"><summary><code>{verb.upper()} {escape(path)}</code><br>'
    yield f"{_said(first)}</summary><p>{_said(rest)}</p>"
    callers = " or ".join(_CALLERS[name] for each in operation["security"] for name in each)
    yield f"<p>Who may call: {callers or 'everybody'}.</p>"
    if parameters := operation.get("parameters"):
        yield f"<h3>Parameters</h3><dl>{''.join(map(_parameter, parameters))}</dl>"
    if body := operation.get("requestBody"):
        yield from _body(body)
    yield "<h3>Answers</h3><dl>"
    for status, answer in sorted(operation["responses"].items()):
        yield f"<dt>{escape(status)} {escape(answer['description'])}</dt>"
        yield from (f"<dd>{_content(kind, media)}</dd>" for kind, media in answer.get("content", {}).items())
    yield "</dl></details>"


def _parameter(parameter: dict[str, Any]) -> str:
    needed = "needed" if parameter.get("required") else "may be left out"
    facts = f"{parameter['in']}, {_type(parameter['schema'])}, {needed}"
    text = parameter.get("description") or parameter["schema"].get("description", "")
    return f"<dt><code>{escape(parameter['name'])}</code> ({facts})</dt><dd>{_said(text)}</dd>"


def _body(body: dict[str, Any]) -> Iterator[str]:
    yield "<h3>Body</h3>"
    for kind, media in body["content"].items():
        yield f"<p>{_content(kind, media)}</p>"
        if "example" in media:
            yield f"<pre><code>{escape(json.dumps(media['example'], indent=1, ensure_ascii=False))}</code></pre>"


def _content(kind: str, media: dict[str, Any]) -> str:
    shape = _type(media["schema"]) if media.get("schema") else "as it is"
    return f"{escape(kind)}: {shape}"


def _shape(name: str, schema: Schema) -> Iterator[str]:
    yield f'<details id="shape-{escape(name)}"><summary><code>{escape(name)}</code></summary>'
    yield f"<p>{_said(schema.get('description', ''))}</p>"
    needed = schema.get("required", ())
    yield "<dl>"
    for key, each in schema.get("properties", {}).items():
        mark = ", needed" if key in needed else ""
        text = _said(each.get("description", ""))
        yield f"<dt><code>{escape(key)}</code> ({_type(each)}{mark})</dt><dd>{text}</dd>"
    yield "</dl></details>"


def _type(schema: Schema) -> str:
    """A schema in a word or two; a shape of its own is a link to it."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#shape-{name}">{name}</a>'
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(map(_type, schema[key])))
    if "enum" in schema:
        return "one of " + ", ".join(escape(str(each)) for each in schema["enum"])
    if "const" in schema:
        return escape(str(schema["const"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    kind = schema.get("format") or schema.get("type", "anything")
    return escape(kind if isinstance(kind, str) else " or ".join(kind)) + _range(schema)


def _range(schema: Schema) -> str:
    least = schema.get("minimum", schema.get("exclusiveMinimum"))
    most = schema.get("maximum", schema.get("exclusiveMaximum"))
    bounds = [f"from {least}" if least is not None else "", f"to {most}" if most is not None else ""]
    text = " ".join(filter(None, bounds))
    return f" {escape(text)}" if text else ""
