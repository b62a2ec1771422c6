"""A campaign's findings as Markdown: what a cell says, and where the table is put."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from downlink.cli.client import Access, Client
from downlink.cli.table import campaign_table, check_markers, event_time, markdown, put_between_markers, value
from downlink.domain.errors import InvalidError, UnavailableError


def statistics(mean: float | None, half: float | None, n: int) -> dict[str, Any]:
    low, high = (None, None) if mean is None or half is None else (mean - half, mean + half)
    return {"mean": mean, "low": low, "high": high, "n": n, "sd": None}


def make_group(condition: str, cc: str, runs: int) -> dict[str, Any]:
    phase = {
        "throughput_bps": statistics(100e6, 2.5e6, runs),
        "retransmission_percent": statistics(0.25, None, runs),
        "rtt_ms": statistics(650.0, 20.0, runs),
    }
    return {
        "link": "geo",
        "condition": condition,
        "flow": 1,
        "cc": cc,
        "runs": runs,
        "metrics": {"startup": phase, "steady": phase, "overall": phase},
        "time_to_steady_s": times(17.0, 3, 0),
        "time_to_level_s": times(None, 3, 2),
        "level_basis": "nominal",
    }


def times(median: float | None, n: int, not_within: int) -> dict[str, Any]:
    return {"median": median, "low": None, "high": None, "n": n, "not_within": not_within, "within_s": 32.0}


def make_exits(condition: str, decidable: int, exits_s: list[float]) -> dict[str, Any]:
    observed = {"detector": "observed_exit", "decidable": decidable, "exits_s": exits_s}
    first = {"detector": "first_loss", "decidable": decidable, "exits_s": [99.0]}
    return {"link": "geo", "condition": condition, "flow": 1, "detectors": [first, observed]}


def serve(exits: list[dict[str, Any]], stale_looks: int = 0, *, is_outdated: bool = False) -> Client:
    looks = iter([False] * stale_looks + [True] * 100)
    groups = [make_group("Stock", "cubic", 3), make_group("Other", "bbr", 3), make_group("Third", "dl_hybla", 3)]

    def answer(request: httpx.Request) -> httpx.Response:
        last = request.url.path.rsplit("/", 1)[-1]
        report = {
            "groups": groups,
            "phases": {"startup_s": 15.0, "steady_s": 20.0},
            "computed_at": "2026-01-02T03:04:05+00:00",
            "analysis_version": "1",
        }
        if last == "report":
            return httpx.Response(200, json={**report, "is_current": next(looks), "is_outdated": is_outdated})
        return httpx.Response(200, json={"groups": exits} if last == "exits" else {"name": "Study"})

    return Client(Access("http://server:1", "t"), httpx.MockTransport(answer))


@pytest.mark.parametrize(
    ("found", "cell"),
    [
        (statistics(104.24, 3.06, 5), "104.2 [101.2, 107.3] (5)"),
        (statistics(104.24, None, 1), "104.2 (1)"),
        (statistics(None, None, 0), "-"),
        (None, "-"),
    ],
)
def test_a_cell_shows_mean_interval_and_n(found: dict[str, Any] | None, cell: str) -> None:
    assert value(found) == cell


@pytest.mark.parametrize(
    ("found", "cell"),
    [
        (times(17.04, 5, 0), "17.0 (5)"),
        (times(28.0, 5, 1), "28.0 (5), 1 not within 32 s"),
        (times(None, 3, 2), "- (3), 2 not within 32 s"),
    ],
)
def test_a_time_says_how_many_runs_were_not_there(found: dict[str, Any], cell: str) -> None:
    assert event_time(found) == cell


def test_the_table_has_a_row_per_group_and_the_observed_exit() -> None:
    # Student's t for two degrees of freedom is 4.303; the sample deviation of 1, 2, 3 is 1: 4.303 / sqrt(3) = 2.484, and on a
    # logarithmic scale 2 e^(+-2.484 / 2).
    exits = [make_exits("Stock", 3, [1.0, 2.0, 3.0]), make_exits("Other", 0, []), make_exits("Third", 3, [])]
    lines = campaign_table(serve(exits), "c1").splitlines()
    assert "first 15 s" in lines[0]
    assert "last 20 s" in lines[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert {len(row) for row in cells} == {11}
    assert cells[2] == [
        "geo", "Stock", "1: cubic", "3", "100.0 [97.5, 102.5] (3)", "100.0 [97.5, 102.5] (3)", "17.0 (3)",
        "- (3), 2 not within 32 s", "0.25 (3)", "650 [630, 670] (3)", "2.0 [0.6, 6.9] (3)",
    ]  # fmt: skip
    assert [row[-1] for row in cells[3:]] == ["-", "none"]


def test_the_table_waits_for_the_last_runs_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("downlink.cli.table.PERIOD_S", 0.0)
    assert "Stock" in campaign_table(serve([], stale_looks=3), "c1")
    monkeypatch.setattr("downlink.cli.table.REPORT_PATIENCE_S", 0.0)
    with pytest.raises(UnavailableError, match="ask again"):
        campaign_table(serve([], stale_looks=50), "c1")


def test_nobody_waits_for_the_numbers_of_an_older_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("downlink.cli.table.REPORT_PATIENCE_S", 0.0)
    assert "analysis version 1" in campaign_table(serve([], stale_looks=50, is_outdated=True), "c1")


def test_a_table_replaces_the_one_before_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("# Page\n<!-- table -->\nold\n<!-- end of table -->\nafter\n")
    for text in ("new", "newer"):
        put_between_markers(file, text)
    assert file.read_text() == "# Page\n<!-- table -->\nnewer\n<!-- end of table -->\nafter\n"


def test_a_file_without_a_place_for_a_table_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("<!-- end of table --> <!-- table -->")
    with pytest.raises(InvalidError, match="write the lines"):
        check_markers(file)
    with pytest.raises(InvalidError, match="Cannot read"):
        check_markers(tmp_path / "absent.md")


def test_what_a_logged_link_did_has_columns_of_its_own() -> None:
    told = {
        "queueing_ms": statistics(80.0, 5.0, 3),
        "congestion_loss_percent": statistics(0.25, None, 1),
        "link_loss_percent": None,
    }
    by_log = {"metrics": {"startup": told, "steady": told, "overall": told}}
    rows = [{**make_group("Stock", "cubic", 3), "observed_exit": None, "by_log": found} for found in (by_log, None)]
    head, _, logged, other = markdown(rows).splitlines()
    titles = [title.strip() for title in head.split("|")][-5:-1]
    assert titles == [
        "One-way queueing, start-up, ms",
        "One-way queueing, steady, ms",
        "Lost by congestion, overall, % of arrivals",
        "Lost by the link, overall, % of arrivals",
    ]
    assert logged.endswith("| 80 [75, 85] (3) | 80 [75, 85] (3) | 0.250 (1) | - |")
    assert other.endswith("| - | - | - | - |")
    assert "queueing" not in markdown(rows[1:])
