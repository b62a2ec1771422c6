"""The page of what the studies found where no number is published."""

from __future__ import annotations

import csv
import io
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from study.__main__ import app

REPRODUCTION = Path(__file__).parents[3] / "docs" / "reproduction"
PAGE = REPRODUCTION / "checks.md"
USED = ("control-terrestrial", "outside-leo", "000-e-threshold", "002-kernel", "001-vivace-elsewhere")
Change = Callable[[dict[str, str]], None]


@pytest.fixture
def archives(tmp_path: Path) -> Path:
    for name in USED:
        for ending in ("-tables.zip", ".json"):
            shutil.copy(REPRODUCTION / "archives" / f"{name}{ending}", tmp_path)
    return tmp_path


def write(archives: Path) -> str:
    page = archives / "checks.md"
    answer = CliRunner().invoke(app, ["checks", str(page), "--archives", str(archives)])
    assert answer.exit_code == 0, answer.output
    return page.read_text()


def change(archive: Path, name: str, of_row: Change) -> None:
    with zipfile.ZipFile(archive) as given:
        members = {each: given.read(each) for each in given.namelist()}
    rows = list(csv.DictReader(io.StringIO(members[name].decode())))
    for row in rows:
        of_row(row)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    members[name] = text.getvalue().encode()
    with zipfile.ZipFile(archive, "w") as changed:
        for each, content in members.items():
            changed.writestr(each, content)


def cells(page: str, begin: str) -> list[str]:
    """Of the only line that begins so."""
    (found,) = (line for line in page.splitlines() if line.startswith(f"| {begin} |"))
    return [cell.strip() for cell in found.strip("|").split("|")]


def test_the_page_says_what_the_archives_say(archives: Path) -> None:
    assert write(archives) == PAGE.read_text()


def test_no_comparison_of_single_flows_shows_an_effect_on_the_ground() -> None:
    page = PAGE.read_text().split("\n## ")[1]
    compared = [line for line in page.splitlines() if line.startswith("| ") and line.count("|") == 8][3:]
    assert len(compared) == 7
    assert all("| none |" in line for line in compared)


def test_an_effect_on_the_ground_would_be_said(archives: Path) -> None:
    def slow(row: dict[str, str]) -> None:
        if row["condition"] == "BEST" and row["phase"] == "startup":
            row["throughput_bps"] = str(0.85 * float(row["throughput_bps"]))

    change(archives / "control-terrestrial-tables.zip", "metrics.csv", slow)
    assert cells(write(archives), "BEST")[3] == "**yes**"
    assert cells(PAGE.read_text(), "BEST")[3] == "none"


def test_a_replay_that_leaves_elsewhere_than_the_kernel_is_counted(archives: Path) -> None:
    def later(row: dict[str, str]) -> None:
        if (row["condition"], row["detector"], row["cycle"]) == ("HyStart", "hystart", "2") and row["exit_us"]:
            row["exit_us"] = str(int(row["exit_us"]) + 2_000)

    change(archives / "002-kernel-tables.zip", "exits.csv", later)
    assert cells(write(archives), "HyStart")[-1] == "4 of 5"
    assert cells(PAGE.read_text(), "HyStart")[-1] == "5 of 5"


def test_a_run_that_is_not_complete_is_left_out(archives: Path) -> None:
    def failed(row: dict[str, str]) -> None:
        if (row["condition"], row["cycle"]) == ("HyStart++", "1"):
            row["state"] = "failed"

    for table in ("metrics.csv", "exits.csv"):
        change(archives / "002-kernel-tables.zip", table, failed)
    page = write(archives)
    kernel = page.split("\n## ")[4]
    assert cells(kernel, "HyStart++")[3] == "0, 0, 4"
    assert cells(kernel, "HyStart++")[-1] == "4 of 4"


def test_a_study_says_where_it_is_told_how_it_was_run_and_how_to_repeat_it(archives: Path) -> None:
    link = "[runs](README.md#how-the-numbers-were-made)"
    assert f"Campaign `outside-leo.yaml` ({link}); repeat with `make study-checks`." in write(archives)


def test_what_cannot_be_read_is_said(archives: Path) -> None:
    (archives / "outside-leo-tables.zip").unlink()
    answer = CliRunner().invoke(app, ["checks", str(archives / "page.md"), "--archives", str(archives)])
    assert answer.exit_code == 1
    assert "outside-leo-tables.zip" in str(answer.exception)
    assert not (archives / "page.md").exists()
