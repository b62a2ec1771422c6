"""Random schedules of faults in virtual time: whatever fails, every run ends once, by name, with the samples that it announced.

Some here; `make chaos N=1000` runs as many as it says (CHAOS_N), from CHAOS_SEED on. A schedule
that failed is run alone by its seed: CHAOS_SEED=17 CHAOS_N=1.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import text

from downlink.jobs import tasks
from downlink.process.settings import Settings
from downlink.storage.tables import Table
from downlink.storage.unit import UnitFactory, open_units
from tests.fixtures.broken_database import BrokenDatabase, breakable
from tests.fixtures.chaos import Chaos
from tests.fixtures.faults import AGENTS, draw_faults
from tests.fixtures.invariants import MUST_BE_EMPTY
from tests.fixtures.lab import Lab

FIRST, COUNT = int(os.environ.get("CHAOS_SEED", "1")), int(os.environ.get("CHAOS_N", "38"))
STEPS, MOST_FAULTS = 14, 6
ENDED = "SELECT state, reason FROM runs"
LINKS = {"a": ("client-a", "server"), "b": ("client-b", "server")}
FACTS: dict[str, dict[str, Any]] = {
    "a": {"orbit": "GEO", "operator": "Viasat", "nominal_rate_bps": 144_000_000, "base_rtt_ms": 600},
    "b": {"orbit": "LEO", "operator": "Starlink", "nominal_rate_bps": 220_000_000, "base_rtt_ms": 45},
}
pytestmark = [pytest.mark.sampled("faults", one_of=8), pytest.mark.timeout(300)]


@dataclass
class Ground:
    """A server whose agents have joined, and which all schedules of this file happen to."""

    lab: Lab
    database: BrokenDatabase
    secrets: dict[str, str]


@pytest.fixture(scope="module")
def ground(database_url: str, redis_url: str) -> Iterator[Ground]:
    settings = Settings(
        database_url=SecretStr(database_url), redis_url=SecretStr(redis_url), base_url="http://testserver"
    )
    opened = open_units(database_url, 4)
    empty(opened)
    with pytest.MonkeyPatch.context() as patch, Lab(settings, opened) as lab, breakable(opened.engine) as database:
        patch.setattr(tasks, "RETRY_S", 0.0)
        lab.stop_clock()
        secrets = {name: lab.join(name).secret for name in AGENTS}
        for link, (receiver, sender) in LINKS.items():
            lab.link(link, receiver, (sender,), **FACTS[link])
        yield Ground(lab, database, secrets)
    opened.close()


def empty(opened: UnitFactory) -> None:
    with opened.engine.begin() as connection:
        for table in reversed(Table.metadata.sorted_tables):
            connection.execute(table.delete())


def begin(ground: Ground, seed: int) -> Chaos:
    chaos = Chaos(ground.lab, ground.database, seed)
    chaos.begin_anew(ground.secrets)
    for number in range(chaos.chance.choice((1, 1, 1, 2))):
        ground.lab.launch(**draw_campaign(chaos.chance), name=f"campaign {number}")
    return chaos


def draw_campaign(chance: Random) -> dict[str, Any]:
    conditions = [{"name": "on", "sender": {"tcp_cubic.hystart": 1}}, {"name": "plain"}]
    return {
        "links": chance.sample(sorted(LINKS), chance.randint(1, 2)),
        "timetable": {"cycles": chance.choice((1, 1, 1, 2)), "pause_s": chance.choice((0, 60))},
        "limits": {"attempts": chance.randint(1, 3)},
        "conditions": chance.sample(conditions, chance.choice((1, 1, 1, 2))),
    }


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_whatever_fails_every_run_ends_once_by_name_with_what_it_announced(
    ground: Ground, seed: int, record_property: Any
) -> None:
    chaos = begin(ground, seed)
    faults = draw_faults(chaos.chance, STEPS, MOST_FAULTS)
    planned = chaos.value("SELECT count(*) FROM runs")
    record_property("seed", seed)
    record_property("kinds", [fault.kind for fault in faults])
    print(f"seed {seed}, {planned} runs:", *faults, sep="\n  ")
    chaos.live_through(faults, STEPS)
    record_property("ends", [f"{state}: {reason}" if reason else state for state, reason in chaos.rows(ENDED)])
    assert chaos.wrong() == {}
    assert len(chaos.places()) == planned


TAMPERED = {
    "a run without a final state": "UPDATE runs SET state = 'uploading' WHERE state = 'complete'",
    "an end without a reason and a sentence": "UPDATE runs SET state = 'failed' WHERE state = 'complete'",
    "attempts that do not follow each other": "UPDATE runs SET attempt = attempt + 1",
    "a run that held its link and did not let it go": "UPDATE runs SET released_at = NULL",
    "samples that a complete run announced and nobody has": "DELETE FROM chunks WHERE sequence = 1",
    "chunks that were announced, did not come and are not named": "DELETE FROM chunks WHERE sequence = 1",
    "a host that was not put back": 'UPDATE run_hosts SET settings_after = \'{"tcp_cubic.hystart": "0"}\'',
    "a complete run without seconds": "DELETE FROM flow_series",
    "a campaign that has not ended with its report": "DELETE FROM reports",
    "a job that is still wanted": "UPDATE runs SET needs = 'seal'",
}


def test_a_broken_promise_would_be_noticed(ground: Ground) -> None:
    """One campaign without faults; then each promise is broken in the database, and named."""
    chaos = Chaos(ground.lab, ground.database, 0)
    chaos.begin_anew(ground.secrets)
    ground.lab.launch(links=["a"], conditions=[{"name": "on", "sender": {"tcp_cubic.hystart": 1}}])
    chaos.live_through([], 1)
    assert chaos.wrong() == {}
    for promise, statement in TAMPERED.items():
        with ground.lab.units() as unit:
            unit.session.execute(text(statement))
            assert unit.session.execute(text(MUST_BE_EMPTY[promise])).all() != [], promise
            unit.session.rollback()
    assert chaos.wrong() == {}
