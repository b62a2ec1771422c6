"""A condition for many values: one array as its parameter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, any_, literal
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import InstrumentedAttribute


def is_one_of(column: InstrumentedAttribute[Any], values: Iterable[Any]) -> ColumnElement[bool]:
    """Return whether the column has one of the values. `in_` makes a parameter of each, which takes longer than the query."""
    return column == any_(literal(list(values), ARRAY(column.type)))
