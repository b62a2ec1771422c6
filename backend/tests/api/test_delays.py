"""Delays of delivery tables: from what agents upload to metrics, the pooled answer, CSV and the command line."""

from __future__ import annotations

import csv
import io
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import event

from downlink.cli.delays import csv_bytes, print_delays
from downlink.cli.published_table import published_text
from downlink.domain.results.blockdelay import KINDS
from downlink.views.results.delays import campaign_delays
from tests.actions.test_faults import pair
from tests.fixtures.lab import CAMPAIGN, Lab
from tests.fixtures.scripted_agent import DELIVERED_BLOCKS, ScriptedAgent

pytestmark = pytest.mark.sampled("faults")

TRUE_MS = [80 + 5 * (block // 100) for block in range(DELIVERED_BLOCKS)]
"""In order, of each block that a scripted agent draws; each arrives 2 ms earlier."""
TWO = {
    "timetable": {**CAMPAIGN["timetable"], "cycles": 2},
    "conditions": [{"name": "plain", "flows": [{"cc": "cubic"}]}],
}


def measured(lab: Lab, *errors_ms: float | None, keeps: bool = True, **body: Any) -> tuple[str, list[ScriptedAgent]]:
    agents = list(pair(lab))
    for agent, error_ms in zip(agents, errors_ms, strict=False):
        agent.clock_error_ms = error_ms
    for agent in agents:
        agent.keeps_delivery = keeps
    campaign = lab.launch(**{**TWO, **body})
    runs = lab.drive(campaign, agents)
    assert {run["state"] for run in runs} == {"complete"}
    return campaign, agents


def kinds_of(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    (group,) = found["groups"]
    assert tuple(each["kind"] for each in group["delays"]) == KINDS
    return {each["kind"]: each for each in group["delays"]}


def test_conditions_are_compared_by_delay_and_jitter(lab: Lab) -> None:
    campaign, _ = measured(lab, 1.0, 2.0)
    (group,) = lab.call("GET", f"/campaigns/{campaign}/report")["groups"]
    overall = group["metrics"]["overall"]
    assert overall["in_order_delay_ms"]["mean"] == pytest.approx(np.mean(TRUE_MS))
    assert overall["one_way_delay_ms"]["mean"] == pytest.approx(np.mean(TRUE_MS) - 2)
    assert (overall["jitter_ms"]["mean"], overall["jitter_ms"]["n"]) == (pytest.approx(5), 2)


def test_the_answer_pools_the_blocks_of_all_runs(lab: Lab) -> None:
    campaign, _ = measured(lab, 1.0, 2.0)
    found = lab.call("GET", f"/campaigns/{campaign}/delays")
    delay = kinds_of(found)["in_order_delay"]
    assert (delay["runs"], delay["n"], delay["clock_error_ms"], delay["left_out"]) == (2, 2 * DELIVERED_BLOCKS, 3.0, [])
    truth = np.quantile(TRUE_MS * 2, found["shares"], method="inverted_cdf")
    assert delay["quantiles_ms"] == pytest.approx(truth, rel=0.005)
    assert delay["mean_ms"] == pytest.approx(np.mean(TRUE_MS)), "not of bins: of blocks"
    assert delay["median_ms"] == pytest.approx(85, rel=0.005)
    jitter = kinds_of(found)["jitter"]
    assert (jitter["n"], jitter["mean_ms"]) == (6, pytest.approx(5))


def test_the_answer_reads_no_table(lab: Lab) -> None:
    """However many rows the tables of a campaign have: what is pooled was kept when each run was analysed."""
    campaign, _ = measured(lab, 1.0, 2.0)
    read: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        read.append(statement)

    event.listen(lab.units.engine, "before_cursor_execute", note)
    try:
        with lab.units() as unit:
            found = campaign_delays(unit, UUID(campaign))
    finally:
        event.remove(lab.units.engine, "before_cursor_execute", note)
    assert found.groups[0].delays[0].n == 2 * DELIVERED_BLOCKS
    assert any("FROM flow_delays" in statement for statement in read)
    assert not any("chunks" in statement for statement in read)


def test_clocks_that_may_be_wrong_leave_no_delay_but_jitter(lab: Lab) -> None:
    campaign, _ = measured(lab, 6.0, 4.0)
    kinds = kinds_of(lab.call("GET", f"/campaigns/{campaign}/delays"))
    assert [each["why"] for each in kinds["one_way_delay"]["left_out"]] == ["clock_unsure"]
    assert (kinds["one_way_delay"]["runs"], kinds["one_way_delay"]["quantiles_ms"]) == (0, [])
    assert kinds["jitter"]["runs"] == 2
    (group,) = lab.call("GET", f"/campaigns/{campaign}/report")["groups"]
    assert group["metrics"]["overall"]["one_way_delay_ms"]["n"] == 0


def test_without_a_word_of_the_clocks_there_is_no_delay(lab: Lab) -> None:
    campaign, _ = measured(lab, 1.0)
    kinds = kinds_of(lab.call("GET", f"/campaigns/{campaign}/delays"))
    assert [(each["why"], each["runs"]) for each in kinds["in_order_delay"]["left_out"]] == [("clock_unknown", 2)]


def test_a_campaign_without_tables_says_how_to_get_them(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    campaign, _ = measured(lab, 1.0, 2.0, keeps=False)
    found = lab.call("GET", f"/campaigns/{campaign}/delays")
    assert found["groups"] == []
    print_delays(found)
    assert "deliveries: true" in capsys.readouterr().err
    table = list(csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/delays.csv"))))
    assert [(line["kind"], line["why"]) for line in table] == [("", "no_table")] * 2


def test_each_flow_has_a_line_for_each_kind(lab: Lab) -> None:
    campaign, _ = measured(lab, 1.0, 2.0)
    table = list(csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/delays.csv"))))
    assert [line["kind"] for line in table] == [*KINDS] * 2
    first = table[0]
    assert float(first["p95_ms"]) == np.quantile(TRUE_MS, 0.95, method="inverted_cdf") - 2
    assert (first["n"], first["clock_error_ms"], first["why"]) == (str(DELIVERED_BLOCKS), "3.0", "")


def test_the_command_prints_a_line_for_each_kind_and_what_was_left_out(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign, _ = measured(lab, 6.0, 4.0)
    found = lab.call("GET", f"/campaigns/{campaign}/delays")
    print_delays(found)
    said = capsys.readouterr()
    assert [line.split("\t")[4] for line in said.out.splitlines()[1:]] == [
        "one way", "one way, in order", "jitter", "jitter, in order",
    ]  # fmt: skip
    assert said.err.count("2 runs left out. The clocks of both ends") == 1
    lines = list(csv.DictReader(io.StringIO(csv_bytes(found).decode())))
    assert [line["delay"] for line in lines] == ["jitter"] * 101 + ["in_order_jitter"] * 101
    assert float(lines[100]["value_ms"]) == pytest.approx(5, rel=0.005)


def test_a_share_of_a_delay_stands_beside_what_was_published(lab: Lab) -> None:
    """As the API, the CSV and the command line have it: of all blocks of all runs."""
    own = {"metric": "in_order_delay_ms", "condition": "plain", "share": 0.8}
    values = [{**own, "name": "within", "most": 1000}, {**own, "name": "below", "published": 1}]
    campaign, _ = measured(lab, 1.0, 2.0, reproduces=[{"paper": "P", "figure": "F", "values": values}])
    (figure,) = lab.call("GET", f"/campaigns/{campaign}/reproduction")["figures"]
    within, below = figure["values"]
    truth = np.quantile(TRUE_MS * 2, 0.8, method="inverted_cdf")
    assert within["estimate"] == pytest.approx(truth, rel=0.005)
    assert within["low"] == within["high"] == within["estimate"], "both runs have the same blocks"
    assert (within["statistic"], within["n"], within["share"]) == ("quantile", 2, 0.8)
    assert (within["reading"], below["reading"]) == ("inside", "outside")
    assert published_text(within) == "at most 1000 ms at 80 %"
    lines = list(csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/reproduction.csv"))))
    assert [(line["name"], line["share"], line["statistic"]) for line in lines] == [
        ("within", "0.8", "quantile"),
        ("below", "0.8", "quantile"),
    ]
