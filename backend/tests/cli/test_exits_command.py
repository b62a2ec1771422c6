"""`downlink exits`: verdicts on a file, without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from downlink.codec.tables import columns_to_csv
from downlink.domain.errors import DownlinkError
from downlink.main import app
from tests.fixtures.foreign_files import ack_csv_file
from tests.fixtures.slow_start_sim import simulate_slow_start

DATA = Path(__file__).parents[1] / "importers" / "data"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def ack_file(tmp_path: Path) -> Path:
    file = tmp_path / "acks.csv"
    file.write_bytes(ack_csv_file())
    return file


def test_exits_as_json_has_one_object_per_detector(ack_file: Path) -> None:
    verdicts = json.loads(run("exits", ack_file, "--json"))
    assert {"detector", "version", "exit_us", "cwnd_segments", "parameters", "reason"} <= set(verdicts[0])
    names = [(v["detector"], v["version"], v["parameters"].get("detect")) for v in verdicts]
    assert len(set(names)) == len(names)
    assert {name for name, _, _ in names} == {
        "observed_exit",
        "first_loss",
        "search",
        "hystart",
        "hystart++",
        "mean_sd",
        "best",
    }
    assert any(v["exit_us"] is not None for v in verdicts)


def test_exits_as_a_table_names_times_and_reasons(ack_file: Path) -> None:
    lines = run("exits", ack_file).splitlines()
    assert lines[0].split("\t") == ["flow", "detector", "version", "detect", "exit", "timing", "cwnd", "reason"]
    assert len(lines) == 18


def test_the_link_s_rate_tells_early_from_good_and_the_plateau_stands_in(tmp_path: Path) -> None:
    file = tmp_path / "slow-start.csv"
    file.write_bytes(columns_to_csv(simulate_slow_start(0).columns))
    for option, said in (
        (["--rate-bps", "144000000"], "6.168 s, by least RTT x the link's rate of 144.0 Mb/s, least RTT 561.5 ms"),
        ([], "7.083 s, by 90 % of the delivery plateau of 146.0 Mb/s"),
    ):
        told = CliRunner().invoke(app, ["exits", str(file), *option])
        assert f"Flow 1: capacity reached: {said}" in told.stderr
        hystart = next(line for line in told.stdout.splitlines() if "\thystart\t6.x\t3\t" in line)
        assert "\tearly\t" in hystart


def test_polled_traces_say_what_they_cannot_decide() -> None:
    verdicts = json.loads(run("exits", DATA / "tcp-info.jsonl.zst", "--json"))
    by_name = {(v["detector"], v["version"]): v for v in verdicts}
    assert by_name["hystart", "6.x"]["reason"].startswith("not decidable at this sampling")
    assert by_name["observed_exit", "ssthresh"]["exit_us"] == 350_000
    assert by_name["observed_exit", "ssthresh"]["cwnd_segments"] == 38


def test_a_receiver_s_view_alone_cannot_be_judged() -> None:
    with pytest.raises(DownlinkError, match="no sender's view"):
        run("exits", DATA / "ndt7-upload.json")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DownlinkError, match=r"gone\.csv cannot be read: No such file"):
        run("exits", tmp_path / "gone.csv")
