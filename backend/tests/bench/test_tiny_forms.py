"""Every benchmark runs once over little: it ends, and its rows are those of the full form. What they say of speed is not looked at."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

from bench import all as table
from bench.rows import SAYS_NOTHING, TINY, Row

NAMES: dict[str, list[str]] = json.loads(Path(__file__).with_name("row_names.json").read_text())
"""Benchmark to the names of its rows, which stay: who keeps BENCH_JSON compares by them."""
NEEDS = {
    "ingest_bench": "stack",
    "polls_bench": "stack",
    "stack_bench": "stack",
    "idle_bench": "stack",
    "judged_bench": "stack",
    "dashboard_bench": "stack",
    "trace_store_bench": "packages",
}
"""Those that need processes of the server, a browser or an S3 server, by their part of the long proof."""


def marked(name: str) -> object:
    marks = [pytest.mark.verify(NEEDS[name]), pytest.mark.timeout(600)] if name in NEEDS else []
    return pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", [marked(name) for name in table.PYTHON])
def test_a_benchmark_ends_and_has_the_rows_of_its_full_form(name: str, request: pytest.FixtureRequest) -> None:
    bench = import_module(f"bench.{name}")
    needs_database = "opened" in signature(bench.rows).parameters
    given = [request.getfixturevalue("opened")] if needs_database else []
    rows = list(bench.rows(bench.TINY, *given))
    assert [row.name for row in rows] == NAMES[name]
    assert wrong(rows) == []


def wrong(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if not (row.name and row.unit and math.isfinite(row.value) and row.value > 0)]


@pytest.mark.verify("kernel")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("package", table.GO)
def test_a_benchmark_of_an_agents_package_does_so_too(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TINY, "1")
    rows = list(table.run(table.go_bench(package, table.GO[package])))
    assert [row.name for row in rows] == NAMES[package]
    assert all(row.unit and math.isfinite(row.value) for row in rows), rows  # none lost and no delay are 0


def test_every_benchmark_has_its_names_and_no_other_has() -> None:
    assert set(NAMES) == {*table.PYTHON, *table.GO}
    files = {path.stem for path in (table.ROOT / "backend" / "bench").glob("*_bench.py")}
    assert files == set(table.PYTHON)


def test_the_environment_asks_for_the_tiny_form_and_its_rows_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TINY, "1")
    (row,) = table.run(table.python_bench("paths_bench"))
    assert (row.name, row.remark.startswith(SAYS_NOTHING)) == ("path of 24 h at 1 s", True)
