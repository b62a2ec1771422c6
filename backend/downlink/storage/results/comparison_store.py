"""Circumstances of complete runs: links, hosts and the analysis, as the runs themselves record them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, select

from downlink.domain.results.comparison import fact_text
from downlink.domain.runs.run import RunState
from downlink.storage.tables import LEFT_OUT, Run, RunHost, outcomes
from downlink.storage.unit import Unit

FINGERPRINT = ("kernel", "version", "qdisc", "offloads")
"""Parts of a host's fingerprint that may make numbers different."""


@dataclass(frozen=True)
class RunFacts:
    """The facts of the complete runs of a condition on a link: each value that any of them has. hosts: role and a part of the
    fingerprint to their values."""

    first_at: datetime | None
    last_at: datetime | None
    analysis_versions: Sequence[str]
    nominal_rates_bps: Sequence[int]
    base_rtts_ms: Sequence[float]
    is_emulated: Sequence[bool]
    profiles: Sequence[str]
    hosts: dict[tuple[str, str], set[str]]


def count_complete(unit: Unit, campaign_ids: Iterable[UUID]) -> int:
    """Count the complete runs of all these campaigns."""
    query = select(func.count()).select_from(Run)
    query = query.where(Run.campaign_id.in_(list(campaign_ids)), Run.state == RunState.COMPLETE, LEFT_OUT.is_not(True))
    return unit.session.scalar(query) or 0


def run_facts(unit: Unit, campaign_id: UUID, link: str, condition: str) -> RunFacts:
    """Return the facts of these complete runs; empty without any."""
    mine = and_(
        Run.campaign_id == campaign_id,
        Run.link == link,
        Run.condition == condition,
        Run.state == RunState.COMPLETE,
        LEFT_OUT.is_not(True),
    )
    columns = (
        Run.analysis_version, Run.nominal_rate_bps, Run.base_rtt_ms, Run.is_emulated, outcomes.profile(Run.link_outcome),
    )  # fmt: skip
    query = select(func.min(Run.start_at), func.max(Run.start_at), *map(_each, columns)).where(mine)
    first_at, last_at, *facts = unit.session.execute(query).one()
    versions, rates, rtts, emulated, profiles = map(_known, facts)
    return RunFacts(first_at, last_at, versions, rates, rtts, emulated, profiles, _hosts(unit, mine))


def _each(column: Any) -> ColumnElement[Any]:
    return func.array_agg(column.distinct())


def _known(values: Collection[Any] | None) -> list[Any]:
    return [value for value in values or () if value is not None]


def _hosts(unit: Unit, mine: ColumnElement[bool]) -> dict[tuple[str, str], set[str]]:
    parts = [RunHost.fingerprint[name] for name in FINGERPRINT]
    query = select(func.unnest(RunHost.roles), *parts).join(Run, Run.id == RunHost.run_id).where(mine).distinct()
    facts: dict[tuple[str, str], set[str]] = {}
    for role, *values in unit.session.execute(query):
        for name, value in zip(FINGERPRINT, values, strict=True):
            if value is not None:
                facts.setdefault((role, name), set()).add(fact_text(value))
    return facts
