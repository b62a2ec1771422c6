"""Values that an agent observes of its link between runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import ErrorDetails

from downlink.protocol.base import Message, Moment, Word


class ObservedValue(Message):
    """One value of a quantity of the agent's link."""

    quantity: Annotated[str, Field(max_length=100)]
    unit: Word
    source: Word
    at: Moment
    value: Annotated[float, Field(ge=-1.7e308, le=1.7e308, allow_inf_nan=False)]  # what it may be, its quantity says


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An observed value that could not be read, with its first error."""

    error: ErrorDetails


def _each_alone(value: Any, read: ValidatorFunctionWrapHandler) -> ObservedValue | Unreadable:
    """A value that cannot be read costs none of the others."""
    try:
        observed: ObservedValue = read(value)
    except ValidationError as error:
        return Unreadable(error.errors(include_url=False)[0])
    return observed


class ObservationsRequest(Message):
    """link: None for every link that the agent receives for. `Unreadable` may be among the values."""

    link: Word | None = None
    observations: Annotated[list[Annotated[ObservedValue, WrapValidator(_each_alone)]], Field(max_length=2000)]


class ObservationsHold(Message):
    hold: Annotated[bool, Field(description="A run of others holds a link that observations would cross, or the host")]


class RefusedValue(Message):
    place: Annotated[int, Field(description="In the request's list, from 0")]
    code: str
    message: str


class ObservationsAnswer(Message):
    stored: int
    refused_count: Annotated[
        int, Field(description="Values that are not stored", exclude_if=lambda count: not count)
    ] = 0
    refused: list[RefusedValue] = Field(
        default=[], description="The first 20 of them", exclude_if=lambda refused: not refused
    )
