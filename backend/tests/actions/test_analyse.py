"""An analysis reads what it needs of the database, and reads it once."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import pytest
from sqlalchemy import event

from downlink.actions.results.reanalysis import analyse_again
from downlink.storage.unit import UnitFactory
from tests.actions.test_faults import ONE, pair, until
from tests.fixtures.lab import Lab

READS_A_TRACE = "SELECT chunks.sequence, chunks.parquet"


@pytest.fixture
def reads(units: UnitFactory) -> Iterator[list[tuple[object, ...]]]:
    """Flow and end of every trace that is read."""
    found: list[tuple[object, ...]] = []

    def note(_connection: object, _cursor: object, statement: str, parameters: dict[str, object], *_: object) -> None:
        if statement.startswith(READS_A_TRACE):
            found.append((parameters["flow_1"], parameters["point_1"]))

    event.listen(units.engine, "before_cursor_execute", note)
    yield found
    event.remove(units.engine, "before_cursor_execute", note)


def test_each_trace_of_a_run_is_read_once(lab: Lab, reads: list[tuple[object, ...]]) -> None:
    agents = [*pair(lab)]
    campaign = lab.launch(**ONE)
    until(lab, campaign, agents, "uploading")
    lab.drive(campaign, agents)
    assert sorted(reads) == [(1, "receiver"), (1, "sender")]
    reads.clear()
    with lab.units() as unit:
        analyse_again(unit, UUID(campaign), lab.now())
    assert sorted(reads) == [(1, "receiver"), (1, "sender")]
