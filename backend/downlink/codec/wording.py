"""Descriptions of faulty values, in the words of this project and not in those of the validating library.

What was sent is never quoted: it may be a password.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import ErrorDetails

_WHOLE = "must be a whole number"
_NUMBER = "must be a number"
_TRUTH = "must be true or false"
_UUID = "must be an identifier such as 0f6a7e0e-5b1f-4d6e-9d9e-0f3e5a8f1c11; copy it whole"
_MOMENT = "must be a moment with its offset from UTC, such as 2026-01-02T03:04:05Z"
_DAY = "must be a day such as 2026-01-02"
_LIST = "must be a list, not {there}"
_MAPPING = "must be a mapping of keys to values, not {there}"
_UNKNOWN = "is not known here; correct its name or leave it out"

WORDS: Mapping[str, str] = {
    "missing": "is missing; give it",
    "extra_forbidden": _UNKNOWN,
    "unexpected_keyword_argument": _UNKNOWN,
    "int_type": f"{_WHOLE}, not {{there}}",
    "int_parsing": _WHOLE,
    "int_from_float": f"{_WHOLE}; leave out its fraction",
    "int_parsing_size": f"{_WHOLE} of fewer digits",
    "float_type": f"{_NUMBER}, not {{there}}",
    "float_parsing": _NUMBER,
    "finite_number": "must be a finite number",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "bool_type": f"{_TRUTH}, not {{there}}",
    "bool_parsing": _TRUTH,
    "string_type": "must be a text, not {there}",
    "string_unicode": "must be a text of whole characters; leave out halves of surrogate pairs",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must be a text of the form {pattern}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "uuid_type": _UUID,
    "uuid_parsing": _UUID,
    "datetime_type": _MOMENT,
    "datetime_parsing": _MOMENT,
    "datetime_from_date_parsing": _MOMENT,
    "datetime_object_invalid": _MOMENT,
    "timezone_aware": f"{_MOMENT}; its offset is missing",
    "date_type": _DAY,
    "date_parsing": _DAY,
    "date_from_datetime_parsing": _DAY,
    "date_from_datetime_inexact": f"{_DAY}, without a time",
    "list_type": _LIST,
    "tuple_type": _LIST,
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "dict_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "dataclass_type": _MAPPING,
    "union_tag_invalid": "must have one of {expected_tags} as its {discriminator}",
    "union_tag_not_found": "lacks its {discriminator}; give it",
}
"""Words for pydantic's types of errors: those that our schemas can raise, as a test makes sure."""
OTHERS = "is not what is taken here; compare it with the documentation"
KINDS: Mapping[type, str] = {
    type(None): "null",
    bool: "a truth value",
    int: "a number",
    float: "a number",
    str: "a text",
    bytes: "a text",
    list: "a list",
    dict: "a mapping",
}


def fault_of(error: ErrorDetails) -> str:
    """Return the fault and the remedy: the end of a sentence that begins with the position, without its full stop."""
    context = error.get("ctx", {})
    if error["type"] == "value_error":  # our own words
        return str(context["error"]).rstrip(".")
    if error["type"] == "json_invalid":
        return "is not JSON"
    if context.get("min_length") == 1:
        return "must not be empty"
    words = WORDS.get(error["type"], OTHERS)
    there = KINDS.get(type(error["input"]), "something else")
    return words.format_map({**{name: _plain(value) for name, value in context.items()}, "there": there})


def _plain(value: Any) -> Any:
    """Bounds without an exponent, patterns without their anchors."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value.removeprefix("^").removesuffix("$") if isinstance(value, str) else value
