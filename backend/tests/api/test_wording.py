"""What is refused is said in our own words: of every error that our schemas can raise, and of every route."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from random import Random
from typing import Annotated, Any

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from downlink.api.app import PARTS
from downlink.api.http import health
from downlink.api.http.examples import EXAMPLES
from downlink.api.schemas.imports import ImportFields
from downlink.api.schemas.triggers import CallBody
from downlink.codec.path import HEADER
from downlink.codec.wording import OTHERS, WORDS, fault_of
from tests.api.test_routes import document, fill
from tests.fixtures.lab import API, Lab
from tests.fixtures.proofs import SEED
from tests.fixtures.properties import examples

BOUNDS = {"gt": "greater_than", "ge": "greater_than_equal", "lt": "less_than", "le": "less_than_equal"}
LENGTHS = {"min_length": "too_short", "max_length": "too_long"}
TEXTS = {
    "min_length": "string_too_short",
    "max_length": "string_too_long",
    "pattern": "string_pattern_mismatch",
}
OWN = {"value_error"}
NUMBERS = {"finite_number"}
RAISES: Mapping[str, tuple[set[str], Mapping[str, str]]] = {
    "any": (set(), {}),
    "bool": ({"bool_type", "bool_parsing"}, {}),
    "dataclass": ({"dataclass_type"}, {}),
    "dataclass-args": ({"missing", "unexpected_keyword_argument"}, {}),
    "dataclass-field": (set(), {}),
    "date": ({"date_type", "date_parsing", "date_from_datetime_parsing", "date_from_datetime_inexact"}, BOUNDS),
    "datetime": (
        {"datetime_type", "datetime_parsing", "datetime_from_date_parsing", "datetime_object_invalid"},
        {**BOUNDS, "tz_constraint": "timezone_aware"},
    ),
    "default": (set(), {}),
    "definition-ref": (set(), {}),
    "definitions": (set(), {}),
    "dict": ({"dict_type"}, LENGTHS),
    "enum": ({"enum"}, {}),
    "float": ({"float_type", "float_parsing", *NUMBERS}, BOUNDS),
    "function-after": (OWN, {}),
    "function-before": (OWN, {}),
    "function-plain": (OWN, {}),
    "function-wrap": (OWN, {}),
    "int": ({"int_type", "int_parsing", "int_parsing_size", "int_from_float", *NUMBERS}, BOUNDS),
    "list": ({"list_type"}, LENGTHS),
    "literal": ({"literal_error"}, {}),
    "model": ({"model_type"}, {}),
    "model-field": (set(), {}),
    "model-fields": ({"missing", "extra_forbidden", "model_attributes_type"}, {}),
    "nullable": (set(), {}),
    "str": ({"string_type", "string_unicode"}, TEXTS),
    "tagged-union": ({"union_tag_invalid", "union_tag_not_found", "model_attributes_type"}, {}),
    "tuple": ({"tuple_type", "too_short", "too_long"}, {}),
    "union": (set(), {}),
    "uuid": ({"uuid_type", "uuid_parsing"}, {}),
}
"""The errors of each kind of schema, and those of its constraints, as pydantic documents them."""
NO_SCHEMAS = {"no-info", "with-info"}
"""What else has a type within a schema: functions."""
PASSED_OVER = {"metadata", "serialization", "default", "cls", "config"}
PYDANTICS = re.compile(r"Input should|required$|Extra inputs|should (have|be|match)|Value error|Unable to|valid \w+,")
LONG = "x" * 300
WRONG: tuple[Any, ...] = (
    None, True, -1, 1.5, 10**30, 1e400, "", "x", LONG, "2026-01-02T03:04:05", [], [None] * 3000, {"x": 1},
)  # fmt: skip


def nodes(node: Any) -> Iterator[Mapping[str, Any]]:
    """Every schema within a schema."""
    if isinstance(node, list | tuple):
        for each in node:
            yield from nodes(each)
    elif isinstance(node, dict):
        if isinstance(node.get("type"), str) and node["type"] not in NO_SCHEMAS:
            yield node
        for key, value in node.items():
            if key not in PASSED_OVER:
                yield from nodes(value)


def raised(node: Mapping[str, Any]) -> set[str]:
    errors, constraints = RAISES[node["type"]]
    return errors | {error for name, error in constraints.items() if node.get(name) is not None}


def fields(dependant: Dependant) -> Iterator[Any]:
    yield from (*dependant.path_params, *dependant.query_params, *dependant.header_params, *dependant.cookie_params)
    for inner in dependant.dependencies:
        yield from fields(inner)


def schemas() -> Iterator[Any]:
    """Of whatever comes from outside and is looked at by pydantic, campaign files excepted: their sentences have tests of their own."""
    for route in (route for part in (*PARTS, health) for route in part.router.routes):
        if isinstance(route, APIRoute):
            bodies = [route.body_field] if route.body_field else []
            yield from (field._type_adapter.core_schema for field in (*fields(route.dependant), *bodies))
    yield from (TypeAdapter(kind).core_schema for kind in (ImportFields, CallBody))
    yield HEADER.core_schema


def test_each_error_that_our_schemas_can_raise_has_words_of_its_own() -> None:
    kinds = {error for schema in schemas() for node in nodes(schema) for error in raised(node)}
    assert len(kinds) > 35
    assert kinds - OWN == set(WORDS)


def test_an_error_without_words_is_still_not_worded_by_the_library() -> None:
    error: ErrorDetails = {"type": "url_parsing", "loc": ("a",), "msg": "Input should be a valid URL", "input": "x"}
    assert fault_of(error) == OTHERS


@pytest.mark.parametrize(
    ("kind", "said", "message"),
    [
        (int, "a", "must be a whole number"),
        (int, None, "must be a whole number, not null"),
        (Annotated[int, Field(le=1e6)], 2_000_000, "must be at most 1000000"),
        (Annotated[str, Field(pattern="^a{2}$")], "b", "must be a text of the form a{2}"),
        (Annotated[list[int], Field(min_length=1)], [], "must not be empty"),
        (
            AwareDatetime,
            "2026-01-02T03:04:05",
            "must be a moment with its offset from UTC, such as 2026-01-02T03:04:05Z; its offset is missing",
        ),
        (dict[str, int], [1], "must be a mapping of keys to values, not a list"),
    ],
)
def test_a_message_says_what_is_wanted(kind: Any, said: Any, message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(kind).validate_python(said)
    assert fault_of(refused.value.errors()[0]) == message


def changed(body: Any) -> Iterator[Any]:
    """The body with one place wrong, each place in each way; and wrong as a whole."""
    yield from WRONG
    yield {**body, "no_such_key": 1}
    for place in places(body):
        for wrong in WRONG:
            yield with_at(body, place, wrong)
        yield with_at(body, place, ...)


def places(body: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, value in inside:
        yield (*above, key)
        yield from places(value, (*above, key))


def with_at(body: Any, place: tuple[Any, ...], value: Any) -> Any:
    made = deepcopy(body)
    inner = made
    for key in place[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return made


def bad_bodies() -> Iterator[tuple[str, str, Any]]:
    for path, verbs in document()["paths"].items():
        for verb, operation in verbs.items():
            example = EXAMPLES.get(operation["operationId"])
            if isinstance(example, dict) and operation["operationId"] != "poll":
                yield from ((verb, fill(path), body) for body in changed(example))


def bad_addresses() -> Iterator[tuple[str, str]]:
    """Each parameter of each path and query, wrong in each way."""
    for path, verbs in document()["paths"].items():
        for verb, operation in verbs.items():
            for parameter in operation.get("parameters", []):
                name = parameter["name"]
                for wrong in ("", "x", "-1", "9" * 30, "9" * 5000, "NaN", LONG, "2026-01-02T03:04:05"):
                    if parameter["in"] == "query":
                        yield verb, f"{fill(path)}?{name}={wrong}"
                    elif parameter["in"] == "path":
                        yield verb, fill(path.replace("{" + name + "}", wrong or "%20"))
            yield verb, fill(path)


def said_of(answer: Any) -> list[str]:
    if answer.status_code < 400 or "json" not in answer.headers["content-type"]:
        return []
    found = answer.json()
    return [found["message"], *(each["message"] for each in found["details"].get("problems", ()))]


def bad_requests() -> list[tuple[str, str, Any]]:
    """What this proof tries of all bad requests, in their order."""
    every = [*bad_bodies(), *((*each, ...) for each in bad_addresses())]
    return [every[number] for number in sorted(Random(SEED).sample(range(len(every)), examples(len(every))))]


@pytest.mark.sampled("faults", one_of=1)
def test_every_route_refuses_in_our_own_words(lab: Lab) -> None:
    headers = {"Authorization": f"Bearer {lab.token}", "Content-Type": "application/json"}
    said: dict[str, str] = {}
    counts: dict[int, int] = {}
    for verb, path, body in bad_requests():
        if path == f"{API}/events":  # that one is endless
            continue
        content = b"" if body is ... else json.dumps(body).encode()
        answer = lab.client.request(verb, path, content=content, headers=headers)
        counts[answer.status_code] = counts.get(answer.status_code, 0) + 1
        said |= dict.fromkeys(said_of(answer), f"{verb} {path} {content[:200]!r}")
    assert counts[422] > examples(1000)
    assert not counts.get(500)
    assert {message: place for message, place in said.items() if PYDANTICS.search(message) or OTHERS in message} == {}
