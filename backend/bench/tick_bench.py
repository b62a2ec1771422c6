"""One pass of the conductor with 1,000 runs under way, beside 100,000 planned ones and beside a tenth of them.

The rows are those of a real PostgreSQL. Every tick finds what a busy second leaves: some runs whose deadline has to be looked
at, some links that were given back, and heads behind runs that hold their links. The last row is the worst of all passes: the
first one after a break, in which everything is looked at again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from uuid import uuid4

from sqlalchemy import insert, text
from sqlalchemy.dialects.postgresql import Range

from bench.database import Opened, database, vacuum
from bench.queries import in_queries
from bench.rows import Row, show
from bench.timing import timed_s
from downlink.actions import conductor
from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.watch import API
from downlink.storage import heartbeats
from downlink.storage.runs import planned
from downlink.storage.tables import Agent, Campaign, Lease, Link, Run, RunFlow, RunHost
from downlink.storage.unit import UnitFactory

_ALL: Range[int] = Range(0, None)
CAMPAIGNS = 10


@dataclass(frozen=True)
class Size:
    """links: as many runs are under way. busy: so many of them are due each second, and so many links given back.

    few, many: planned runs.
    """

    links: int
    ticks: int
    busy: int
    few: int
    many: int


FULL = Size(links=1_000, ticks=30, busy=20, few=10_000, many=100_000)
TINY = Size(links=10, ticks=2, busy=3, few=20, many=60)
SPEC = campaign_from_dict(
    {
        "name": "bench",
        "links": ["link-0"],
        "stop": {"seconds": 60},
        "timetable": {"cycles": 100},
        "conditions": [{"name": "on", "sender": {"tcp_cubic.hystart": 1}}, {"name": "off"}],
    }
).to_dict()


def fill(units: UnitFactory, links: int, planned_runs: int, now: datetime) -> None:
    """A run under way on each link, and the planned ones spread over links and campaigns."""
    campaigns = [uuid4() for _ in range(CAMPAIGNS)]
    with units() as unit:
        for table in ("campaigns", "agents", "links", "wakes", "heartbeats"):
            unit.session.execute(text(f"DELETE FROM {table}"))  # noqa: S608 - names of this file
        shared = {"notes": "", "state": "running", "source": "", "spec": SPEC, "estimate": {}, "report_wanted": 0}
        times = {"created_at": now, "launched_at": now, "resumed_at": now}
        unit.session.execute(insert(Campaign), [{"id": id_, "name": "bench", **shared, **times} for id_ in campaigns])
        ends = [(f"link-{n}", f"receiver-{n}", f"sender-{n}") for n in range(links)]
        unit.session.execute(insert(Link), [_link(*names, now) for names in ends])
        unit.session.execute(insert(Agent), [_agent(name, now) for _, *names in ends for name in names])
        for number, names in enumerate(ends):
            _add(campaigns[number % CAMPAIGNS], names, "running", 1, now)
        for number in range(planned_runs):
            _add(campaigns[number % CAMPAIGNS], ends[number % links], "planned", 2 + number // links, now)
        for kind, rows in _rows.items():
            unit.session.execute(insert(kind), rows)
            rows.clear()
    vacuum(units)


_rows: dict[type, list[dict[str, object]]] = {Run: [], RunFlow: [], RunHost: [], Lease: []}


def _link(name: str, receiver: str, sender: str, now: datetime) -> dict[str, object]:
    facts = {"orbit": "GEO", "operator": "x", "nominal_rate_bps": 10**8, "base_rtt_ms": 600, "is_emulated": False}
    return {"name": name, "receiver": receiver, "senders": [sender], "created_at": now, **facts}


def _agent(name: str, now: datetime) -> dict[str, object]:
    facts = {"secret_hash": name.encode(), "version": "0", "host": {}, "status": "idle", "spool": []}
    return {"name": name, "boot_id": f"boot-{name}", "created_at": now, "last_seen_at": now, **facts}


def _add(campaign: object, names: tuple[str, str, str], state: str, cycle: int, now: datetime) -> None:
    link, receiver, sender = names
    run_id = uuid4()
    facts = {"stop": {"seconds": 60}, "deadline_s": 102, "expected_s": 100, "base_rtt_ms": 600, "is_host_wide": False}
    slot = {"campaign_id": campaign, "link": link, "condition": "on", "cycle": cycle, "position": 1}
    times = {"state_at": now, "due_at": now, "start_at": now if state == "running" else None}
    wake = {"wake_at": now + timedelta(hours=1) if state == "running" else None}
    _rows[Run].append(
        {"id": run_id, "state": state, "tries": 0, "nominal_rate_bps": 10**8, **facts, **slot, **times, **wake}
    )
    flow = {"sender": sender, "receiver": receiver, "asked_cc": "cubic", "cc_options": {}, "start_s": 0}
    _rows[RunFlow].append({"run_id": run_id, "flow": 1, **flow})
    for agent, role in ((receiver, "receiver"), (sender, "sender")):
        host = {
            "agent": agent,
            "roles": [role],
            "phase": "ready" if state == "running" else "assigned",
            "heard_at": now,
        }
        _rows[RunHost].append({"run_id": run_id, **host, "settings_asked": {}, "differences": []})
    if state == "running":
        for resource in (f"link:{link}", f"agent:{receiver}", f"agent:{sender}"):
            _rows[Lease].append({"run_id": run_id, "resource": resource, "slots": _ALL})


Pass = tuple[float, float]
"""Milliseconds of one pass, and of its queries alone."""


def measure(units: UnitFactory, size: Size, planned_runs: int) -> tuple[Pass, Pass]:
    """A busy pass (medians), and the first one after a break."""
    now = datetime.now(UTC)
    fill(units, size.links, planned_runs, now)
    gc.collect()
    gc.freeze()  # as the conductor does
    mark(units, now)
    broken = one_pass(units, now)
    taken = []
    for number in range(size.ticks):
        moment = now + timedelta(seconds=number + 1)
        mark(units, moment)
        with units() as unit:
            unit.session.execute(text(_DUE), {"now": moment, "busy": size.busy})
            planned.wake_links(unit, [f"link-{size.busy * number + n}" for n in range(size.busy)])
        taken.append(one_pass(units, moment))
    return (median(whole for whole, _ in taken), median(alone for _, alone in taken)), broken


_DUE = """
    UPDATE runs SET wake_at = :now WHERE id IN (SELECT id FROM runs WHERE state = 'running' ORDER BY random() LIMIT :busy)
"""


def mark(units: UnitFactory, now: datetime) -> None:
    with units() as unit:
        heartbeats.beat(unit, API, now)


def one_pass(units: UnitFactory, now: datetime) -> Pass:
    with in_queries(units.engine) as spent:
        whole_s = timed_s(lambda: conductor.tick(units, now))
    return 1e3 * whole_s, 1e3 * spent.seconds


def rows(size: Size, opened: Opened = database) -> Iterator[Row]:
    with opened() as (_, _, units):
        (few_ms, _), _ = measure(units, size, size.few)
        (many_ms, alone_ms), broken = measure(units, size, size.many)
    remark = f"peer: its queries alone; {size.links:,} runs under way, {size.busy} of them due and {size.busy} links given back"
    yield Row("tick, 100,000 planned", many_ms, "ms", alone_ms, "<= 3", remark)
    yield Row("tick by planned runs", many_ms, "ms", few_ms, "<= 1.5", f"peer: {size.few:,} planned")
    remark = f"peer: its queries alone; all {size.links:,} runs and links looked at again"
    yield Row("tick after a break", broken[0], "ms", broken[1], remark=remark)


if __name__ == "__main__":
    show(rows, FULL, TINY)
