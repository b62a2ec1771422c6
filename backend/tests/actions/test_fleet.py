"""A fleet through its day: every run ends, none is lost or doubled, and nothing grows.

Two hours of twelve agents and six campaigns here. `make fleet` takes 1,000 agents through 24 hours (FLEET_AGENTS, FLEET_HOURS).
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from random import Random

import pytest

from downlink.domain.runs.run import FINAL
from tests.actions.test_turns import MEASURED
from tests.fixtures.fleet import SHORT, Fleet
from tests.fixtures.lab import Lab

AGENTS, HOURS = int(os.environ.get("FLEET_AGENTS", "12")), float(os.environ.get("FLEET_HOURS", "2"))
CAMPAIGNS, RUNS_PER_LINK = (10, 6) if HOURS >= 24 else (6, 2)
MOST_LINKS = 64
EVERY_S = HOURS * 3600 / RUNS_PER_LINK
MOST_MB = 40
TELLS_EVERY_S = 60
pytestmark = [pytest.mark.verify("faults"), pytest.mark.timeout(4 * 3600)]


def test_a_fleet_ends_every_run_and_nothing_grows(lab: Lab) -> None:
    fleet, chance = Fleet(lab), Random(1)
    links = AGENTS // 2
    for number in range(links):
        fleet.join(f"receiver-{number}")
        fleet.join(f"sender-{number}")
        lab.link(f"link-{number}", f"receiver-{number}", (f"sender-{number}",))
    for number in range(CAMPAIGNS):
        launch(lab, number, links)
    planned = fleet.value("SELECT count(*) FROM runs")
    before = None
    began_at, tells_at = lab.now().timestamp(), time.monotonic() + TELLS_EVERY_S
    while fleet.value("SELECT count(*) FROM campaigns WHERE state = 'running'"):
        disturb(fleet, chance)
        fleet.step()
        elapsed_s = lab.now().timestamp() - began_at
        if before is None and elapsed_s > HOURS * 3600 / 3:
            before = size()
        if time.monotonic() > tells_at:
            print(progress(fleet, elapsed_s), flush=True)
            tells_at += TELLS_EVERY_S
        assert elapsed_s < 3 * HOURS * 3600, fleet.rows("SELECT state, count(*) FROM runs GROUP BY state")
    places = fleet.places()
    assert len(places) == planned
    for place in places:
        assert place.attempts == list(range(1, len(place.attempts) + 1))
        assert set(place.states) <= FINAL
        assert sum(state in MEASURED for state in place.states) <= 1
    measured = sum(any(state in MEASURED for state in place.states) for place in places)
    assert measured > 0.8 * planned, fleet.rows("SELECT state, reason, count(*) FROM runs GROUP BY state, reason")
    assert fleet.value("SELECT count(*) FROM leases") == 0
    assert before is not None
    grown = size()
    assert grown[0] <= before[0] + 2, "descriptors"
    assert grown[1] <= before[1] + MOST_MB, "memory, MB"
    print(f"{planned} runs of {AGENTS} agents, {measured} measured; descriptors and MB: {before} then {grown}")
    ticks_ms = sorted(1e3 * each for each in fleet.ticks_s)
    middle, late = ticks_ms[len(ticks_ms) // 2], ticks_ms[int(0.99 * len(ticks_ms))]
    print(f"{len(ticks_ms)} ticks: median {middle:.1f} ms, p99 {late:.1f} ms, most {ticks_ms[-1]:.1f} ms")


def launch(lab: Lab, number: int, links: int) -> None:
    """Every second campaign is spaced evenly, the others run in cycles; neighbours share links."""
    count = min(MOST_LINKS, max(2, links // 5))
    names = [f"link-{(number * count + n) % links}" for n in range(count)]
    spaced = {"duration_h": HOURS, "every_s": EVERY_S}
    cycles = {"cycles": RUNS_PER_LINK, "pause_s": EVERY_S / 2}
    condition = {"name": "on", "sender": {"tcp_cubic.hystart": 1}} if number % 3 == 0 else {"name": "plain"}
    timetable = spaced if number % 2 else cycles
    lab.launch(**SHORT, name=f"campaign {number}", links=names, timetable=timetable, conditions=[condition])


def disturb(fleet: Fleet, chance: Random) -> None:
    """Now and then an agent is restarted or away, ticks are lost, or the whole server is gone for three minutes."""
    what = chance.random()
    if what < 0.01:
        fleet.send_away(chance.choice(list(fleet.agents)), chance.choice([1, 600]))
    elif what < 0.015:
        fleet.loses_ticks = chance.randint(1, 5)
    elif what < 0.017:
        fleet.lab.go_away(180)


def progress(fleet: Fleet, elapsed_s: float) -> str:
    states = dict(tuple(row) for row in fleet.rows("SELECT state, count(*) FROM runs GROUP BY state ORDER BY state"))
    return f"{elapsed_s / 3600:.1f} of {HOURS:g} hours: {states}; descriptors and MB {size()}"


def size() -> tuple[int, float]:
    """Open descriptors, and resident memory in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return len(list(Path("/proc/self/fd").iterdir())), pages * os.sysconf("SC_PAGE_SIZE") / 1e6
