"""Quantities of links over time."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from downlink.api.schemas.base import Body, Name, Shape, storable
from downlink.domain.moment import Moment

MAX_TEXT = 900_000
MAX_LINE = 1_000_000_000
"""A body of the API is a MiB at most; the command line sends a longer file in parts."""


class Quantity(Shape):
    link: str
    quantity: str
    unit: str
    source: str
    first_at: Moment
    last_at: Moment


class QuantityList(Shape):
    items: list[Quantity]


class StationBody(Body):
    """The CSV of a weather station."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT), AfterValidator(storable)] = Field(
        description="The file: a header, a column of times, and a column for each quantity"
    )
    source: Name = Field(default="station", description="Name of the source")
    columns: Annotated[dict[Name, Name], Field(max_length=100)] = Field(
        default_factory=dict,
        description='The file\'s own headers to quantities: {"Rain Rate": "weather.rain_mm_per_h"}',
    )
    time_zone: str | None = Field(
        default=None,
        max_length=100,
        description="Of times without an offset; the one that the file says, or the link's own, where it is left out",
    )
    first_line: int | None = Field(
        default=None,
        ge=2,
        le=MAX_LINE,
        description="The text is a part of a longer file, with its header: the line of the file behind the header here. Refusals name "
        "lines of the file, and a part may hold no value",
    )
    missing: list[Name] = Field(
        default_factory=list,
        max_length=20,
        description="What stands for no value in this file, beside empty cells, NA and the like: -999",
    )
    time_column: Name | None = Field(
        default=None, description="The header of the times, where it is not time, date or the like"
    )
    time_format: Name | None = Field(
        default=None, description="How the times are written, in the signs of strptime: `%d/%m/%Y %H:%M`"
    )
    strict: bool = Field(
        default=False,
        description="Refuse a file with a row or a cell that cannot be read; by default these are left out",
    )


class StationImported(Shape):
    values: int
    stored: int = Field(description="Those that were new")
    differing: int = Field(description="Those of a moment that has another value already, which stays")
    left_out: int = Field(default=0, description="Rows and cells that cannot be read")
    partial: list[str] = Field(default=[], description="The first ten of these with line and reason, and how many more")
