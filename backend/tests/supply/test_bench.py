"""The table of benchmarks: what is measured, beside what it is compared with and what is wanted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bench import all as table


def result(line: str) -> table.Result:
    (found,) = table.parse(line)
    return found


def test_a_goal_is_of_the_ratio_where_there_is_a_peer_and_else_of_the_value() -> None:
    assert result('{"name": "a", "value": 100, "unit": "ms", "goal": "<= 100"}').is_met is True
    assert result('{"name": "a", "value": 101, "unit": "ms", "goal": "<= 100"}').is_met is False
    beside = result('{"name": "b", "value": 40, "unit": "/s", "peer": 100, "goal": ">= 0.5"}')
    assert (beside.ratio, beside.is_met) == (0.4, False)
    assert result('{"name": "c", "value": 1, "unit": "ms"}').is_met is None


def test_a_go_benchmark_gives_a_row_per_unit_with_the_goal_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "GOALS", {"Delay/p99": "<= 0.15"})
    (row,) = table.parse("BenchmarkDelay/p99-2   \t1\t 5000 ns/op\t 0.14 ms")
    assert (row.name, row.value, row.unit, row.is_met) == ("Delay/p99", 0.14, "ms", True)


@pytest.mark.parametrize(("strict", "status"), [("1", 1), ("", 0)])
def test_the_rows_are_written_as_json_and_a_missed_goal_fails_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], strict: str, status: int
) -> None:
    line = json.dumps({"name": "slow", "value": 3, "unit": "s", "peer": 1, "goal": "<= 2", "remark": "why"})
    monkeypatch.setattr(table, "BENCHES", [table.Bench("backend", [sys.executable, "-c", f"print('''{line}''')"])])
    monkeypatch.setenv("BENCH_JSON", str(tmp_path / "rows.json"))
    monkeypatch.setenv("BENCH_STRICT", strict)
    assert table.main() == status
    (row,) = json.loads((tmp_path / "rows.json").read_text())
    assert row == {"name": "slow", "value": 3, "unit": "s", "peer": 1, "ratio": 3, "goal": "<= 2", "is_met": False}
    assert "MISSED" in capsys.readouterr().out
