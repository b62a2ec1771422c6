"""A campaign's tables to take away, piece by piece. Short reads: no connection waits while a reader takes what it was given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from downlink.codec.tables import Cell, csv_pieces
from downlink.domain.campaigns.expectation import checks_of, sentence
from downlink.domain.errors import InvalidError
from downlink.domain.results.metric import LOST, QUANTITIES, STEADY_TIMES
from downlink.domain.runs.run import RunState
from downlink.domain.runs.way import Way
from downlink.judging import JUDGES, SERIES, Cells, Judge, Own
from downlink.storage.campaigns import campaign_store
from downlink.storage.results import judgement_store
from downlink.storage.runs import run_details, run_store
from downlink.storage.tables import Run
from downlink.storage.unit import Unit, UnitFactory
from downlink.views.results.reports import campaign_statistics, report_members
from downlink.views.results.reproduction import FlowOfCondition, campaign_reproduction
from downlink.views.results.values import check_baseline, statistics_against

TableName = Literal[
    "series",
    "summary",
    "runs",
    "metrics",
    "exits",
    "limits",
    "link",
    "proxies",
    "delays",
    "fairness",
    "statistics",
    "outliers",
    "reproduction",
]
Rows = Callable[[Unit, UUID], Cells]
RunRows = Callable[[Unit, Sequence[UUID]], Cells]
PAGE = 500
"""Runs that are read in one transaction."""
FEW = 20
"""Measured ones of these, where what was judged of their flows is read with them."""
_UNMEASURED = frozenset({RunState.PLANNED, RunState.CANCELLED, RunState.MISSED})
"""Nothing of them is stored but that they were planned."""


class RunTable(NamedTuple):
    """at_once: measured runs that are read in one transaction."""

    header: Sequence[str]
    rows: RunRows
    at_once: int


RUN_COLUMNS = ("run_id", "link", "condition", "cycle", "position", "attempt", "state", "reason")
CAUSE = ("trigger", "trigger_at", "trigger_value")
STATISTICS = ("mean", "low", "high", "sd", "n")
COMPARED = ("link", "flow", "phase", "metric", "condition", "baseline")
PAIRED = tuple(f"paired_ratio_{name}" for name in STATISTICS)
WEIGHED = (
    "ratio", *PAIRED, "bootstrap_low", "bootstrap_high", "cycles_higher", "cycles_lower", "reading", "is_primary", "family",
    "cycles_for_test", "level_p", "ks_distance", "shape_p", "detectable_difference", "cycles_needed", "cycles_missing",
)  # fmt: skip
EVENT_TIMES = ("median", "low", "high", "n", "not_within", "within_s")
WHOSE = ("name", "metric", "unit", "phase", "link", "condition", "flow", "object_mb", "than_link", "share")
HELD = (
    "least", "most", "tolerance", "statistic", "estimate", "low", "high", "n", "not_within", "reading", "equivalence_p", "source", "why",
)  # fmt: skip
OUTLIER = ("run_id", "link", "condition", "cycle", "flow", "phase", "metric", "value", "median")


def campaign_csv(
    units: UnitFactory, campaign_id: UUID, table: TableName, baseline: str | None = None
) -> tuple[str, Iterator[bytes]]:
    """The campaign's name and the table as pieces of CSV. baseline: of the table `statistics`, where it is not the first condition.

    NotFoundError and InvalidError before the first piece, never within.
    """
    with units(is_read_only=True) as unit:
        campaign = campaign_store.find_campaign(unit, campaign_id)
        name = campaign.name
        against = None
        if baseline is not None:
            check_baseline(campaign, baseline)
            against = _against(table, baseline)
    if of_runs := _OF_RUNS.get(table):
        header, lines = of_runs.header, _by_run(units, campaign_id, of_runs)
    else:
        header, rows = _AT_ONCE[table]
        lines = _at_once(units, campaign_id, against or rows)
    return name, (piece.encode() for piece in csv_pieces(header, lines))


def _at_once(units: UnitFactory, campaign_id: UUID, rows: Rows) -> Iterator[Sequence[Cell]]:
    """Yield the rows of a report at once: it is in memory as a whole anyway."""
    with units(is_read_only=True) as unit:
        lines = list(rows(unit, campaign_id))
    yield from lines


def _by_run(units: UnitFactory, campaign_id: UUID, table: RunTable) -> Iterator[Sequence[Cell]]:
    """A transaction and a list for each page of runs, in the order of the plan."""
    with units(is_read_only=True) as unit:
        states = run_store.run_states(unit, campaign_id)
    for page in _pages(states, table.at_once):
        with units(is_read_only=True) as unit:
            lines = list(table.rows(unit, page))
        yield from lines


def _pages(states: Iterable[tuple[UUID, str]], at_once: int) -> Iterator[list[UUID]]:
    """Runs that are read at once: so many that may have been measured, and PAGE in all."""
    page: list[UUID] = []
    measured = 0
    for run_id, state in states:
        page.append(run_id)
        measured += state not in _UNMEASURED
        if measured == at_once or len(page) == PAGE:
            yield page
            page, measured = [], 0
    if page:
        yield page


def _run_cells(run: Run) -> tuple[Cell, ...]:
    return (str(run.id), run.link, run.condition, run.cycle, run.position, run.attempt, run.state, run.reason)


def _runs(unit: Unit, run_ids: Sequence[UUID]) -> Cells:
    for row in run_details.run_rows(unit, run_ids):
        run = row.run
        moments = (run.due_at, run.start_at, run.ended_at)
        rates = (row.throughput_bps, row.goodput_bps)
        last = (run.analysis_version, *_cause_cells(run), _unexpected(run), _partial(run), *_plausible_cells(run))
        yield (*_run_cells(run), run.detail, *moments, *rates, *last)


def _cause_cells(run: Run) -> tuple[Cell, ...]:
    cause = run.trigger
    if cause is None:
        return (None,) * len(CAUSE)
    return (cause["name"], datetime.fromisoformat(cause["at"]), cause["value"])


def _plausible_cells(run: Run) -> tuple[Cell, ...]:
    """Return a run's network path, what its link cannot have given, and whether a person left it out."""
    way = Way.of(run.way)
    is_left_out = None if run.decision is None else not run.decision["keeps"]
    return (way.receiver or None, way.sender or None, " ".join(run.implausible or ()) or None, is_left_out)


def _partial(run: Run) -> str | None:
    """Return the parts of its file that are in no number."""
    return "; ".join((run.import_source or {}).get("partial", ())) or None


def _unexpected(run: Run) -> str | None:
    """Its numbers outside of what its campaign expects, in words."""
    return sentence(each for each in checks_of(run.checks) if not each.is_met) or None


def _summary(unit: Unit, campaign_id: UUID) -> Cells:
    """Means and 95 % intervals over runs: per phase, then per second; then of emulated links and what they lost of each flow. Empty
    until there is a report."""
    report = report_members(unit, campaign_id) or {"groups": (), "links": ()}
    for group in report["groups"]:
        own = (group["link"], group["condition"], group["flow"], group["cc"], group["runs"])
        for phase, metrics in group["metrics"].items():
            for metric, value in metrics.items():
                yield (*own, phase, None, metric, *(value[key] for key in STATISTICS), None, None, None)
        for name in STEADY_TIMES:
            median, low, high, n, *censored = (group[name][key] for key in EVENT_TIMES)
            yield (*own, "overall", None, name, None, low, high, None, n, median, *censored)
        yield from _seconds(own, group["series"])
    for link in report["links"]:
        yield from _link_summary(link)


def _link_summary(link: dict[str, Any]) -> Cells:
    """Return the lines of the link itself, without a flow."""

    def line(flow: int | None, phase: str, metric: str, value: dict[str, Any]) -> Sequence[Cell]:
        own = (link["link"], link["condition"], flow, None, link["runs"])
        return (*own, phase, None, metric, *(value[key] for key in STATISTICS), None, None, None)

    for phase, metrics in link["metrics"].items():
        yield from (line(None, phase, metric, value) for metric, value in metrics.items())
    for flow in link["flows"]:
        yield from (line(flow["flow"], "overall", metric, flow[metric]) for metric in LOST)


def _seconds(own: Sequence[Cell], series: dict[str, Any]) -> Cells:
    for metric in QUANTITIES:
        band = series[metric]
        for bin_s, mean, low, high, n in zip(
            series["bin_s"], band["mean"], band["low"], band["high"], band["n"], strict=True
        ):
            yield (*own, None, bin_s, metric, mean, low, high, None, n, None, None, None)


def _fairness(unit: Unit, campaign_id: UUID) -> Cells:
    """Yield how flows shared the link: Jain's index, and the difference of the first two. Empty until there is a report."""
    for entry in (report_members(unit, campaign_id) or {"fairness": ()})["fairness"]:
        own = (entry[name] for name in ("link", "condition", "flows", "phase"))
        jain, difference, ratio = (
            [entry[name][key] for key in STATISTICS] for name in ("jain", "difference_bps", "ratio")
        )
        yield (*own, entry["jain_of_means"], *jain, *difference, *ratio)


def _statistics(unit: Unit, campaign_id: UUID) -> Cells:
    """Every condition against the baseline, for every metric of every flow."""
    yield from _compared(campaign_statistics(unit, campaign_id).comparisons)


def _compared(comparisons: Iterable[Mapping[str, Any]]) -> Cells:
    for entry in comparisons:
        difference = entry["difference"]
        own = (entry[name] for name in COMPARED)
        paired = (entry["paired_ratio"][key] for key in STATISTICS)
        weighed = {**entry, **dict(zip(PAIRED, paired, strict=True))}
        yield (*own, *(difference[key] for key in STATISTICS), *(weighed[name] for name in WEIGHED))


def _against(table: TableName, baseline: str) -> Rows:
    if table != "statistics":
        raise InvalidError(
            "baseline_not_here", "Only statistics.csv compares with a baseline; leave it out for other tables."
        )
    return lambda unit, campaign_id: _compared(statistics_against(unit, campaign_id, baseline, None).comparisons)


def _outliers(unit: Unit, campaign_id: UUID) -> Cells:
    """Values to look at; they stay in every statistic."""
    for outlier in campaign_statistics(unit, campaign_id).outliers:
        yield tuple(outlier[name] for name in OUTLIER)


def _reproduction(unit: Unit, campaign_id: UUID) -> Cells:
    """A line for each published value."""
    for figure in campaign_reproduction(unit, campaign_id).figures:
        for value in figure.values:
            others = [cell for side in (value.over, value.minus) for cell in _whose(side)]
            yield (
                figure.paper,
                figure.figure,
                *(getattr(value, name) for name in WHOSE),
                *others,
                *(getattr(value, name) for name in HELD),
            )


def _whose(side: FlowOfCondition | None) -> Sequence[Cell]:
    return (None, None) if side is None else (side.condition, side.flow)


def _judged(judge: Judge) -> RunRows:
    """A judge's lines of a run, and of every flow of it."""

    def lines(unit: Unit, run_ids: Sequence[UUID]) -> Cells:
        flows = _of_each_run(run_store.flows_of_runs(unit, run_ids))
        stored = {table: _of_each_run(judgement_store.rows(unit, table, run_ids)) for table in judge.tables}
        for run in run_store.get_runs(unit, run_ids):
            of_run: Own = {table: rows[run.id] for table, rows in stored.items()}
            for cells in judge.run_cells(of_run):
                yield (*_run_cells(run), None, *cells)
            for flow in flows[run.id]:
                own = {table: [row for row in rows if _flow_of(row) == flow.flow] for table, rows in of_run.items()}
                for cells in judge.cells(flow, own):
                    yield (*_run_cells(run), flow.flow, *cells)

    return lines


def _of_each_run(rows: Iterable[Any]) -> Mapping[UUID, Sequence[Any]]:
    rows_of = defaultdict[UUID, list[Any]](list)
    for row in rows:
        rows_of[row.run_id].append(row)
    return rows_of


def _flow_of(row: Any) -> int | None:
    """None of what belongs to the run as a whole."""
    return getattr(row, "flow", None)


RUN_TABLE = (
    *RUN_COLUMNS, "detail", "due_at", "started_at", "ended_at", "throughput_bps", "goodput_bps", "analysis_version", *CAUSE, "unexpected",
    "partial", "receiver_way", "sender_way", "implausible", "is_left_out",
)  # fmt: skip
_FAIRNESS = (
    *("link", "condition", "flows", "phase", "jain_of_means"),
    *(f"jain_{name}" for name in STATISTICS),
    *(f"difference_{name}{'' if name == 'n' else '_bps'}" for name in STATISTICS),
    *(f"ratio_{name}" for name in STATISTICS),
)
_SUMMARY = (
    *("link", "condition", "flow", "cc", "runs", "phase", "bin_s", "metric"),
    *(*STATISTICS, "median", "not_within", "within_s"),
)
_REPRODUCTION = ("paper", "figure", *WHOSE, "over_condition", "over_flow", "minus_condition", "minus_flow", *HELD)
_OF_RUNS: dict[str, RunTable] = {
    "runs": RunTable(RUN_TABLE, _runs, PAGE),
    **{
        judge.name: RunTable((*RUN_COLUMNS, "flow", *judge.header), _judged(judge), 1 if judge is SERIES else FEW)
        for judge in JUDGES
    },
}
"""Their rows are made of runs."""
_AT_ONCE: dict[str, tuple[Sequence[str], Rows]] = {
    "fairness": (_FAIRNESS, _fairness),
    "statistics": ((*COMPARED, *(f"difference_{name}" for name in STATISTICS), *WEIGHED), _statistics),
    "outliers": (OUTLIER, _outliers),
    "reproduction": (_REPRODUCTION, _reproduction),
    "summary": (_SUMMARY, _summary),
}
"""Theirs are made of a campaign's report."""
