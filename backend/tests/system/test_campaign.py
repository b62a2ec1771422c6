"""The main job: a campaign over the emulated link, from file to CSV, whose numbers anyone can compute again from the traces."""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy import stats

from downlink.cli.export import export_archive, export_folder
from tests.system.conftest import System
from tests.system.test_faults import HYSTART

pytestmark = pytest.mark.verify("stack")

Row = dict[str, str]
SECONDS, STARTUP_S, STEADY_S, CYCLES = 6, 2, 2, 3
SOURCE = f"""
name: End to end
links: [terrestrial]
stop: {{seconds: {SECONDS}}}
phases: {{startup_s: {STARTUP_S}, steady_s: {STEADY_S}}}
timetable: {{cycles: {CYCLES}, pause_s: 0}}
conditions:
  - {{name: HyStart on, sender: {{tcp_cubic.hystart: 1}}}}
  - {{name: HyStart off, sender: {{tcp_cubic.hystart: 0}}}}
"""


@pytest.fixture(scope="module")
def campaign(system: System) -> str:
    campaign = system.launch(SOURCE)
    system.wait_complete(campaign)
    return campaign


def table(system: System, campaign: str, name: str) -> list[Row]:
    out = io.BytesIO()
    system.client.download(f"/campaigns/{campaign}/{name}.csv", out)
    return list(csv.DictReader(io.StringIO(out.getvalue().decode())))


def trace(system: System, run: str, end: str = "sender") -> dict[str, NDArray[np.int64]]:
    out = io.BytesIO()
    system.client.download(f"/runs/{run}/traces/1/{end}.parquet", out)
    read = pq.read_table(io.BytesIO(out.getvalue()))
    return {name: read.column(name).to_numpy() for name in read.column_names}


@pytest.mark.verify("stack", measures=True)
def test_every_run_is_complete_and_carried_real_traffic(system: System, campaign: str) -> None:
    runs = system.runs_in_time(campaign)
    assert [run["state"] for run in runs] == ["complete"] * (2 * CYCLES)
    assert all(20e6 < run["throughput_bps"] < 50e6 for run in runs), "the link carries 50 Mb/s"


@pytest.mark.verify("stack", measures=True)
def test_asked_and_actual_stand_side_by_side(system: System, campaign: str) -> None:
    for summary in system.runs_in_time(campaign):
        run = system.client.get(f"/runs/{summary['id']}")
        sender = next(host for host in run["hosts"] if "sender" in host["roles"])
        asked = {"HyStart on": "1", "HyStart off": "0"}[summary["condition"]]
        assert sender["settings_asked"]["tcp_cubic.hystart"] == sender["settings_during"]["tcp_cubic.hystart"] == asked
        assert (
            sender["settings_before"]["tcp_cubic.hystart"]
            == sender["settings_after"]["tcp_cubic.hystart"]
            == HYSTART.read_text().strip()
        )
        assert all(host["is_restored"] for host in run["hosts"])
        (flow,) = run["flows"]
        assert flow["asked_cc"] == flow["actual_cc"] == "cubic"
        assert 150 <= flow["traces"]["sender"]["achieved_rate_hz"] <= 205
        assert 70 <= flow["traces"]["receiver"]["achieved_rate_hz"] <= 105


def test_no_telemetry_crossed_the_link_during_a_run(system: System, campaign: str) -> None:
    """What arrived over the link is what the receiver read: the chunks were stored after the run's settings were back."""
    for summary in system.runs_in_time(campaign):
        run = system.client.get(f"/runs/{summary['id']}")
        kinds = [event["kind"] for event in run["events"]]
        assert kinds.index("restoring") < kinds.index("uploading") < kinds.index("complete")


class Recomputed:
    """A run's numbers from its trace by the definitions of docs/method.md alone: none of the product's analysis is imported.

    Where the product sums up and interpolates, each step between two samples is looked at here: how much of it lies inside.
    """

    def __init__(self, columns: dict[str, NDArray[np.int64]], first_byte_us: int) -> None:
        self.columns = columns
        self.t_s = (columns["elapsed_us"] - first_byte_us) / 1e6

    def throughput_bps(self, start_s: float, end_s: float) -> float:
        new_bytes = np.diff(self.columns["delivered_segments"]) * self.columns["snd_mss_bytes"][1:]
        return 8 * self._part(new_bytes, start_s, end_s) / (min(end_s, float(self.t_s[-1])) - start_s)

    def retransmission_percent(self, start_s: float, end_s: float) -> float:
        again, sent = (
            self._part(np.diff(self.columns[name]), start_s, end_s) for name in ("retransmitted_bytes", "sent_bytes")
        )
        return 100 * again / sent

    def mean_rtt_ms(self, start_s: float, end_s: float) -> float:
        """Each measured value lasts until the next one, for two seconds at most."""
        is_measured = self.columns["rtt_us"] > 0
        rtt_us, since_s = self.columns["rtt_us"][is_measured], self.t_s[is_measured]
        until_s = np.minimum(np.append(since_s[1:], np.inf), since_s + 2)
        inside_s = overlap_s(since_s, until_s, start_s, min(end_s, float(self.t_s[-1])))
        return float(np.average(rtt_us, weights=inside_s) / 1e3)

    def _part(self, steps: NDArray[np.int64], start_s: float, end_s: float) -> float:
        """What of the steps between samples lies inside, each spread evenly over its time."""
        inside_s = overlap_s(self.t_s[:-1], self.t_s[1:], start_s, end_s)
        return float(np.sum(steps * inside_s / np.diff(self.t_s)))


def overlap_s(
    since_s: NDArray[np.float64], until_s: NDArray[np.float64], start_s: float, end_s: float
) -> NDArray[np.float64]:
    return np.clip(np.minimum(until_s, end_s) - np.maximum(since_s, start_s), 0, None)


@pytest.fixture(scope="module")
def recomputed(system: System, campaign: str) -> dict[str, list[Recomputed]]:
    """Condition to its runs."""
    found = defaultdict(list)
    for run in system.runs_in_time(campaign):
        (flow,) = system.client.get(f"/runs/{run['id']}")["flows"]
        found[run["condition"]].append(Recomputed(trace(system, run["id"]), flow["first_byte_us"]))
    return dict(found)


def mean_and_interval(values: list[float], *, is_percentage: bool) -> tuple[float, float, float]:
    """Student's interval on the scale of docs/method.md, section 3: by factors above 0, by odds between 0 and 100."""
    mean = float(np.mean(values))
    half = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
    if half == 0:
        return mean, mean, mean
    if not is_percentage:
        return mean, mean * math.exp(-half / mean), mean * math.exp(half / mean)
    odds = mean / (100 - mean)
    step = half * (1 / mean + 1 / (100 - mean))
    low, high = (odds * math.exp(sign * step) for sign in (-1, 1))
    return mean, 100 * low / (1 + low), 100 * high / (1 + high)


def agree(row: Row, values: list[float]) -> None:
    assert int(row["n"]) == len(values) == CYCLES
    expected = mean_and_interval(values, is_percentage=row["metric"].endswith("_percent"))
    assert [float(row[name]) for name in ("mean", "low", "high")] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("metric", ["throughput_bps", "rtt_ms"])
def test_seconds_of_the_csv_agree_with_the_traces(
    system: System, campaign: str, recomputed: dict[str, list[Recomputed]], metric: str
) -> None:
    rows = [row for row in table(system, campaign, "summary") if row["bin_s"] and row["metric"] == metric]
    assert len(rows) == 2 * SECONDS
    for row in rows:
        second = int(row["bin_s"])
        agree(row, [value_of(run, metric, second, second + 1) for run in recomputed[row["condition"]]])


def value_of(run: Recomputed, metric: str, start_s: float, end_s: float) -> float:
    return run.throughput_bps(start_s, end_s) if metric == "throughput_bps" else run.mean_rtt_ms(start_s, end_s)


def rows_of(system: System, campaign: str, phase: str, metric: str) -> list[Row]:
    return [row for row in table(system, campaign, "summary") if (row["phase"], row["metric"]) == (phase, metric)]


def test_the_start_up_phase_of_the_csv_agrees_with_the_traces(
    system: System, campaign: str, recomputed: dict[str, list[Recomputed]]
) -> None:
    rows = rows_of(system, campaign, "startup", "throughput_bps")
    assert {row["condition"] for row in rows} == set(recomputed)
    for row in rows:
        agree(row, [run.throughput_bps(0, STARTUP_S) for run in recomputed[row["condition"]]])


def test_the_retransmitted_share_of_the_csv_is_of_all_bytes_sent(
    system: System, campaign: str, recomputed: dict[str, list[Recomputed]]
) -> None:
    rows = rows_of(system, campaign, "overall", "retransmission_percent")
    assert {row["condition"] for row in rows} == set(recomputed)
    for row in rows:
        agree(row, [run.retransmission_percent(0, SECONDS) for run in recomputed[row["condition"]]])


def test_tables_have_one_header_units_and_utc(system: System, campaign: str) -> None:
    runs = [row for row in table(system, campaign, "runs") if row["reason"] != "emulator_late"]
    assert len(runs) == 2 * CYCLES
    assert all(row["started_at"].endswith("Z") for row in runs)
    series = table(system, campaign, "series")
    assert {row["run_id"] for row in series} == {row["run_id"] for row in runs}
    measured: set[str] = {name for name in series[0] if name.endswith(("_bps", "_ms", "_bytes", "_percent", "_s"))}
    assert {"throughput_bps", "rtt_ms", "rwnd_bytes", "cwnd_bytes", "retransmission_percent", "bin_s"} <= measured


def test_a_command_line_export_matches_the_api(system: System, campaign: str, tmp_path: Any) -> None:
    files = {file.name for file in export_folder(system.client, campaign, tmp_path / "out")}
    tables = "series summary runs metrics exits limits link proxies delays fairness statistics outliers reproduction"
    assert files == {"report.json", "delays.json", "rates.json", *(f"{name}.csv" for name in tables.split())}
    with (tmp_path / "out" / "summary.csv").open(newline="") as file:
        assert list(csv.DictReader(file)) == table(system, campaign, "summary")
    assert export_archive(system.client, campaign, tmp_path / "c.zip") > 10_000
