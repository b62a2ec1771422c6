"""Parts that every schema shares: the problem shape, lists, text that people may have typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    create_model,
)
from pydantic_core.core_schema import CoreSchema, no_info_before_validator_function

from downlink.domain.moment import in_utc
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
"""A moment of a request, with any offset."""


class Form(BaseModel):
    """Fields of a form, each of them a text: unknown ones are refused."""

    model_config = ConfigDict(extra="forbid")


def _literal(node: Any) -> Any:
    """A schema of pydantic whose numbers and truth values are taken as they are written."""
    if isinstance(node, list | tuple):
        return type(node)(_literal(each) for each in node)
    if not isinstance(node, dict):
        return node
    made = {key: value if key in ("metadata", "default") else _literal(value) for key, value in node.items()}
    if made.get("type") == "bool":
        made["strict"] = True
    elif made.get("type") in ("int", "float"):
        return no_info_before_validator_function(_number, made)
    return made


def _number(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("must be a number, not a text or a truth value")
    return value


class Body(Form):
    """A request in JSON. True and "5" are no numbers, and 1 and "yes" are no truth values: what is read otherwise than it was
    written may remove something permanently. 5.0 is a whole number, since programs write those so."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        made: CoreSchema = _literal(handler(source))
        return made


class Shape(BaseModel):
    """An answer, read from domain objects or rows."""

    model_config = ConfigDict(from_attributes=True)


def may_be_left_out(schema: dict[str, Any]) -> None:
    """Mark a field that answers leave out at its default: in the document, a default means that the field is always there."""
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
