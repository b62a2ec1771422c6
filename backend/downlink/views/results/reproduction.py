"""Published values beside a campaign's own, for every figure that its file names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, cast
from uuid import UUID

from downlink.analysis.reproduction import Material, Reading, Reproduced, Statistic, reproduce
from downlink.analysis.sketch import Sketch
from downlink.codec.sketches import unpack_counts
from downlink.domain.campaigns.campaign import Campaign as Spec
from downlink.domain.doc import Doc
from downlink.domain.results.blockdelay import PHASE_METRICS
from downlink.storage.campaigns import campaign_store
from downlink.storage.results import judgement_store
from downlink.storage.tables import Campaign, Exit, FlowDelay, SlowStart
from downlink.storage.unit import Unit
from downlink.views.results import material
from downlink.views.results.flows import complete_flows, run_ids
from downlink.views.shapes import OriginName

OBSERVED_EXIT = "observed_exit"
KEY = Mapping[tuple[str, int], Mapping[str, float | None]]


@dataclass(frozen=True)
class FlowOfCondition:
    condition: str
    flow: int


@dataclass(frozen=True, kw_only=True)
class ReproducedValue:
    """Numbers are in `unit`, which is empty for ratios."""

    name: str
    metric: str
    title: Annotated[str, Doc("Of the metric")]
    unit: str
    phase: str
    link: str
    condition: str
    flow: int
    over: Annotated[FlowOfCondition | None, Doc("The value is a ratio to this flow, pair by pair")]
    minus: Annotated[FlowOfCondition | None, Doc("The value is a difference to this flow, pair by pair")]
    object_mb: int | None
    than_link: Annotated[str | None, Doc("The value is a multiple of the same ratio over this link, cycle by cycle")]
    share: float | None = field(
        default=None,
        metadata={
            "description": "The value is what this share of all blocks, pairs of seconds or seconds do not exceed"
        },
    )
    least: Annotated[float | None, Doc("What was published; least and most are equal for one number")]
    most: float | None
    tolerance: float | None
    source: Annotated[str, Doc("Where in the paper it is")]
    why: Annotated[str, Doc("The cause where ours is off")]
    statistic: Statistic
    estimate: float | None
    low: float | None
    high: float | None
    n: Annotated[int, Doc("Runs, or pairs of them")]
    not_within: Annotated[int | None, Doc("Of a time, the runs that did not reach it")]
    reading: Annotated[
        Reading,
        Doc(
            "inside: our interval holds what was published. near: it does not, but the estimate is within the tolerance"
        ),
    ]
    equivalence_p: Annotated[float | None, Doc("Two one-sided tests that ours lies within the tolerance")]


@dataclass(frozen=True)
class ReproducedFigure:
    paper: str
    figure: str
    values: list[ReproducedValue]


@dataclass(frozen=True)
class CampaignReproduction:
    campaign_id: UUID
    name: str
    origin: OriginName
    runs: Annotated[int, Doc("Complete ones")]
    figures: list[ReproducedFigure]


@dataclass(frozen=True)
class Reproductions:
    """Every campaign whose file names a published figure, the oldest first."""

    items: list[CampaignReproduction]


def campaign_reproduction(unit: Unit, campaign_id: UUID, made: material.Made | None = None) -> CampaignReproduction:
    """Compare the complete runs so far with published values; `made` are their statistics if they were just computed.

    NotFoundError for a campaign that is not there.
    """
    campaign = campaign_store.find_campaign(unit, campaign_id)
    spec = campaign_store.campaign_of(campaign)
    head = (campaign.id, campaign.name, cast(OriginName, campaign.origin))
    if not spec.reproduces:
        return CampaignReproduction(*head, 0, [])
    report, records = made or material.report_and_records(unit, campaign)
    gathered = Material(
        report, records, _slow_starts(unit, campaign), _sketches(unit, campaign, spec), spec.timetable.seed
    )
    runs = len({each.run for each in records})
    return CampaignReproduction(*head, runs, _figures(spec, gathered))


def _figures(spec: Spec, gathered: Material) -> list[ReproducedFigure]:
    return [
        ReproducedFigure(
            figure.paper,
            figure.figure,
            [
                _value(reproduce(value, gathered, value.link or spec.links[0]), value.link or spec.links[0])
                for value in figure.values
            ],
        )
        for figure in spec.reproduces
    ]


def _value(reproduced: Reproduced, link: str) -> ReproducedValue:
    own = {**reproduced.to_dict(), "link": link}
    sides = {name: own[name] and FlowOfCondition(**own[name]) for name in ("over", "minus")}
    return ReproducedValue(**{**own, **sides})


def _sketches(unit: Unit, campaign: Campaign, spec: Spec) -> Mapping[tuple[str, int], Mapping[str, Sketch]]:
    """Return sketches of the delays of which a share is published; they are read only if there is one."""
    asked = {value.metric for figure in spec.reproduces for value in figure.values if value.share is not None}
    metrics = {kind: metric for metric, kind in PHASE_METRICS.items() if metric in asked}
    sketches: dict[tuple[str, int], dict[str, Sketch]] = defaultdict(dict)
    if metrics:
        for row in judgement_store.rows(unit, FlowDelay, run_ids(complete_flows(unit, [campaign.id]))):
            if row.kind in metrics and row.sketch is not None:
                sketches[str(row.run_id), row.flow][metrics[row.kind]] = Sketch(*unpack_counts(row.sketch))
    return sketches


def _slow_starts(unit: Unit, campaign: Campaign) -> KEY:
    """Table I's times over the runs that have cg, ex and dp (decision 0052), of flows in slow start until their loss."""
    ids = run_ids(complete_flows(unit, [campaign.id]))
    exits = judgement_store.rows(unit, Exit, ids, ("reason", "quantities", "parameters"))
    observed = {(row.run_id, row.flow): row.exit_us for row in exits if row.detector == OBSERVED_EXIT}
    return {
        (str(row.run_id), row.flow): {
            **_table_one(row),
            "slow_start_exit_s": _seconds(observed.get((row.run_id, row.flow))),
        }
        for row in judgement_store.rows(unit, SlowStart, ids)
    }


def _table_one(row: SlowStart) -> dict[str, float | None]:
    if row.is_success is None or row.stayed_in_slow_start is False:
        return {"capacity_s": _seconds(row.capacity_us)}
    error = None if row.mean_error_ratio is None else 100 * row.mean_error_ratio
    columns = {
        "capacity_s": _seconds(row.capacity_us),
        "success_percent": float(row.is_success),
        "error_percent": error,
    }
    if None in (row.cg_us, row.ex_us, row.dp_us):
        return columns
    times = {"cg_s": row.cg_us, "ex_s": row.ex_us, "dp_s": row.dp_us, "hr_s": row.hr_us}
    return {**columns, **{name: _seconds(time_us) for name, time_us in times.items()}}


def _seconds(time_us: int | None) -> float | None:
    return None if time_us is None else time_us / 1e6
