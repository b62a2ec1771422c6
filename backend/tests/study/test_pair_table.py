"""The table of two controls that share a link, out of the studies' archives."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from study.__main__ import app

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "controls" / "bbr-beside-cubic.md"
STUDY = "001-pairs"


def write(page: Path, archives: Path, *more: str) -> str:
    options = ["--studies", str(DOCS / "examples" / "studies"), "--archives", str(archives), *more]
    answer = CliRunner().invoke(app, ["pair-table", str(page), *options])
    assert answer.exit_code == 0, answer.output
    return page.read_text()


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return Path(shutil.copy(PAGE, tmp_path / "page.md"))


def line(text: str, *begin: str) -> list[str]:
    (found,) = (each for each in text.splitlines() if each.startswith(f"| {' | '.join(begin)} |"))
    return [cell.strip() for cell in found.strip("|").split("|")]


def test_the_page_says_what_the_archives_say(page: Path) -> None:
    assert write(page, DOCS / "reproduction" / "archives") == PAGE.read_text()


def test_the_table_follows_the_archive(page: Path, tmp_path: Path) -> None:
    """Control: other numbers in the archive are other numbers in the table, and a run that is not complete counts nowhere."""
    kept = DOCS / "reproduction" / "archives" / f"{STUDY}-tables.zip"
    before = line(PAGE.read_text(), STUDY, "geo-viasat", "Cubic and BBR")
    with zipfile.ZipFile(kept) as given, zipfile.ZipFile(tmp_path / kept.name, "w") as changed:
        for name in ("metrics.csv", "link.csv"):
            head, *rows = given.read(name).decode().splitlines()
            of_first = rows[0].split(",")[0]
            pair = next(row.split(",")[0] for row in rows if ",Cubic and BBR," in row)
            assert of_first != pair
            rows = [row.replace(",complete,", ",failed,") if row.startswith(pair) else row for row in rows]
            changed.writestr(name, "\n".join([head, *rows]))
    after = line(write(page, tmp_path), STUDY, "geo-viasat", "Cubic and BBR")
    assert int(after[3]) == int(before[3]) - 1
    assert after[4:7] != before[4:7]


def test_what_was_not_run_is_said(page: Path, tmp_path: Path) -> None:
    assert line(write(page, tmp_path), STUDY, "geo-viasat", "Cubic and BBR")[3:5] == ["not run yet", "-"]


def test_controls_that_no_study_has_and_a_page_without_a_place_are_refused(page: Path, tmp_path: Path) -> None:
    options = ["--studies", str(DOCS / "examples" / "studies"), "--archives", str(tmp_path)]
    nothing = CliRunner().invoke(app, ["pair-table", str(page), "--first", "reno", *options])
    bare = tmp_path / "bare.md"
    bare.write_text("no place")
    placeless = CliRunner().invoke(app, ["pair-table", str(bare), *options])
    assert (nothing.exit_code, placeless.exit_code) == (1, 1)
    assert "reno and bbr" in str(nothing.exception)
    assert "where the table goes" in str(placeless.exception)
