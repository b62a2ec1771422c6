"""Parts of the OpenAPI document that do not follow from types: who may call, where, and with which body."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel

from downlink.api.fleet.agent_channel import read_secret
from downlink.api.http.deps import find_caller, find_reader
from downlink.api.http.examples import EXAMPLES
from downlink.api.http.sheets import QUERY
from downlink.protocol.poll import PollRequest

SCHEMES: dict[str, Any] = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "dlk_…",
        "description": "An API token, made on the page of tokens, by `downlink token create` or by `POST /tokens`",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "downlink",
        "description": "A signed-in browser; over https the cookie is called `__Host-downlink`. "
        "What changes something needs an `Origin` of this server",
    },
    "share": {
        "type": "apiKey",
        "in": "cookie",
        "name": "downlink-share",
        "description": "A visitor, who has opened a share link (`POST /shares/open`); over https the cookie is called "
        "`__Secure-downlink-share`. It opens the routes of one campaign that name it",
    },
    "agent": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "dla_…",
        "description": "The secret that an agent was given when it joined",
    },
}
READ_BY_ROUTES: Mapping[str, type[BaseModel]] = {"poll": PollRequest}
"""Bodies of routes that check them themselves, so that nothing holds them longer."""
REFERENCE = "#/components/schemas/{model}"
SERVERS = [{"url": "/", "description": "The server that hands out this document"}]


def complete(document: dict[str, Any], routes: Iterable[tuple[str, APIRoute]]) -> dict[str, Any]:
    """The same document with servers, security schemes, and an example of each body but raw bytes. routes: with their paths."""
    document["servers"] = SERVERS
    document["components"]["securitySchemes"] = SCHEMES
    for path, route in routes:
        for verb in (route.methods or ()) if route.include_in_schema else ():
            operation = document["paths"][path][verb.lower()]
            operation["security"] = _security(route.dependant)
            _add_own_body(document, operation)
            _add_example(operation)
            if path.endswith(".csv"):
                operation["parameters"] = [*operation.get("parameters", ()), *QUERY]
    return document


def _add_own_body(document: dict[str, Any], operation: dict[str, Any]) -> None:
    """Describe a body that its route reads itself."""
    model = READ_BY_ROUTES.get(operation["operationId"])
    if model is None:
        return
    schema = model.model_json_schema(ref_template=REFERENCE)
    known, parts = document["components"]["schemas"], {**schema.pop("$defs", {}), model.__name__: schema}
    # Another part of the api may have a shape of this name.
    names = {name: name if known.get(name, part) == part else f"Agents{name}" for name, part in parts.items()}
    known |= {names[name]: _renamed(part, names) for name, part in parts.items()}
    reference = {"$ref": f"#/components/schemas/{model.__name__}"}
    operation["requestBody"] = {"content": {"application/json": {"schema": reference}}, "required": True}


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    """The same schema with its references to these names."""
    if isinstance(part, list):
        return [_renamed(each, names) for each in part]
    if not isinstance(part, dict):
        return part
    renamed = {key: _renamed(each, names) for key, each in part.items()}
    old = str(renamed.get("$ref", "")).rpartition("/")[2]
    return {**renamed, "$ref": REFERENCE.format(model=names[old])} if old in names else renamed


def _security(dependant: Dependant) -> list[dict[str, list[str]]]:
    """Any one of these suffices; none is asked for where the list is empty."""
    asked = set(_calls(dependant))
    if read_secret in asked:
        return [{"agent": []}]
    if find_reader in asked:
        return [{"token": []}, {"session": []}, {"share": []}]
    return [{"token": []}, {"session": []}] if find_caller in asked else []


def _calls(dependant: Dependant) -> Iterable[Any]:
    yield dependant.call
    for inner in dependant.dependencies:
        yield from _calls(inner)


def _add_example(operation: dict[str, Any]) -> None:
    content = operation.get("requestBody", {}).get("content", {})
    example = EXAMPLES.get(operation["operationId"])
    for media in content.values():
        if example is not None:
            media["example"] = example
