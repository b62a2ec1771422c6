"""`downlink paths`: made, shown, checked, listed, without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from downlink.domain.errors import DownlinkError, InvalidError, NotFoundError
from downlink.main import app

SHORT = ("--hours", "0.02")
GOLDEN = Path(__file__).resolve().parents[3] / "docs" / "examples" / "paths" / "golden.dlpath"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "downlink" / "paths"


def run(*words: str) -> Result:
    result = CliRunner().invoke(app, ["paths", *words])
    if isinstance(result.exception, DownlinkError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def test_a_ready_made_path_is_made_shown_checked_and_listed(cache: Path) -> None:
    assert "RTT" in run("make", "london-new-york", *SHORT).stdout
    assert (cache / "london-new-york.dlpath").stat().st_size < 20_000
    said = json.loads(run("show", "london-new-york", "--json").stdout)
    assert said["header"]["asked"] == {"name": "london-new-york", "hours": 0.02}
    assert 24 < said["summary"]["delay_ms"]["median"] < 28
    assert "right. Delays are at most" in run("check", "london-new-york").stdout
    rows = {row["name"]: row for row in json.loads(run("list", "--json").stdout)}
    assert rows["london-new-york"]["size_bytes"] > 1_000
    assert rows["beijing-new-york"]["file"] is None


def test_every_option_is_in_the_header(tmp_path: Path) -> None:
    file = tmp_path / "mine.dlpath"
    run(
        "make", "mine", *SHORT, "--station", "london", "--station", "lab,48.15,11.57,500", "--isl", "none", "--rule", "slots",
        "--slot-s", "5", "--elevation", "30", "--start", "2026-03-01T12:00:00", "--seed", "3", "--to", str(file),
        "--link", "radio.bandwidth_mhz=20",
    )  # fmt: skip
    header = json.loads(run("show", str(file), "--json").stdout)["header"]
    assert header["start"] == "2026-03-01T12:00:00Z"
    assert [each["name"] for each in header["stations"]] == ["london", "lab"]
    assert (header["route"]["rule"], header["route"]["slot_s"]) == ("slots", 5)
    assert (header["links"]["radio"]["bandwidth_mhz"], header["isl"], header["seed"]) == (20, "none", 3)
    run("check", str(file))


def test_a_path_goes_into_any_file_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "RTT" in run("make", "bent-pipe", *SHORT, "--to", "mine.path").stdout
    assert "RTT" in run("show", "./mine.path").stdout


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="paths make"):
        run("check", "london-new-york")
    with pytest.raises(InvalidError, match="no ready-made path"):
        run("make", "moon")
    with pytest.raises(InvalidError, match=r"us off the exact orbit|no hop between satellites|below the least"):
        run("check", str(GOLDEN))  # its numbers are made up
    with pytest.raises(InvalidError, match="sees no satellite"):
        run("make", "far", *SHORT, "--station", "london", "--station", "pole,-89,0")
    file = tmp_path / "cut.dlpath"
    file.write_bytes(GOLDEN.read_bytes()[:500])
    with pytest.raises(InvalidError, match="one whole zstd frame"):
        run("show", str(file))
