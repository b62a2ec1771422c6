"""One list of what is computed of a flow. Answers, CSVs and pages are made of it; the columns of tables are held against it."""

from __future__ import annotations

from downlink.domain.results.metric import (
    LEADS,
    LIMITS,
    LINKED,
    LISTED,
    LOST,
    METRICS,
    MOST,
    OBJECTS,
    QUANTITIES,
    SHARED,
    SLOW_STARTS,
    STEADY_TIMES,
)
from downlink.storage.tables import FlowLimit, FlowLoss, LinkPhase, Metric

UNIT_ENDS = {
    "b/s": "_bps",
    "ms": "_ms",
    "B": "_bytes",
    "%": "_percent",
    "s": "_s",
    "index": "_index",
    "packets": "_packets",
}


def test_names_end_with_their_unit() -> None:
    for each in LISTED:
        assert each.kind == "share" or each.name.endswith(UNIT_ENDS.get(each.unit, "_ratio")), each
        assert each.average in (
            "mean of seconds",
            "mean of samples",
            "mean of blocks",
            "mean of pairs of seconds",
            "largest",
            "sum",
            "ratio of sums",
            "percentile",
            "median",
            "mean of runs",
            "share of runs",
        ), each


def test_each_is_in_one_group() -> None:
    assert (*METRICS, *STEADY_TIMES, *OBJECTS, *SHARED, *LEADS, *SLOW_STARTS, *LIMITS, *LINKED, *LOST) == tuple(
        each.name for each in LISTED
    )
    assert METRICS[: len(QUANTITIES)] == QUANTITIES
    percents = {each.name for each in LISTED if each.unit == "%" and each.level != "slow start"}
    assert dict.fromkeys(percents, 100.0) == MOST


def test_tables_have_them_all() -> None:
    assert set(Metric.__table__.columns.keys()) - {"run_id", "flow", "phase"} == set(METRICS)
    assert set(LinkPhase.__table__.columns.keys()) - {"run_id", "phase"} == set(LINKED)
    assert set(FlowLoss.__table__.columns.keys()) - {"run_id", "flow"} == set(LOST)
    assert set(LIMITS) <= set(FlowLimit.__table__.columns.keys())
