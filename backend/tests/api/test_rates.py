"""Rates of single seconds: all those of a recorded campaign, by numpy and by the answer."""

from __future__ import annotations

import csv
import io
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import text

from downlink.actions.campaigns.archive_read import load_archive
from downlink.cli.rates import csv_bytes, print_rates
from downlink.codec.series import unpack_series
from downlink.domain.results.metric import QUANTITIES
from downlink.storage.campaigns import campaign_store
from downlink.storage.tables import Run, StoredSeries
from downlink.views.results.material import report_and_records
from downlink.views.results.rates import RATES, campaign_rates
from tests.fixtures.lab import Lab
from tests.fixtures.recorded import ARCHIVE


@pytest.fixture
def campaign(lab: Lab) -> str:
    with lab.units() as unit:
        found, _ = load_archive(unit, ARCHIVE.read_bytes())
    return str(found)


def seconds_of(lab: Lab, condition: str, metric: str) -> Any:
    """Of the stored series, one run behind the other."""
    with lab.units() as unit:
        rows = unit.session.query(StoredSeries).join(Run, Run.id == StoredSeries.run_id)
        stored = rows.filter(Run.condition == condition, Run.state == "complete").all()
        series = [unpack_series(row.packed, row.quantities, QUANTITIES) for row in stored]
    return np.concatenate([each[QUANTITIES.index(metric)] for each in series])


def test_the_answer_is_exact_over_all_seconds(lab: Lab, campaign: str) -> None:
    found = lab.call("GET", f"/campaigns/{campaign}/rates")
    assert len(found["groups"]) > 1
    for group in found["groups"]:
        assert [each["metric"] for each in group["rates"]] == [*RATES]
        for rate in group["rates"]:
            values = seconds_of(lab, group["condition"], rate["metric"])
            assert (rate["n"], rate["unknown"], rate["runs"]) == (len(values), 0, group["runs"])
            assert rate["quantiles_bps"] == np.quantile(values, found["shares"], method="inverted_cdf").tolist()
            assert rate["p95_bps"] == np.quantile(values, 0.95, method="inverted_cdf")
            assert rate["mean_bps"] == pytest.approx(values.mean())


def test_a_second_without_bytes_is_0_and_one_without_telemetry_is_left_out(lab: Lab, campaign: str) -> None:
    before = lab.call("GET", f"/campaigns/{campaign}/rates")["groups"][0]["rates"][0]
    with lab.units() as unit:
        run = unit.session.query(Run).filter(Run.condition == _first(lab, campaign), Run.state == "complete").first()
        row = unit.session.query(StoredSeries).filter(StoredSeries.run_id == run.id).first()
        values = unpack_series(row.packed, row.quantities, row.quantities)
        values[row.quantities.index("throughput_bps"), 3:6] = 0, 0, np.nan
        row.packed = values.astype(">f8").tobytes()
        unit.session.execute(text("DELETE FROM report_answers"))
    after = lab.call("GET", f"/campaigns/{campaign}/rates")["groups"][0]["rates"][0]
    assert (after["n"], after["unknown"]) == (before["n"] - 1, 1)
    assert after["quantiles_bps"][0] == 0
    values = seconds_of(lab, _first(lab, campaign), "throughput_bps")
    assert after["mean_bps"] == pytest.approx(np.nanmean(values))


def _first(lab: Lab, campaign: str) -> str:
    return str(lab.call("GET", f"/campaigns/{campaign}/rates")["groups"][0]["condition"])


def test_of_the_reports_records_it_is_the_same_as_of_stored_series(lab: Lab, campaign: str) -> None:
    with lab.units() as unit:
        made = report_and_records(unit, campaign_store.find_campaign(unit, UUID(campaign)))
        found = campaign_rates(unit, UUID(campaign), made=made)
        assert found.groups
        assert found == campaign_rates(unit, UUID(campaign))


def test_the_command_prints_a_line_for_each_rate(lab: Lab, campaign: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = lab.call("GET", f"/campaigns/{campaign}/rates")
    print_rates(found)
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [line[4] for line in lines[1:]] == ["throughput", "goodput"] * len(found["groups"])
    table = list(csv.DictReader(io.StringIO(csv_bytes(found).decode())))
    assert len(table) == 2 * 101 * len(found["groups"])
    first = found["groups"][0]["rates"][0]
    assert float(table[50]["value_bps"]) == first["quantiles_bps"][50]


def test_the_command_says_where_there_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_rates({"shares": [], "groups": []})
    assert "No run" in capsys.readouterr().err
