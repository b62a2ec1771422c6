"""How Python types become PostgreSQL columns, and how constraints are named."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from struct import unpack
from typing import Any, ClassVar

from sqlalchemy import ARRAY, BigInteger, ColumnElement, DateTime, Dialect, LargeBinary, MetaData, Text, func
from sqlalchemy import Double as DoubleType
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeDecorator, UserDefinedType

NAMES = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
Json = dict[str, Any]


class Xid8(UserDefinedType[str]):
    """PostgreSQL's 64-bit transaction number."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "xid8"


class FloatList(TypeDecorator[list[float]]):
    """Thousands of numbers as one array: the driver would spell and read them one by one, which takes fifteen times as long."""

    impl = ARRAY(DoubleType)
    cache_ok = True

    def column_expression(self, column: ColumnElement[list[float]]) -> ColumnElement[list[float]]:
        return func.array_send(column, type_=self)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[bytes | None], list[float] | None]:  # noqa: ARG002
        return read_array

    def bind_processor(self, dialect: Dialect) -> Callable[[list[float] | None], str | None]:  # noqa: ARG002 - one database
        return array_literal


def array_literal(values: list[float] | None) -> str | None:
    """As PostgreSQL reads an array; each number comes back to the last bit."""
    return None if values is None else f"{{{str(list(values))[1:-1]}}}"


def read_array(sent: bytes | None) -> list[float] | None:
    """Of one dimension and without NULL, as PostgreSQL sends arrays (array_send in utils/adt/arrayfuncs.c): 20 bytes of head,
    then each number behind its length. An empty one has the head of no dimension."""
    return None if sent is None else list(unpack(">" + "4xd" * ((len(sent) - 20) // 12), sent[20:]))


class Table(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: DateTime(timezone=True),
        str: Text,
        int: BigInteger,
        float: DoubleType,
        bytes: LargeBinary,
        Json: JSONB(none_as_null=True),
        list[Json]: JSONB(none_as_null=True),
        list[Any]: JSONB(none_as_null=True),
        list[str]: ARRAY(Text),
        list[int]: ARRAY(BigInteger),
        list[float]: FloatList(),
    }


ischema_names["xid8"] = Xid8  # so that alembic knows the column it compares
