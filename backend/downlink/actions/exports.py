"""Tables and traces to take away, piece by piece. Short reads: no connection waits while a reader takes what it was given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal
from uuid import UUID

import orjson

from downlink.actions.exits import CAPACITY, TIMES
from downlink.actions.limits import ADVICE
from downlink.actions.reports import campaign_statistics, report_members
from downlink.analysis.limits import LIMITS
from downlink.codec.parquet import join_parquet, parquet_to_columns
from downlink.codec.tables import Cell, columns_to_csv, csv_pieces
from downlink.domain.errors import NotFoundError
from downlink.domain.metric import STEADY_TIMES
from downlink.storage import campaigns, exits, limits, reports, runs, traces
from downlink.storage.reports import METRIC_COLUMNS, SERIES_COLUMNS
from downlink.storage.tables import Run, RunFlow
from downlink.storage.unit import Unit, UnitFactory

TableName = Literal["series", "summary", "runs", "metrics", "exits", "limits", "fairness", "statistics", "outliers"]
Cells = Iterator[Sequence[Cell]]
Rows = Callable[[Unit, UUID], Cells]
BY_RUN = frozenset(
    {"runs", "series", "metrics", "exits", "limits"}
)  # their rows are made of one run; others of a campaign
RUN_COLUMNS = ("run_id", "link", "condition", "cycle", "position", "attempt", "state", "reason")
SLOW_START = (*CAPACITY, "stayed_in_slow_start", *TIMES)
VERDICT = ("detector", "version", "exit_us", "cwnd_segments", "cwnd_source", "is_decidable", "is_too_late", "timing")
STATISTICS = ("mean", "low", "high", "sd", "n")
COMPARED = ("link", "flow", "phase", "metric", "condition", "baseline")
WEIGHED = (
    "ratio", "bootstrap_low", "bootstrap_high", "cycles_higher", "cycles_lower", "reading", "is_primary", "family",
    "cycles_for_test", "level_p", "ks_distance", "shape_p", "detectable_difference", "cycles_needed", "cycles_missing",
)  # fmt: skip
EVENT_TIMES = ("median", "low", "high", "n", "not_within", "within_s")
OUTLIER = ("run_id", "link", "condition", "cycle", "flow", "phase", "metric", "value", "median")


def campaign_csv(units: UnitFactory, campaign_id: UUID, table: TableName) -> tuple[str, Iterator[bytes]]:
    """The campaign's name and the table as pieces of CSV. NotFoundError before the first piece, never within."""
    header, rows = _TABLES[table]
    with units(is_read_only=True) as unit:
        name = campaigns.find_campaign(unit, campaign_id).name
    found = _by_run(units, campaign_id, rows) if table in BY_RUN else _at_once(units, campaign_id, rows)
    return name, (piece.encode() for piece in csv_pieces(header, found))


def _at_once(units: UnitFactory, campaign_id: UUID, rows: Rows) -> Iterator[Sequence[Cell]]:
    """What is made of a report: it is in memory as a whole anyway."""
    with units(is_read_only=True) as unit:
        found = list(rows(unit, campaign_id))
    yield from found


def _by_run(units: UnitFactory, campaign_id: UUID, rows: Rows) -> Iterator[Sequence[Cell]]:
    """A transaction and a list for each run, in the order of the plan."""
    with units(is_read_only=True) as unit:
        ids = runs.run_ids(unit, campaign_id)
    for run_id in ids:
        with units(is_read_only=True) as unit:
            found = list(rows(unit, run_id))
        yield from found


def _flows(unit: Unit, run_id: UUID) -> list[tuple[Run, RunFlow]]:
    run = runs.get_run(unit, run_id)
    return [(run, flow) for flow in runs.flows_of(unit, run_id)]


def _run_cells(run: Run) -> tuple[Cell, ...]:
    return (str(run.id), run.link, run.condition, run.cycle, run.position, run.attempt, run.state, run.reason)


def _runs(unit: Unit, run_id: UUID) -> Cells:
    for row in runs.run_rows(unit, [run_id]):
        run = row.run
        moments = (run.due_at, run.start_at, run.ended_at)
        yield (*_run_cells(run), run.detail, *moments, row.throughput_bps, row.goodput_bps, run.analysis_version)


def _series(unit: Unit, run_id: UUID) -> Cells:
    """Every bin of every flow; a flow without any has one row that says how its run ended."""
    found = reports.series_rows(unit, [run_id])
    bins = {key: list(rows) for key, rows in groupby(found, key=lambda row: (row.run_id, row.flow))}
    for run, flow in _flows(unit, run_id):
        own = (*_run_cells(run), flow.flow, flow.cc)
        for row in bins.get((run.id, flow.flow), [(None, None, None, *(None for _ in SERIES_COLUMNS))]):
            yield (*own, *row[2:])


def _metrics(unit: Unit, run_id: UUID) -> Cells:
    """Every phase of every flow; a flow without any has one row that says how its run ended."""
    found = reports.metric_rows(unit, [run_id])
    phases = {key: list(rows) for key, rows in groupby(found, key=lambda row: (row.run_id, row.flow))}
    for run, flow in _flows(unit, run_id):
        own = (*_run_cells(run), flow.flow, flow.asked_cc, flow.cc)
        for row in phases.get((run.id, flow.flow), [None]):
            values = (getattr(row, name, None) for name in METRIC_COLUMNS)
            yield (*own, flow.time_to_steady_s, row.phase if row else None, *values)


def _exits(unit: Unit, run_id: UUID) -> Cells:
    """Every detector on every flow; a flow that was not judged has one row that says how its run ended."""
    times = {(row.run_id, row.flow): row for row in exits.slow_start_rows(unit, [run_id])}
    found = groupby(exits.exit_rows(unit, [run_id]), key=lambda row: (row.run_id, row.flow))
    verdicts = {key: list(rows) for key, rows in found}
    for run, flow in _flows(unit, run_id):
        key = (run.id, flow.flow)
        own = (*_run_cells(run), flow.flow, flow.cc, *(getattr(times.get(key), name, None) for name in SLOW_START))
        for row in verdicts.get(key, [None]):
            said = row.reason if row else getattr(times.get(key), "refusal", None)
            texts = (_json(row.parameters), _json(row.quantities)) if row else (None, None)
            yield (*own, *(getattr(row, name, None) for name in VERDICT), said, *texts)


def _limits(unit: Unit, run_id: UUID) -> Cells:
    """Every second of every flow; a flow without any has one row that says how its run ended."""
    advice = {(row.run_id, row.flow): row for row in limits.flow_limits(unit, [run_id])}
    found = groupby(limits.limit_bins(unit, [run_id]), key=lambda row: (row.run_id, row.flow))
    bins = {key: list(rows) for key, rows in found}
    for run, flow in _flows(unit, run_id):
        key = (run.id, flow.flow)
        own = (*_run_cells(run), flow.flow, flow.cc, *(getattr(advice.get(key), name, None) for name in ADVICE))
        for row in bins.get(key, [None]):
            yield (*own, *(getattr(row, name, None) for name in ("bin_s", *LIMITS)))


def _json(value: dict[str, Any]) -> str:
    return orjson.dumps(value).decode()


def _summary(unit: Unit, campaign_id: UUID) -> Cells:
    """Means and 95 % intervals over runs: per phase, then per second. Empty until there is a report."""
    for group in (report_members(unit, campaign_id) or {"groups": ()})["groups"]:
        own = (group["link"], group["condition"], group["flow"], group["cc"], group["runs"])
        for phase, metrics in group["metrics"].items():
            for metric, value in metrics.items():
                yield (*own, phase, None, metric, *(value[key] for key in STATISTICS), None, None, None)
        for name in STEADY_TIMES:
            median, low, high, n, *censored = (group[name][key] for key in EVENT_TIMES)
            yield (*own, "overall", None, name, None, low, high, None, n, median, *censored)
        yield from _seconds(own, group["series"])


def _seconds(own: Sequence[Cell], series: dict[str, Any]) -> Cells:
    for metric in SERIES_COLUMNS:
        band = series[metric]
        for bin_s, mean, low, high, n in zip(
            series["bin_s"], band["mean"], band["low"], band["high"], band["n"], strict=True
        ):
            yield (*own, None, bin_s, metric, mean, low, high, None, n, None, None, None)


def _fairness(unit: Unit, campaign_id: UUID) -> Cells:
    """How flows shared the link: Jain's index, and the difference of the first two. Empty until there is a report."""
    for found in (report_members(unit, campaign_id) or {"fairness": ()})["fairness"]:
        own = (found[name] for name in ("link", "condition", "flows", "phase"))
        jain, difference = ([found[name][key] for key in STATISTICS] for name in ("jain", "difference_bps"))
        yield (*own, found["jain_of_means"], *jain, *difference)


def _statistics(unit: Unit, campaign_id: UUID) -> Cells:
    """Every condition against the baseline, for every metric of every flow."""
    for found in campaign_statistics(unit, campaign_id)["comparisons"]:
        difference = found["difference"]
        own = (found[name] for name in COMPARED)
        yield (*own, *(difference[key] for key in STATISTICS), *(found[name] for name in WEIGHED))


def _outliers(unit: Unit, campaign_id: UUID) -> Cells:
    """Values to look at; they stay in every statistic."""
    for found in campaign_statistics(unit, campaign_id)["outliers"]:
        yield tuple(found[name] for name in OUTLIER)


_TABLES: dict[TableName, tuple[Sequence[str], Rows]] = {
    "runs": (
        (
            *RUN_COLUMNS,
            "detail",
            "due_at",
            "started_at",
            "ended_at",
            "throughput_bps",
            "goodput_bps",
            "analysis_version",
        ),
        _runs,
    ),
    "series": ((*RUN_COLUMNS, "flow", "cc", "bin_s", *SERIES_COLUMNS), _series),
    "metrics": (
        (*RUN_COLUMNS, "flow", "asked_cc", "actual_cc", "time_to_steady_s", "phase", *METRIC_COLUMNS),
        _metrics,
    ),
    "exits": (
        (*RUN_COLUMNS, "flow", "cc", *SLOW_START, *VERDICT, "verdict", "parameters", "quantities"),
        _exits,
    ),
    "limits": ((*RUN_COLUMNS, "flow", "cc", *ADVICE, "bin_s", *(f"{name}_ratio" for name in LIMITS)), _limits),
    "fairness": (
        (
            *("link", "condition", "flows", "phase", "jain_of_means"),
            *(f"jain_{name}" for name in STATISTICS),
            *(f"difference_{name}{'' if name == 'n' else '_bps'}" for name in STATISTICS),
        ),
        _fairness,
    ),
    "statistics": ((*COMPARED, *(f"difference_{name}" for name in STATISTICS), *WEIGHED), _statistics),
    "outliers": (OUTLIER, _outliers),
    "summary": (
        (
            "link",
            "condition",
            "flow",
            "cc",
            "runs",
            "phase",
            "bin_s",
            "metric",
            *STATISTICS,
            "median",
            "not_within",
            "within_s",
        ),
        _summary,
    ),
}


def trace_parquet(units: UnitFactory, run_id: UUID, flow: int, end: str) -> Iterator[bytes]:
    """A sealed trace as one Parquet file, a row group at a time."""
    return join_parquet(_chunks(units, run_id, flow, end))


def trace_csv(units: UnitFactory, run_id: UUID, flow: int, end: str) -> Iterator[bytes]:
    """A sealed trace as CSV, a chunk at a time."""
    chunks = _chunks(units, run_id, flow, end)

    def pieces() -> Iterator[bytes]:
        for number, chunk in enumerate(chunks):
            text = columns_to_csv(parquet_to_columns(chunk))
            yield text if number == 0 else text.partition(b"\r\n")[2]

    return pieces()


def _chunks(units: UnitFactory, run_id: UUID, flow: int, end: str) -> Iterator[bytes]:
    """A trace's chunks. NotFoundError before the first; one that ends within, deleted, must not look whole."""
    with units(is_read_only=True) as unit:
        trace = traces.find_trace(unit, run_id, flow, end)
        if trace is None or trace.chunks == 0:
            raise _no_trace(run_id, flow, end)

    def read() -> Iterator[bytes]:
        last = -1
        for _ in range(trace.chunks):
            with units(is_read_only=True) as unit:
                found = traces.next_sealed_chunk(unit, run_id, flow, end, last)
            if found is None:
                raise _no_trace(run_id, flow, end)
            last, parquet = found
            yield parquet

    return read()


def _no_trace(run_id: UUID, flow: int, end: str) -> NotFoundError:
    message = f"Run {run_id} has no sealed trace of flow {flow} at the {end}; the run's page says how far it is."
    return NotFoundError("trace_not_found", message)
