"""A day of two links on a fast clock, 213 runs over GEO and 131 over LEO, while parts fail again and again: every run ends by name, and
nothing grows.

A twentieth of it here, without steps of the server's clock, which would take it whole; `make day` takes all of it (DAY_HOURS, CHAOS_SEED).
"""

from __future__ import annotations

import os

import pytest

from tests.actions.test_chaos import FIRST, Ground, ground  # noqa: F401 - a fixture
from tests.actions.test_fleet import MOST_MB, size
from tests.fixtures.chaos import Chaos
from tests.fixtures.faults import draw_faults

HOURS = float(os.environ.get("DAY_HOURS", "1.2"))
RUNS = {"a": round(213 * HOURS / 24), "b": round(131 * HOURS / 24)}
"""Link a is GEO, link b LEO (test_chaos.FACTS)."""
FAULT_EVERY_S = 900.0
pytestmark = [pytest.mark.verify("faults"), pytest.mark.timeout(600 + HOURS * 600)]


def launch(chaos: Chaos) -> None:
    for link, count in RUNS.items():
        chaos.lab.launch(
            name=f"a day of {link}", links=[link], conditions=[{"name": "plain"}], limits={"attempts": 3},
            timetable={"duration_h": HOURS, "every_s": HOURS * 3600 / count},
        )  # fmt: skip


def begin(ground: Ground) -> Chaos:  # noqa: F811
    chaos = Chaos(ground.lab, ground.database, FIRST)
    chaos.begin_anew(ground.secrets)
    launch(chaos)
    return chaos


def test_a_day_under_faults_ends_every_run_and_nothing_grows(ground: Ground) -> None:  # noqa: F811
    chaos = begin(ground)
    planned = chaos.value("SELECT count(*) FROM runs")
    assert abs(planned - sum(RUNS.values())) <= 1
    began_at = chaos.lab.now().timestamp()
    faults, next_s, before = 0, FAULT_EVERY_S, None
    while chaos.unended:
        elapsed_s = chaos.lab.now().timestamp() - began_at
        if elapsed_s > next_s and elapsed_s < HOURS * 3600:
            for fault in draw_faults(chaos.chance, 1, 2):
                if fault.kind != "server's clock" or HOURS >= 24:
                    chaos.begin(fault)
                    faults += 1
            next_s += FAULT_EVERY_S
        if before is None and elapsed_s > HOURS * 3600 / 3:
            before = size()
        assert chaos.steps < HOURS * 1500, chaos.rows("SELECT state, count(*) FROM runs GROUP BY state")
        chaos.step()
    chaos.live_through([], 0)
    assert chaos.wrong() == {}
    assert len(chaos.places()) == planned
    ends = {
        f"{state} {reason or ''}".strip(): n
        for state, reason, n in chaos.rows("SELECT state, reason, count(*) FROM runs GROUP BY 1, 2")
    }
    assert ends["complete"] > 0.5 * planned, ends
    assert before is not None
    grown = size()
    print(f"{planned} runs, {faults} faults, {chaos.steps} steps, {ends}; descriptors and MB: {before} then {grown}")
    assert grown[0] <= before[0] + 4, "descriptors"
    assert grown[1] <= before[1] + MOST_MB, "memory, MB"
