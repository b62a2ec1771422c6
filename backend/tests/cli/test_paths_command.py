"""`downlink paths`: made, shown, checked, listed, without a server."""

from __future__ import annotations

import csv
import io
import json
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from downlink.domain.errors import DownlinkError, InvalidError, NotFoundError
from downlink.main import app
from tests.codec.test_path import by_hand, unpacked
from tests.constellation.test_parts import lines

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


def test_a_path_is_a_table_with_a_line_for_each_stretch_of_a_hop() -> None:
    """Compared with the trace itself: a line lasts from a knot to the hop's next one."""
    said = json.loads(GOLDEN.with_suffix(".json").read_text())
    names = [each["name"] for each in said["header"]["stations"]]
    lines = list(csv.DictReader(io.StringIO(run("show", str(GOLDEN), "--csv").stdout)))
    knots = [dict(zip(said["fields"], row, strict=True)) for row in said["rows"]]
    stretches = [(a, b) for a, b in pairwise(knots) if (a["path"], a["hop"]) == (b["path"], b["hop"])]
    assert len(lines) == len(stretches) > 10
    for line, (knot, end) in zip(lines, stretches, strict=True):
        assert (float(line["start_s"]), float(line["end_s"])) == (knot["at_us"] / 1e6, end["at_us"] / 1e6)
        assert (int(line["path"]), int(line["hop"])) == (knot["path"], knot["hop"])
        if knot["hop"] == 0:
            assert [line[name] for name in ("receiver", "delay_ms", "end_delay_ms", "rate_bps")] == ["", "", "", "0"]
            assert float(line["loss_ratio"]) == 1
            continue
        receiver = names[-1 - knot["node"]] if knot["node"] < 0 else str(knot["node"])
        assert line["receiver"] == receiver
        assert [float(line[name]) for name in ("delay_ms", "end_delay_ms", "rate_bps", "loss_ratio", "gap_s")] == [
            knot["delay_ns"] / 1e6, end["delay_ns"] / 1e6, knot["rate_bps"], knot["loss_ppb"] / 1e9, knot["gap_us"] / 1e6,
        ]  # fmt: skip
    assert {line["hop"] for line in lines} > {"0", "1"}, "there is a stretch without a path, too"
    with pytest.raises(InvalidError, match="Name one of them"):
        run("show", str(GOLDEN), "--csv", "--json")


def elements(file: Path, *days: int) -> str:
    """A file with a small shell, whose satellites in turn have these epochs: days of the year 2000, counted from 1."""
    sets = []
    for at, line in enumerate(lines(range(120))):
        day = days[at // 2 % len(days)]
        dated = f"{line[:20]}{day:03d}{line[23:68]}" if line.startswith("1 ") else line[:68]
        sets.append(dated + str(sum(int(each) if each.isdecimal() else each == "-" for each in dated) % 10))
    file.write_text("\n".join(sets))
    return str(file)


def test_elements_of_other_days_are_used_with_a_warning(tmp_path: Path) -> None:
    asked = (
        "make",
        "mine",
        *SHORT,
        "--station",
        "london",
        "--station",
        "frankfurt",
        "--elevation",
        "5",
        "--isl",
        "none",
    )
    to = ("--to", str(tmp_path / "mine.dlpath"))
    fresh = run(*asked, "--elements", elements(tmp_path / "fresh", 1), *to)
    assert "Warning" not in fresh.stderr
    old = run(*asked, "--elements", elements(tmp_path / "old", 1), "--start", "2000-01-16T00:00:00", *to)
    assert "Warning: The path begins 15 days from the elements' epoch, 2000-01-01" in old.stderr
    assert "Fetch the file again." in old.stderr
    mixed = run(*asked, "--elements", elements(tmp_path / "mixed", 1, 1, 1, 41), *to)
    assert "up to 40.0 days apart, and 30 of 120 are beyond 14 days" in mixed.stderr.replace("\n", " ")
    assert "leave those out" in mixed.stderr


def test_too_many_satellites_in_a_file_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "many"
    file.write_text("\n".join(lines(range(1)) * 20_001))
    with pytest.raises(InvalidError, match=r"element file: it has more than 20,000 satellites\. Leave out those"):
        run("make", "mine", *SHORT, "--station", "london", "--station", "lab,48,11", "--elements", str(file))


def test_a_station_that_sees_nothing_at_times_is_warned_of_with_hours_and_elevation(tmp_path: Path) -> None:
    asked = (
        "make",
        "mine",
        "--hours",
        "1",
        "--constellation",
        "D:1150:53.0:60/6/1",
        "--isl",
        "none",
        "--step-ms",
        "60000",
    )
    made = run(
        *asked, "--station", "london", "--station", "frankfurt", "--elevation", "40", "--to", str(tmp_path / "a")
    )
    assert "Warning: Station london sees no satellite above 40 degrees from 0." in made.stderr
    assert "degrees would do" in made.stderr


def test_a_file_that_is_altered_or_of_a_newer_version_is_refused_with_what_to_do(tmp_path: Path) -> None:
    about, body = unpacked()
    cases = {
        "altered": by_hand(about, body[:-1] + b"\7"),
        "upgrade": by_hand({**about, "format": "dl-path/2"}, body),
        "one whole zstd frame": GOLDEN.read_bytes()[:-1],
    }
    for words, content in cases.items():
        file = tmp_path / "mine.dlpath"
        file.write_bytes(content)
        for command in ("show", "check"):
            with pytest.raises(InvalidError, match=words):
                run(command, str(file))
