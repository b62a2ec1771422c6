"""The table of benchmarks: what is measured, beside what it is compared with and what is wanted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bench import all as table
from bench.rows import Row


def test_a_goal_is_of_the_ratio_where_there_is_a_peer_and_else_of_the_value() -> None:
    assert Row("a", 100, "ms", goal="<= 100").is_met is True
    assert Row("a", 101, "ms", goal="<= 100").is_met is False
    beside = Row("b", 40, "/s", peer=100, goal=">= 0.5")
    assert (beside.ratio, beside.is_met) == (0.4, False)
    assert Row("c", 1, "ms").is_met is None


@pytest.mark.parametrize(("value", "is_in_band"), [(0.89, False), (0.9, True), (1.1, True), (1.11, False)])
def test_a_band_has_a_least_and_a_most(value: float, is_in_band: bool) -> None:
    assert Row("a", value, "ratio", band=(0.9, 1.1)).is_in_band is is_in_band
    assert Row("a", 50 * value, "ms", peer=50, band=(0.9, 1.1)).is_in_band is is_in_band
    assert Row("a", value, "ratio").is_in_band is None


@pytest.mark.parametrize(
    ("goal", "band", "is_missed"),
    [
        (None, None, False),
        ("<= 2", None, False),
        ("<= 1", None, True),
        (None, (1, 3), False),
        (None, (3, 4), True),
        ("<= 2", (3, 4), True),
        ("<= 1", (1, 3), True),
        ("<= 2", (1, 3), False),
    ],
)
def test_a_row_is_missed_when_it_misses_its_goal_or_its_band(
    goal: str | None, band: tuple[float, float] | None, is_missed: bool
) -> None:
    row = Row("a", 2, "s", goal=goal, band=band)
    assert row.is_missed is is_missed
    assert ("MISSED" in row.line(9)) is is_missed


def test_what_a_benchmark_prints_is_read_again_and_its_other_lines_are_not() -> None:
    row = Row("a", 2.5, "ms", 5.0, "<= 1", "why", [0.4, 0.6])
    assert table.parse(row.printed()) == row
    assert table.parse(Row("a", 2.5, "ms").printed()) == Row("a", 2.5, "ms")
    assert table.parse("BenchmarkDelay-2   \t1\t 5000 ns/op\n") is None


def test_a_benchmark_that_fails_leaves_a_row_and_the_others_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "BENCHES", [program("raise SystemExit(3)"), program(f"print('''{SLOW.printed()}''')")])
    monkeypatch.delenv("BENCH_JSON", raising=False)
    assert [row.value for row in table.run(table.BENCHES[0])] == [3]
    assert table.main() == 1


SLOW = Row("slow", 3, "s", peer=1, goal="<= 2", remark="why")


def program(code: str) -> table.Bench:
    return table.Bench("backend", [sys.executable, "-c", code])


@pytest.mark.parametrize(("strict", "status"), [("1", 1), ("", 0)])
def test_the_rows_are_written_as_json_and_a_missed_goal_fails_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], strict: str, status: int
) -> None:
    monkeypatch.setattr(table, "BENCHES", [program(f"print('''{SLOW.printed()}''')")])
    monkeypatch.setenv("BENCH_JSON", str(tmp_path / "rows.json"))
    monkeypatch.setenv("BENCH_STRICT", strict)
    assert table.main() == status
    (row,) = json.loads((tmp_path / "rows.json").read_text())
    known = {"name": "slow", "value": 3, "unit": "s", "peer": 1, "ratio": 3, "goal": "<= 2", "is_met": False}
    assert row == {**known, "band": None, "is_in_band": None}
    assert list(row)[: len(known)] == list(known)
    assert "MISSED" in capsys.readouterr().out
