"""Types that the messages of the agent protocol share. Texts of agents are bounded; control characters in them are refused."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer

from downlink.domain.moment import in_utc
from downlink.domain.traces.point import POINT

MAX_LIST = 256
EXACT = 2**53
"""Up to here each reader of JSON has every whole number (RFC 8259, section 6)."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def refuse_controls(text: str) -> str:
    if _CONTROLS.search(text):
        raise ValueError("control characters are not allowed")
    return text


def _iso_us(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def plain_value(value: Any, depth: int = 3) -> Any:
    """A bounded tree of plain values, for facts whose shape is the agent's own."""
    match value:
        case dict() if depth and len(value) <= MAX_LIST:
            return {_text(key): plain_value(item, depth - 1) for key, item in value.items()}
        case list() if depth and len(value) <= MAX_LIST:
            return [plain_value(item, depth - 1) for item in value]
        case str():
            return _text(value)
        case int() if abs(value) > EXACT:
            raise ValueError("a whole number is beyond 2^53")
        case float() if not isfinite(value):
            raise ValueError("a number is not finite")
        case None | bool() | int() | float():
            return value
    raise ValueError("too deep, too long, or no plain value")


def _text(text: str) -> str:
    if len(text) > 1000:
        raise ValueError("a text is longer than 1000 characters")
    return refuse_controls(text)


Word = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(refuse_controls)]
Sentence = Annotated[str, Field(max_length=2000), AfterValidator(refuse_controls)]
Moment = Annotated[AwareDatetime, AfterValidator(in_utc), PlainSerializer(_iso_us, when_used="json", return_type=str)]
SettingValues = Annotated[
    dict[Word, Annotated[str, Field(max_length=200), AfterValidator(refuse_controls)]], Field(max_length=64)
]
Facts = Annotated[dict[str, Any], AfterValidator(plain_value)]
Count = Annotated[int, Field(ge=0, le=2**62)]
Difference = Annotated[int, Field(ge=-(2**53), le=2**53)]
Duration = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
Attempt = Annotated[int, Field(ge=1, le=1000)]
Protocol = Annotated[int, Field(ge=1, le=1000)]
OLDEST = 1
"""The protocol of agents that do not say which they speak."""
LinkSeed = Annotated[int, Field(ge=0, lt=2**53)]
Measure = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
PointName = Annotated[str, Field(pattern=f"^({POINT})$", description="Where samples are taken")]
Role = Literal["sender", "receiver", "relay"]


class Message(BaseModel):
    """Unknown keys are ignored, so that a newer agent can speak to this backend."""

    model_config = ConfigDict(extra="ignore")


SamplingMode = Literal["polled", "per_ack"]
