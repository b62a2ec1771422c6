"""Columns of PostgreSQL for Python's types, and the names of constraints."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar

from psycopg import adapters
from psycopg.adapt import Dumper
from psycopg.pq import Format
from sqlalchemy import ARRAY, BigInteger, ColumnElement, DateTime, Dialect, LargeBinary, MetaData, Text, func
from sqlalchemy import Double as DoubleType
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeDecorator, UserDefinedType

from downlink.storage.tables.outcomes import COLUMN_TYPES

NAMES = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
Json = dict[str, Any]
_FLOAT8 = adapters.types["float8"].oid


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

    def bind_processor(self, dialect: Dialect) -> Callable[[list[float] | None], SentArray | None]:  # noqa: ARG002
        return write_array


class SentArray(bytes):
    """An array of numbers as PostgreSQL sends and receives it."""


class _ArrayDumper(Dumper):
    format = Format.BINARY
    oid = adapters.types["float8"].array_oid

    def dump(self, obj: SentArray) -> SentArray:
        return obj


adapters.register_dumper(SentArray, _ArrayDumper)


def write_array(values: list[float] | None) -> SentArray | None:
    from downlink.codec.arrays import pack_array  # noqa: PLC0415 - brings numpy, which the conductor never needs

    return None if values is None else SentArray(pack_array(values, _FLOAT8))


def read_array(sent: bytes | None) -> list[float] | None:
    from downlink.codec.arrays import unpack_array  # noqa: PLC0415 - as above

    return None if sent is None else unpack_array(sent)


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
        **COLUMN_TYPES,
    }


ischema_names["xid8"] = Xid8  # so that alembic knows the column it compares
