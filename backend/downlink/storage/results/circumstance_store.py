"""Circumstances of a campaign's runs: rows counted in the database, because thousands of hosts report much the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from sqlalchemy import ColumnElement, func, select, true

from downlink.domain.doc import Doc
from downlink.domain.links.link import Orbit
from downlink.storage.tables import LEFT_OUT, Link, Run, RunFlow, RunHost, outcomes
from downlink.storage.unit import Unit


@dataclass(frozen=True)
class LinkFacts:
    """A link as its runs were planned with."""

    name: str
    nominal_rate_bps: Annotated[int | None, Doc("Null of imported files, which do not say it")]
    base_rtt_ms: float
    is_emulated: bool | None
    orbit: Annotated[Orbit | None, Doc("This and the next three: as registered now; null where the link is not")]
    operator: str | None
    profile: str | None
    time_zone: str | None


@dataclass(frozen=True)
class HostKernel:
    roles: list[str]
    kernel: str
    runs: int


@dataclass(frozen=True)
class UnsetSetting:
    """Asked for, and not in force while runs went on."""

    roles: list[str]
    name: str
    asked: str
    found: str
    runs: int


@dataclass(frozen=True)
class CarriedFlows:
    asked_cc: str
    actual_cc: str
    sampling: Annotated[str | None, Doc("`per_ack` or `polled`, as it was done")]
    flows: int


@dataclass(frozen=True)
class WentWay:
    """A way that runs of a link took. Another interface or first hop makes a group of its own in every number."""

    link: str
    receiver: Annotated[str, Doc("Interface and first hop of the receivers' packets; empty: not known")]
    sender: str
    addresses: Annotated[list[str], Doc("Under which senders saw the receivers")]
    runs: int


def ways(unit: Unit, campaign_id: UUID) -> list[WentWay]:
    """Return the network paths of the runs whose agents reported them, the most frequent first."""
    way = (Run.link, Run.way["receiver"].astext, Run.way["sender"].astext, Run.way["addresses"])
    query = select(*way, func.count()).where(Run.campaign_id == campaign_id, Run.way.is_not(None))
    rows = unit.session.execute(query.group_by(*way).order_by(Run.link, func.count().desc(), *way[1:]))
    return [WentWay(*row) for row in rows]


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
    return [_facts(*row) for row in unit.session.execute(query.distinct().order_by(*own))]


def registered_links(unit: Unit, names: list[str]) -> list[LinkFacts]:
    """The same of links over which nothing is planned yet."""
    own = (Link.name, Link.nominal_rate_bps, Link.base_rtt_ms, Link.is_emulated)
    query = select(*own, Link.orbit, Link.operator, Link.profile, Link.time_zone)
    return [_facts(*row) for row in unit.session.execute(query.where(Link.name.in_(names)).order_by(Link.name))]


def _facts(
    name: str, rate_bps: int | None, rtt_ms: float, is_emulated: bool | None, orbit: str | None, *rest: str | None
) -> LinkFacts:
    return LinkFacts(name, rate_bps, rtt_ms, is_emulated, Orbit(orbit) if orbit else None, *rest)


def kernels(unit: Unit, campaign_id: UUID) -> list[HostKernel]:
    kernel = RunHost.fingerprint["kernel"].astext
    query = select(RunHost.roles, kernel, func.count()).join(Run, Run.id == RunHost.run_id)
    query = query.where(Run.campaign_id == campaign_id, kernel.is_not(None))
    return [
        HostKernel(*row)
        for row in unit.session.execute(query.group_by(RunHost.roles, kernel).order_by(RunHost.roles, kernel))
    ]


def unset(unit: Unit, campaign_id: UUID) -> list[UnsetSetting]:
    """Return settings that were not made, by role and name. Spaces between numbers are no difference: kernels print tabs."""
    asked = func.jsonb_each_text(RunHost.settings_asked).table_valued("key", "value").lateral("asked")
    actual = RunHost.settings_during[asked.c.key].astext
    query = select(RunHost.roles, asked.c.key, asked.c.value, actual, func.count())
    query = query.select_from(RunHost).join(Run, Run.id == RunHost.run_id).join(asked, true())
    query = query.where(Run.campaign_id == campaign_id, actual.is_not(None), _plain(asked.c.value) != _plain(actual))
    one = (RunHost.roles, asked.c.key, asked.c.value, actual)
    return [UnsetSetting(*row) for row in unit.session.execute(query.group_by(*one).order_by(*one))]


def carried(unit: Unit, campaign_id: UUID) -> list[CarriedFlows]:
    actual, sampling = outcomes.actual_cc(RunFlow.sender_outcome), outcomes.sampling(RunFlow.sender_outcome)
    query = select(RunFlow.asked_cc, actual, sampling, func.count()).join(Run, Run.id == RunFlow.run_id)
    query = query.where(Run.campaign_id == campaign_id, actual.is_not(None))
    one = (RunFlow.asked_cc, actual, sampling)
    return [CarriedFlows(*row) for row in unit.session.execute(query.group_by(*one).order_by(*one))]


def not_restored(unit: Unit, campaign_id: UUID) -> int:
    """Runs after which a host differed from what it was before."""
    query = select(func.count(RunHost.run_id.distinct())).join(Run, Run.id == RunHost.run_id)
    return unit.session.scalar(query.where(Run.campaign_id == campaign_id, RunHost.is_restored.is_(False))) or 0


def _plain(text: ColumnElement[str]) -> ColumnElement[str]:
    return func.trim(func.regexp_replace(text, r"\s+", " ", "g"))
