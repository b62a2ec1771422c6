"""What a trigger looks at each second is what it looks back at, however long a link has been observed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event, text

from downlink.domain.campaigns.trigger import QuantityHolds, Seen, looks_back_s
from downlink.storage.campaigns.trigger_store import seen_lately
from downlink.storage.unit import UnitFactory

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WHEN = QuantityHolds("dish.obstruction_ratio", above=0.02, for_s=30, link="geo")
OBSERVED = """
    WITH known AS (
        INSERT INTO link_quantities (link, quantity, source, unit, first_at, last_at)
        SELECT 'geo', 'dish.obstruction_ratio', source, 'ratio', CAST(:now AS timestamptz), :now
        FROM unnest(ARRAY['dish', 'modem']) AS source RETURNING source
    )
    INSERT INTO observations (link, quantity, source, at, value)
    SELECT 'geo', 'dish.obstruction_ratio', source, :now - back * interval '10 s', back FROM known, generate_series(0, :last) AS back
"""
MOST_PAGES = 30


def pages_read(units: UnitFactory) -> tuple[list[Seen], int]:
    """What is seen, and how many pages PostgreSQL looked at for it."""
    asked: list[tuple[str, Any]] = []
    event.listen(units.engine, "before_cursor_execute", lambda *said: asked.append((said[2], said[3])))
    with units() as unit:
        found = seen_lately(unit, WHEN, NOW)
        statement, values = asked[-1]
        explained = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement
        (plans,) = unit.session.connection().exec_driver_sql(explained, values).scalars()
    plan = (json.loads(plans) if isinstance(plans, str) else plans)[0]["Plan"]
    return found, plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


@pytest.mark.parametrize("is_analyzed", [False, True])
def test_a_look_reads_no_more_pages_of_a_long_history(units: UnitFactory, *, is_analyzed: bool) -> None:
    with units() as unit:
        unit.session.execute(text(OBSERVED), {"now": NOW, "last": 20_000})
    if is_analyzed:
        with units.engine.begin() as connection:
            connection.execute(text("ANALYZE observations, link_quantities"))
    found, pages = pages_read(units)
    kept = round(looks_back_s(WHEN) / 10)
    assert [seen.at for seen in found] == sorted([NOW - timedelta(seconds=10 * back) for back in range(kept)] * 2)
    assert [seen.source for seen in found].count("modem") == kept
    assert pages <= MOST_PAGES
