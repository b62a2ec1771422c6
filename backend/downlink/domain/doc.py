"""Descriptions of what answers of the API hold, beside the fields that hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Doc:
    """The description of a field in the API's document: `Annotated[int, Doc("Complete runs")]`. pydantic, which makes it, asks for it."""

    text: str

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "description": self.text}


@dataclass(frozen=True)
class As:
    """The documented type of a field whose values have a simpler one: `Annotated[list[str], As(list[UUID])]`."""

    shape: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return handler.generate_schema(self.shape)
