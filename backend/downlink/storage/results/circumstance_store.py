"""Circumstances of a campaign's runs: rows counted in the database, because thousands of hosts report much the same."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, func, select, true

from downlink.storage.tables import LEFT_OUT, Link, Run, RunFlow, RunHost, outcomes
from downlink.storage.unit import Unit


class LinkFacts(NamedTuple):
    """A link as its runs were planned with; what only the register knows is None where the link is not registered here."""

    name: str
    nominal_rate_bps: int | None
    base_rtt_ms: float
    is_emulated: bool | None
    orbit: str | None
    operator: str | None
    profile: str | None
    time_zone: str | None


class Kernel(NamedTuple):
    """A kernel that hosts in these roles ran, and in how many runs."""

    roles: list[str]
    kernel: str
    runs: int


class Unset(NamedTuple):
    """A setting that was asked for and was not in force while runs went on."""

    roles: list[str]
    name: str
    asked: str
    found: str
    runs: int


class Carried(NamedTuple):
    """What flows were asked to run, and what did run and how it was sampled. Flows that never began are in none."""

    asked_cc: str
    actual_cc: str
    sampling: str | None
    flows: int


class Went(NamedTuple):
    """A way that runs of a link took, and under which addresses senders saw the receivers then."""

    link: str
    receiver: str
    sender: str
    addresses: list[str]
    runs: int


def ways(unit: Unit, campaign_id: UUID) -> list[Went]:
    """Return the network paths of the runs whose agents reported them, the most frequent first."""
    way = (Run.link, Run.way["receiver"].astext, Run.way["sender"].astext, Run.way["addresses"])
    query = select(*way, func.count()).where(Run.campaign_id == campaign_id, Run.way.is_not(None))
    found = unit.session.execute(query.group_by(*way).order_by(Run.link, func.count().desc(), *way[1:]))
    return [Went(*row) for row in found]


def implausible(unit: Unit, campaign_id: UUID) -> int:
    """Count the runs that report what their link cannot give."""
    query = select(func.count()).where(Run.campaign_id == campaign_id, func.jsonb_typeof(Run.implausible) == "array")
    return unit.session.scalar(query) or 0


def left_out(unit: Unit, campaign_id: UUID) -> int:
    """Count the runs that people left out."""
    return unit.session.scalar(select(func.count()).where(Run.campaign_id == campaign_id, LEFT_OUT)) or 0


def link_facts(unit: Unit, campaign_id: UUID) -> list[LinkFacts]:
    """Return facts of links by name. A link whose facts changed during the campaign has each state."""
    own = (Run.link, Run.nominal_rate_bps, Run.base_rtt_ms, Run.is_emulated)
    registered = (Link.orbit, Link.operator, Link.profile, Link.time_zone)
    query = select(*own, *registered).outerjoin(Link, Link.name == Run.link).where(Run.campaign_id == campaign_id)
    return [LinkFacts(*row) for row in unit.session.execute(query.distinct().order_by(*own))]


def registered_links(unit: Unit, names: list[str]) -> list[LinkFacts]:
    """The same of links over which nothing is planned yet."""
    own = (Link.name, Link.nominal_rate_bps, Link.base_rtt_ms, Link.is_emulated)
    query = select(*own, Link.orbit, Link.operator, Link.profile, Link.time_zone)
    return [LinkFacts(*row) for row in unit.session.execute(query.where(Link.name.in_(names)).order_by(Link.name))]


def kernels(unit: Unit, campaign_id: UUID) -> list[Kernel]:
    kernel = RunHost.fingerprint["kernel"].astext
    query = select(RunHost.roles, kernel, func.count()).join(Run, Run.id == RunHost.run_id)
    query = query.where(Run.campaign_id == campaign_id, kernel.is_not(None))
    return [
        Kernel(*row)
        for row in unit.session.execute(query.group_by(RunHost.roles, kernel).order_by(RunHost.roles, kernel))
    ]


def unset(unit: Unit, campaign_id: UUID) -> list[Unset]:
    """Return settings that were not made, by role and name. Spaces between numbers are no difference: kernels print tabs."""
    asked = func.jsonb_each_text(RunHost.settings_asked).table_valued("key", "value").lateral("asked")
    found = RunHost.settings_during[asked.c.key].astext
    query = select(RunHost.roles, asked.c.key, asked.c.value, found, func.count())
    query = query.select_from(RunHost).join(Run, Run.id == RunHost.run_id).join(asked, true())
    query = query.where(Run.campaign_id == campaign_id, found.is_not(None), _plain(asked.c.value) != _plain(found))
    one = (RunHost.roles, asked.c.key, asked.c.value, found)
    return [Unset(*row) for row in unit.session.execute(query.group_by(*one).order_by(*one))]


def carried(unit: Unit, campaign_id: UUID) -> list[Carried]:
    actual, sampling = outcomes.actual_cc(RunFlow.sender_outcome), outcomes.sampling(RunFlow.sender_outcome)
    query = select(RunFlow.asked_cc, actual, sampling, func.count()).join(Run, Run.id == RunFlow.run_id)
    query = query.where(Run.campaign_id == campaign_id, actual.is_not(None))
    one = (RunFlow.asked_cc, actual, sampling)
    return [Carried(*row) for row in unit.session.execute(query.group_by(*one).order_by(*one))]


def not_restored(unit: Unit, campaign_id: UUID) -> int:
    """Runs after which a host differed from what it was before."""
    query = select(func.count(RunHost.run_id.distinct())).join(Run, Run.id == RunHost.run_id)
    return unit.session.scalar(query.where(Run.campaign_id == campaign_id, RunHost.is_restored.is_(False))) or 0


def _plain(text: ColumnElement[str]) -> ColumnElement[str]:
    return func.trim(func.regexp_replace(text, r"\s+", " ", "g"))
