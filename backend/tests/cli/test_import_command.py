"""`downlink import`: checks without a server, uploads to a real one."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from structlog.testing import capture_logs
from typer.testing import CliRunner, Result

from downlink.api.app import create_app
from downlink.cli import imports as command
from downlink.domain.errors import DownlinkError, InvalidError, NotFoundError, UnavailableError
from downlink.main import app
from downlink.process.settings import Settings
from tests.fixtures.foreign_files import ack_csv_file, iperf3_file
from tests.fixtures.lab import Lab

DATA = Path(__file__).parents[1] / "importers" / "data"


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which nothing says where a server is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DOWNLINK_SERVER", raising=False)
    monkeypatch.delenv("DOWNLINK_TOKEN", raising=False)
    return tmp_path


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def server(lab: Lab, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """The lab's backend behind a real port, and the environment that names it."""
    serving = uvicorn.Server(uvicorn.Config(create_app(settings), port=0, log_config=None))
    thread = threading.Thread(target=serving.run)
    thread.start()
    try:
        until = time.monotonic() + 20
        while not serving.started and time.monotonic() < until:
            time.sleep(0.02)
        port = serving.servers[0].sockets[0].getsockname()[1]
        monkeypatch.setenv("DOWNLINK_SERVER", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("DOWNLINK_TOKEN", lab.token)
        with capture_logs():  # the runner takes this process's standard output for the command's
            yield lab
    finally:
        serving.should_exit = True
        thread.join(20)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    contents = {"geo-1.json": iperf3_file(3), "geo-2.json": iperf3_file(4), "acks.csv": ack_csv_file()}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return [tmp_path / name for name in contents]


def test_without_a_server_every_flow_is_listed_and_the_way_to_keep_it_told() -> None:
    result = run("import", DATA / "ndt7-download.json", DATA / "tcp-info.jsonl.zst", "--campaign", "old runs", "--json")
    rows = json.loads(result.stdout)
    assert [(row["source"], row["end"], row["campaign"]) for row in rows] == [
        ("ndt7", "sender", "old runs"),
        ("tcp-info", "sender", "old runs"),
    ]
    assert all(len(row["sha256"]) == 64 for row in rows)
    assert "nothing was stored" in result.stderr
    assert "DOWNLINK_TOKEN" in result.stderr


def test_one_refused_file_stops_the_whole_import_and_all_refusals_are_told(tmp_path: Path) -> None:
    for name in ("bad.json", "worse.json"):
        (tmp_path / name).write_text("{")
    with pytest.raises(DownlinkError) as caught:
        run("import", tmp_path / "bad.json", DATA / "ndt7-download.json", tmp_path / "worse.json")
    assert [line.split(" ")[0] for line in caught.value.message.splitlines()] == ["bad.json", "worse.json", "Nothing"]


def test_files_become_runs_of_a_new_campaign_and_more_are_added(server: Lab, files: list[Path]) -> None:
    result = run("import", *files[:2], "--campaign", "Old iperf3")
    assert [line.split("\t")[1] for line in result.stdout.splitlines()] == ["file", "geo-1.json", "geo-2.json"]
    assert "2 runs are being analysed" in result.stderr
    answer = json.loads(run("import", files[2], "--add-to", "Old iperf3", "--condition", "per ACK", "--json").stdout)
    while server.work():
        pass
    assert [(run["condition"], run["state"]) for run in server.runs(answer["campaign_id"])] == [
        ("cubic upload", "complete"),
        ("cubic upload", "complete"),
        ("per ACK", "complete"),
    ]


def test_a_run_shows_the_tool_s_own_totals_and_its_trace_arrives_whole_or_not_at_all(
    server: Lab, files: list[Path], tmp_path: Path
) -> None:
    report = json.loads(files[0].read_bytes())
    report["end"]["sum_sent"] = {"bytes": 9, "bits_per_second": 12_300_000.0, "retransmits": 4, "seconds": 3.0}
    files[0].write_text(json.dumps(report))
    answer = json.loads(run("import", files[0], "--json").stdout)
    while server.work():
        pass
    (imported,) = answer["runs"]
    shown = run("runs", "show", imported["run_id"]).stdout
    assert "The totals of iperf3 itself:" in shown
    assert "upload\t12.3 Mb/s\t\t4\t3.0" in shown
    run("runs", "trace", imported["run_id"], "--to", tmp_path / "kept", "--format", "csv")
    kept = (tmp_path / "kept").read_bytes()
    assert kept.startswith(b"elapsed_us,")
    with pytest.raises(NotFoundError, match="no sealed trace of flow 1 at the receiver"):
        run("runs", "trace", imported["run_id"], "--end", "receiver", "--to", tmp_path / "kept")
    with pytest.raises(NotFoundError):
        run("runs", "trace", imported["run_id"], "--end", "receiver")
    assert (tmp_path / "kept").read_bytes() == kept
    left = [path.name for path in tmp_path.iterdir()]
    assert [name for name in left if name.endswith(".part") or name.startswith(imported["run_id"])] == []


@pytest.mark.parametrize("option", ["--to", "--archive"])
def test_an_export_that_cannot_be_written_is_refused_in_words(server: Lab, files: list[Path], option: str) -> None:
    answer = json.loads(run("import", files[0], "--json").stdout)
    while server.work():
        pass
    with pytest.raises(InvalidError, match=r"^Cannot write \S+: Not a directory\."):
        run("campaigns", "export", answer["campaign_id"], option, files[0] / "there")


def test_the_server_s_refusals_are_told_and_nothing_is_stored(server: Lab, files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(InvalidError, match=r"bad\.json is not imported: it is not valid JSON") as caught:
        run("import", files[0], tmp_path / "bad.json")
    assert caught.value.details["refused"][0]["file"] == "bad.json"
    assert server.call("GET", "/campaigns")["total"] == 0


def test_refused_files_are_left_out_where_that_is_asked(server: Lab, files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "empty.json").touch()
    with pytest.raises(
        InvalidError, match=r"(?s)empty\.json is not imported: it is empty.*With --skip-refused the other"
    ):
        run("import", *files, tmp_path / "empty.json")
    result = run("import", *files, tmp_path / "empty.json", "--skip-refused")
    assert [line.split("\t")[1] for line in result.stdout.splitlines()[1:]] == [file.name for file in files]
    assert "Left out: 1.\nempty.json: it is empty" in result.stderr
    assert "3 runs are being analysed" in result.stderr


def test_a_check_names_what_would_be_left_out_and_what_failed(files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "empty.json").touch()
    (tmp_path / "failed.json").write_text('{"start": {}, "intervals": [], "end": {}, "error": "no route"}')
    result = run("import", files[0], tmp_path / "empty.json", tmp_path / "failed.json", "--check", "--skip-refused")
    assert "Left out: 1.\nempty.json is not imported: it is empty." in result.stderr
    assert "Files: 3, tests: 2. The others can be imported; nothing was stored." in result.stderr
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert rows[1][:6] == ["geo-1.json", "iperf3", "1", "sender", "upload", "cubic"]
    assert (rows[2][0], rows[2][-1]) == ("failed.json", "iperf3 reports an error: no route")
    with pytest.raises(InvalidError, match="it is empty"):
        run("import", tmp_path / "empty.json", "--check", "--skip-refused")


def test_a_check_refuses_a_test_that_comes_twice_as_the_import_does(files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "copy.json").write_bytes(files[0].read_bytes())
    with pytest.raises(InvalidError, match=r"copy\.json is not imported: it is the same file as geo-1\.json"):
        run("import", *files, tmp_path / "copy.json", "--check")
    result = run("import", *files, tmp_path / "copy.json", "--check", "--skip-refused")
    assert "Left out: 1.\ncopy.json is not imported" in result.stderr
    assert "Files: 4, tests: 3. The others can be imported" in result.stderr


def test_the_others_are_offered_only_where_there_are_others(server: Lab, files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "empty.json").touch()
    for arguments in ((tmp_path / "empty.json",), (tmp_path / "empty.json", "--skip-refused")):
        with pytest.raises(InvalidError, match="it is empty") as caught:
            run("import", *arguments)
        assert "--skip-refused" not in caught.value.message
    report = files[0].read_bytes()
    (tmp_path / "log").write_bytes(report + b"\n" + files[1].read_bytes() + b"\n" + report)
    with pytest.raises(InvalidError, match=r"log \(3 of 3\).*same file.*(?s:.*)With --skip-refused the other"):
        run("import", tmp_path / "log")


def test_check_asks_no_server_even_where_one_is_known(server: Lab, files: list[Path]) -> None:
    assert "nothing was stored" in run("import", *files, "--check").stderr
    assert server.call("GET", "/campaigns")["total"] == 0


def test_a_server_that_is_away_is_named_with_what_can_be_done(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWNLINK_SERVER", "http://127.0.0.1:9")
    monkeypatch.setenv("DOWNLINK_TOKEN", "dlk_x")
    with pytest.raises(UnavailableError, match=r"127\.0\.0\.1:9.*Nothing was stored; `--check` checks"):
        run("import", *files)


def test_files_that_cannot_be_opened_and_two_campaigns_are_refused(server: Lab, files: list[Path]) -> None:
    with pytest.raises(DownlinkError, match=r"gone\.csv cannot be read: No such file"):
        run("import", files[0], files[0].parent / "gone.csv")
    with pytest.raises(InvalidError, match="either --campaign"):
        run("import", files[0], "--campaign", "a", "--add-to", "b")


def test_what_is_read_is_counted_for_the_bar(files: list[Path]) -> None:
    counted: list[int] = []
    with command._open(files[0]) as file:
        file.sent = counted.append
        while file.read(1_000):
            pass
    assert sum(counted) == files[0].stat().st_size
    assert len(counted) > 1
