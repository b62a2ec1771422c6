"""Components of a campaign file's parts: texts, numbers, and the reading of mappings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from downlink.domain.campaigns.campaign import LEAST_PHASE_S
from downlink.domain.text import is_one_line, is_storable

MAX_SECONDS = 86_400.0
WINDOW_NAME = r"[a-z][a-z0-9_]{0,39}"


def _whole(value: Any) -> Any:
    """1e9 is a whole number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _storable(text: str) -> str:
    if not is_storable(text):
        raise ValueError("not storable")
    return text


def _one_line(text: str) -> str:
    if not is_one_line(text):
        raise ValueError("must be on one line, without tabs and control characters.")
    return text


def shown(value: Any) -> str:
    """A value as a refusal shows it: short, and never a whole structure."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) >= 10**30:  # Python refuses to spell the largest
        return "a number beyond all measure"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def at(key: str, message: str) -> PydanticCustomError:
    """A problem of a mapping that one of its keys is to blame for."""
    return PydanticCustomError("at_key", "{message}", {"key": key, "message": message})


WHOLE = BeforeValidator(_whole)
STORABLE = AfterValidator(_storable)
PhaseSeconds = Annotated[float, Field(strict=True, ge=LEAST_PHASE_S, le=MAX_SECONDS)]
LaterSeconds = Annotated[float, Field(strict=True, ge=0, le=MAX_SECONDS)]
Name = Annotated[str, Field(strict=True, min_length=1, max_length=200), AfterValidator(_one_line)]


class Part(BaseModel):
    """A mapping of the file. A key without a value counts as absent, any other key as a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_empty(cls, data: Any) -> Any:
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, Mapping) else data
