"""One conductor ticks, however many there are, and its place is taken when it is lost."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sqlalchemy import text

from downlink.stack.process import wait_until
from downlink.storage.unit import UnitFactory
from tests.fixtures.lab import Lab
from tests.jobs.test_processes import START_S, Processes, processes, pulse

pytestmark = pytest.mark.timeout(5 * START_S)
__all__ = ["processes"]
HOLDERS = """
    SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND (classid::bigint << 32 | objid::bigint) = hashtextextended('conductor', 0)
"""


def holders(units: UnitFactory) -> list[int]:
    """The sessions that hold the right to tick."""
    with units() as unit:
        return list(unit.session.execute(text(HOLDERS)).scalars())


def goes_on(lab: Lab) -> bool:
    before = pulse(lab)
    return wait_until(lambda: pulse(lab) > before, START_S)


def test_one_of_two_conductors_ticks_and_the_other_follows_when_it_is_killed(lab: Lab, processes: Processes) -> None:
    processes.start("conductor")
    assert wait_until(lambda: "has_turn" in processes.log("conductor"), START_S)
    processes.start("standby")
    assert wait_until(lambda: "stands_by" in processes.log("standby"), START_S)
    assert goes_on(lab)
    assert len(holders(lab.units)) == 1
    assert "has_turn" not in processes.log("standby")
    processes.kill("conductor")
    assert wait_until(lambda: "has_turn" in processes.log("standby"), START_S)
    assert goes_on(lab)
    assert len(holders(lab.units)) == 1


def test_a_conductor_that_loses_its_connection_gives_the_turn_up_and_asks_for_it_again(
    lab: Lab, processes: Processes
) -> None:
    processes.start("conductor")
    assert wait_until(lambda: "has_turn" in processes.log("conductor"), START_S)
    (holder,) = holders(lab.units)
    with lab.units() as unit:
        unit.session.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": holder})
    assert wait_until(lambda: processes.log("conductor").count("has_turn") == 2, START_S)
    assert goes_on(lab)
    assert holder not in holders(lab.units)


def test_a_conductor_loads_nothing_of_what_workers_compute_with() -> None:
    """It starts sooner and is smaller by half: it sends jobs by name."""
    program = "import downlink.jobs.conduct, sys; print(*{'numpy', 'scipy', 'pyarrow', 'zstandard'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout == "\n"
