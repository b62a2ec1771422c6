"""Parts that every schema shares: the problem shape, lists, text that people may have typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer, create_model

from downlink.domain.moment import in_utc, moment_text
from downlink.domain.text import is_one_line, is_storable, without_controls


def storable(text: str) -> str:
    """ValueError for what a database does not take, or what is no character of its own."""
    if not is_storable(text):
        raise ValueError("zero characters and halves of surrogate pairs are not allowed")
    return text


def refuse_controls(text: str) -> str:
    """ValueError for characters that steer a terminal, and for what cannot be stored."""
    if without_controls(text, but="\n\t\u2028\u2029") != text:
        raise ValueError("control characters are not allowed")
    return storable(text)


def one_line(text: str) -> str:
    """ValueError for what is no name."""
    if not is_one_line(text):
        raise ValueError("line breaks, tabs and control characters are not allowed")
    return text


Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(one_line)]
Text = Annotated[str, Field(max_length=4000), AfterValidator(refuse_controls)]
SamplingName = Literal["polled", "per_ack"]
SaidMoment = Annotated[AwareDatetime, AfterValidator(in_utc)]
"""Of a request, with any offset."""
Moment = Annotated[datetime, PlainSerializer(moment_text, when_used="json", return_type=str)]


class Body(BaseModel):
    """A request: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


class Shape(BaseModel):
    """An answer, read from domain objects or rows."""

    model_config = ConfigDict(from_attributes=True)


def may_be_left_out(schema: dict[str, Any]) -> None:
    """For a field that answers leave out at its default: in the document, a default means that the field is always there."""
    schema.pop("default", None)


S = TypeVar("S", bound=Shape)


def with_listed(names: Iterable[str], kind: Any) -> Callable[[type[S]], type[S]]:
    """Give a shape a field of this kind for each of these quantities (domain/quantities.csv), after its own fields."""

    def extend(shape: type[S]) -> type[S]:
        fields: dict[str, Any] = dict.fromkeys(names, (kind, ...))
        return create_model(
            shape.__name__, __base__=shape, __doc__=shape.__doc__, __module__=shape.__module__, **fields
        )

    return extend


class Problem(Shape):
    """The one shape of every error."""

    code: str = Field(description="Stable, for programs: `campaign_not_found`", examples=["campaign_not_found"])
    message: str = Field(description="A sentence for people that says what to do")
    details: dict[str, Any] = Field(default_factory=dict, description="Facts behind the sentence")


class Interval(Shape):
    """A mean over runs with its 95 % interval (Student's t, within the quantity's range); interval and sd are null when n = 1."""

    mean: float | None
    low: float | None
    high: float | None
    n: int
    sd: float | None
