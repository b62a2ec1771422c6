"""What imported tests are called and how they end: conditions that do not mix, failed tests, logs, archives, refusals left out."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from downlink.importers import file_checks
from downlink.storage.unit import UnitFactory
from tests.api.test_imports import NOTHING, imported, rows_stored, series_of, upload
from tests.fixtures.foreign_files import ack_csv_file, iperf3_file, ndt7_file
from tests.fixtures.lab import Lab
from tests.importers.test_archives import tar, zipped

DATA = Path(__file__).parents[1] / "importers" / "data"
FAILED = b'{"start": {"connected": []}, "intervals": [], "end": {}, "error": "unable to connect: Connection refused"}'


def changed(content: bytes, **changes: Any) -> bytes:
    return json.dumps(json.loads(content) | changes).encode()


def test_uploads_and_downloads_are_conditions_of_their_own(lab: Lab) -> None:
    files = {
        "up.json": iperf3_file(3),
        "down.json": iperf3_file(4, reverse=True),
        "ndt7-up.json": ndt7_file(upload=True),
        "ndt7-down.json": ndt7_file(),
    }
    campaign, runs = imported(lab, files)
    names = ["cubic upload", "cubic download", "ndt7 upload", "ndt7 download"]
    assert [run["condition"] for run in runs] == names
    groups = lab.call("GET", f"/campaigns/{campaign}/report")["groups"]
    assert sorted(group["condition"] for group in groups) == sorted(names)


def test_flent_s_tests_are_conditions_by_name_title_control_and_direction(lab: Lab) -> None:
    files = {f"{test}.flent.gz": (DATA / f"flent-{test}.flent.gz").read_bytes() for test in ("tcp_nup", "rrul_be")}
    campaign, runs = imported(lab, files)
    assert [run["condition"] for run in runs] == [
        "tcp_nup: three uploads: 3 x bbr upload",
        "rrul_be: best effort: 4 x bbr download + 4 x bbr upload",
    ]
    fairness = lab.call("GET", f"/campaigns/{campaign}/report")["fairness"]
    assert {each["condition"] for each in fairness} == {run["condition"] for run in runs}
    for run in runs:
        for metrics in run["metrics"]:
            is_sender = run["flows"][metrics["flow"] - 1]["sampling"] == "polled"
            assert metrics["overall"]["throughput_bps"] > 1e6
            assert (metrics["overall"]["goodput_bps"] is None) == is_sender
            assert (metrics["overall"]["cwnd_bytes"] is not None) == is_sender


def test_a_test_that_failed_is_a_failed_run_with_its_reason(lab: Lab) -> None:
    broken_off = changed(iperf3_file(5), error="control socket has closed unexpectedly")
    campaign, runs = imported(lab, {"a.json": iperf3_file(4), "b.json": FAILED, "c.json": broken_off})
    assert [(run["state"], run["reason"], run["condition"]) for run in runs] == [
        ("complete", None, "cubic upload"),
        ("failed", "test_failed", "iperf3"),
        ("failed", "test_failed", "cubic upload"),
    ]
    assert runs[1]["detail"] == "iperf3 reports an error: unable to connect: Connection refused."
    assert (runs[1]["flows"], runs[1]["metrics"]) == ([], [])
    assert len(series_of(lab, runs[2])["bin_s"]) == 5
    report = lab.call("GET", f"/campaigns/{campaign}/report")
    assert [(group["condition"], group["runs"]) for group in report["groups"]] == [("cubic upload", 1)]
    shown = lab.call("GET", f"/campaigns/{campaign}")
    assert (shown["runs_total"], shown["runs_ended"]) == (3, 3)
    for table in ("runs.csv", "metrics.csv", "series.csv"):
        lab.call("GET", f"/campaigns/{campaign}/{table}")
    for page in ("series", "exits", "limits"):
        lab.call("GET", f"/runs/{runs[1]['id']}/{page}")


def test_a_campaign_of_failed_tests_alone_is_shown(lab: Lab) -> None:
    campaign, (run,) = imported(lab, {"b.json": FAILED})
    assert run["state"] == "failed"
    for page in ("", "/report", "/statistics", "/exits", "/limits", "/runs"):
        lab.call("GET", f"/campaigns/{campaign}{page}")


def test_each_report_of_a_log_and_each_file_of_an_archive_is_a_run(lab: Lab) -> None:
    log = FAILED + b"\n" + iperf3_file(3) + b"\n" + FAILED + b"\n"
    archive = tar({"x/geo.json": iperf3_file(4), "x/acks.csv.gz": gzip.compress(ack_csv_file())}, mode="w:gz")
    _, runs = imported(lab, {"night.log": log, "m-lab.tgz": archive})
    assert [(run["import_source"]["file"], run["state"]) for run in runs] == [
        ("night.log (1 of 3)", "failed"),
        ("night.log (2 of 3)", "complete"),
        ("night.log (3 of 3)", "failed"),
        ("m-lab.tgz: x/geo.json", "complete"),
        ("m-lab.tgz: x/acks.csv.gz", "complete"),
    ]


def test_start_up_and_steady_state_of_short_tests_are_different_seconds(lab: Lab) -> None:
    document = json.loads(iperf3_file(6))
    for second, interval in enumerate(document["intervals"]):
        interval["streams"][0]["bytes"] = 1_000_000 * (second + 1)
    campaign, (run,) = imported(lab, {"a.json": json.dumps(document).encode()})
    assert lab.call("GET", f"/campaigns/{campaign}")["spec"]["phases"] == {"startup_s": 1.5, "steady_s": 3.0}
    (metrics,) = run["metrics"]
    assert metrics["startup"]["throughput_bps"] == 8e6
    assert metrics["steady"]["throughput_bps"] == 8e6 * (4 + 5 + 6) / 3


def test_the_same_failed_test_in_two_files_is_the_same_file(lab: Lab, units: UnitFactory) -> None:
    problem = upload(lab, {"a.json": FAILED, "copy.json": FAILED}, expect=422)
    assert problem["details"]["refused"] == [{"file": "copy.json", "reason": "it is the same file as a.json"}]
    assert rows_stored(units) == NOTHING


def test_the_tool_s_own_totals_stand_beside_the_run(lab: Lab) -> None:
    total = {"seconds": 3.0, "bytes": 5, "bits_per_second": 7.5e6}
    end = {"sum_sent": total | {"retransmits": 9}, "sum_received": total | {"bits_per_second": 7.4e6}}
    _, (run,) = imported(lab, {"a.json": changed(iperf3_file(4), end=end, title="wet day")})
    assert run["import_source"]["test"] == "wet day"
    assert run["condition"] == "wet day: iperf3 upload"
    assert run["import_source"]["summaries"] == [
        {
            "direction": "upload",
            "sent_bps": 7.5e6,
            "received_bps": 7.4e6,
            "retransmitted_segments": 9,
            "duration_s": 3.0,
            "omitted_s": 0,
        }
    ]


def test_retransmissions_of_ack_logs_reach_the_report(lab: Lab) -> None:
    rows = "".join(f"{at * 500_000},{at * 10_000},1000,50000,{at * 2}\n" for at in range(1, 9))
    campaign, (run,) = imported(lab, {"a.csv": b"now_us,bytes_acked,mss,rtt_us,total_retrans_pkt\n" + rows.encode()})
    overall = run["metrics"][0]["overall"]
    assert overall["retransmission_percent"] == pytest.approx(100 * 2 / 12)
    (group,) = lab.call("GET", f"/campaigns/{campaign}/report")["groups"]
    assert group["metrics"]["overall"]["retransmission_percent"]["mean"] == pytest.approx(100 * 2 / 12)


def test_refused_files_are_left_out_where_that_is_asked(lab: Lab, units: UnitFactory) -> None:
    files = {"a.json": iperf3_file(3), "empty.json": b"", "b.zip": zipped({"c.json": iperf3_file(4), "d.txt": b"hi"})}
    assert upload(lab, files, expect=422)["code"] == "import_refused"
    assert rows_stored(units) == NOTHING
    answer = upload(lab, files, skip_refused="true")
    assert [run["file"] for run in answer["runs"]] == ["a.json", "b.zip: c.json"]
    assert [each["file"] for each in answer["refused"]] == ["empty.json", "b.zip: d.txt"]
    assert answer["refused"][0]["reason"] == "it is empty"


def test_when_all_is_refused_nothing_is_imported_either_way(lab: Lab, units: UnitFactory) -> None:
    assert upload(lab, {"a.json": b"{"}, expect=422, skip_refused="true")["code"] == "import_refused"
    assert rows_stored(units) == NOTHING


def test_what_a_file_says_of_itself_is_stored_without_signs_that_cannot_be(lab: Lab) -> None:
    spoilt = changed(iperf3_file(3), title="a\0b\x1b[31m", error="x\0y" * 400)
    _, (run,) = imported(lab, {"a.json": spoilt})
    assert run["condition"].startswith("ab[31m: ")
    assert run["detail"].isprintable()


def test_so_many_tests_are_imported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_checks, "MAX_TESTS", 2)
    log = b"\n".join(iperf3_file(n) for n in (3, 4, 5))
    checked = file_checks.check_files([("log", log)], {}, datetime.now(UTC))
    assert len(checked.sealed) == 2
    (refusal,) = checked.refusals
    assert refusal.file == "log (3 of 3)"
    assert "more than 2 tests are too many for one import" in refusal.message


def test_a_start_in_the_future_is_unknown_and_named(lab: Lab) -> None:
    document = json.loads(iperf3_file(3))
    document["start"]["timestamp"]["timesecs"] = int(lab.now().timestamp()) + 2 * 86_400
    _, (run,) = imported(lab, {"a.json": json.dumps(document).encode()})
    assert run["started_at"] is None
    assert run["import_source"]["partial"][0].startswith("its start: ")
