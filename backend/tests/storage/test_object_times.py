"""Lists of thousands of numbers, as they are stored and read; bodies of reports, which are stored as they are."""

from __future__ import annotations

from math import inf

import pytest
from sqlalchemy import Column, MetaData, Table, insert, select, text

from downlink.storage.tables.base import FloatList
from downlink.storage.unit import UnitFactory

LISTS: dict[str, list[float] | None] = {
    "null": None,
    "empty": [],
    "one": [0.1],
    "extremes": [1.0, -2.5e-308, 1.7976931348623157e308, inf],
    "thousands": [number / 7 for number in range(3_000)],
}


@pytest.mark.parametrize("values", LISTS.values(), ids=LISTS)
def test_every_list_comes_back_to_the_last_bit(units: UnitFactory, values: list[float] | None) -> None:
    lists = Table("some_lists", MetaData(), Column("numbers", FloatList()), prefixes=["TEMPORARY"])
    with units() as unit:
        lists.create(unit.session.connection())
        unit.session.execute(insert(lists).values(numbers=values))
        assert unit.session.execute(select(lists.c.numbers)).scalar_one() == values
        unit.session.execute(text("DROP TABLE some_lists"))


def test_postgresql_does_not_compress_reports(units: UnitFactory) -> None:
    query = text("SELECT attstorage FROM pg_attribute WHERE attname = 'body' AND attrelid = CAST(:table AS regclass)")
    with units() as unit:
        for table in ("reports", "report_answers"):
            assert unit.session.scalar(query, {"table": table}) == "e", table
