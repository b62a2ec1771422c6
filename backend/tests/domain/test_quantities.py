"""One list of what is computed of a flow. Answers, CSVs and pages are made of it; the columns of tables are held against it."""

from __future__ import annotations

from downlink.domain.metric import LIMITS, LISTED, METRICS, MOST, OBJECTS, QUANTITIES, SHARED, SLOW_STARTS, STEADY_TIMES
from downlink.storage.tables import FlowLimit, Metric

UNIT_ENDS = {"b/s": "_bps", "ms": "_ms", "B": "_bytes", "%": "_percent", "s": "_s", "index": "_index"}


def test_names_end_with_their_unit() -> None:
    for each in LISTED:
        assert each.kind == "share" or each.name.endswith(UNIT_ENDS.get(each.unit, "_ratio")), each
        assert each.average in (
            "mean of seconds",
            "ratio of sums",
            "percentile",
            "median",
            "mean of runs",
            "share of runs",
        ), each


def test_each_is_in_one_group() -> None:
    assert (*METRICS, *STEADY_TIMES, *OBJECTS, *SHARED, *SLOW_STARTS, *LIMITS) == tuple(each.name for each in LISTED)
    assert METRICS[: len(QUANTITIES)] == QUANTITIES
    assert MOST == {"retransmission_percent": 100.0, "probe_loss_percent": 100.0}


def test_tables_have_them_all() -> None:
    assert set(Metric.__table__.columns.keys()) - {"run_id", "flow", "phase"} == set(METRICS)
    assert set(LIMITS) <= set(FlowLimit.__table__.columns.keys())
