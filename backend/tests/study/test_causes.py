"""The page of causes that the studies' archives show."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from study.__main__ import app
from study.pages.causes import read_series

REPRODUCTION = Path(__file__).parents[3] / "docs" / "reproduction"
PAGE = REPRODUCTION / "causes.md"
ARCHIVES = REPRODUCTION / "archives"
LEO = "002-leo-traces.csv"
USED = ("000-a-buffers-tables", "000-b-gigabyte-tables", "000-d-pairs-tables", "001-pairs-tables")


@pytest.fixture
def archives(tmp_path: Path) -> Path:
    for name in USED:
        shutil.copy(ARCHIVES / f"{name}.zip", tmp_path)
    shutil.copy(ARCHIVES / LEO, tmp_path)
    return tmp_path


def write(archives: Path) -> str:
    page = archives / "causes.md"
    answer = CliRunner().invoke(app, ["causes", str(page), "--archives", str(archives)])
    assert answer.exit_code == 0, answer.output
    return page.read_text()


def change(archive: Path, name: str, old: str, new: str) -> None:
    with zipfile.ZipFile(archive) as given:
        members = {each: given.read(each) for each in given.namelist()}
    assert old in members[name].decode()
    members[name] = members[name].decode().replace(old, new).encode()
    with zipfile.ZipFile(archive, "w") as changed:
        for each, content in members.items():
            changed.writestr(each, content)


def test_the_page_says_what_the_archives_say(archives: Path) -> None:
    assert write(archives) == PAGE.read_text()


def test_the_page_follows_the_archive(archives: Path) -> None:
    """Control: other runs, other numbers, and only in the section that they are of."""
    change(archives / "000-b-gigabyte-tables.zip", "series.csv", ",HyStart off,2,", ",HyStart on,2,")
    page, kept = (text.split("\n## ") for text in (write(archives), PAGE.read_text()))
    assert [ours == theirs for ours, theirs in zip(page, kept, strict=True)].count(False) == 2


def test_runs_that_are_not_complete_are_left_out(archives: Path) -> None:
    before = read_series(archives, "000-d-pairs")["on and on", 1]
    change(archives / "000-d-pairs-tables.zip", "series.csv", ",on and on,2,1,1,complete,", ",on and on,2,1,1,failed,")
    assert len(read_series(archives, "000-d-pairs")["on and on", 1]) == len(before) - 1


def test_what_cannot_be_read_is_said(archives: Path) -> None:
    (archives / LEO).unlink()
    answer = CliRunner().invoke(app, ["causes", str(archives / "page.md"), "--archives", str(archives)])
    assert answer.exit_code == 1
    assert LEO in str(answer.exception)
    assert not (archives / "page.md").exists()
