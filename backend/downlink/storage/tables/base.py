"""How Python types become PostgreSQL columns, and how constraints are named."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import ARRAY, BigInteger, DateTime, LargeBinary, MetaData, Text
from sqlalchemy import Double as DoubleType
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import UserDefinedType

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
        list[float]: ARRAY(DoubleType),
    }


ischema_names["xid8"] = Xid8  # so that alembic knows the column it compares
