"""Files of other tools become runs: through the same analysis, into every page and table, all of them or none."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select
from typer.testing import CliRunner

from downlink.actions.campaigns import imports as actions
from downlink.actions.campaigns.archive_read import load_archive
from downlink.actions.own_process import call_apart
from downlink.api.campaigns import imports as route
from downlink.api.http.slots import Turns
from downlink.api.schemas.reports import Report
from downlink.codec.campaign_file import parse_campaign
from downlink.domain.errors import InvalidError
from downlink.importers.files import import_file
from downlink.main import app
from downlink.storage import tables
from downlink.storage.unit import UnitFactory
from tests.fixtures.foreign_files import ack_csv_file, flent_file, iperf3_file, ndt7_file
from tests.fixtures.lab import API, Lab

DATA = Path(__file__).parents[1] / "importers" / "data"
Files = dict[str, bytes]


def upload(lab: Lab, files: Files, *, expect: int = 201, **fields: str) -> Any:
    parts = [("files", (name, content)) for name, content in files.items()]
    return lab.call("POST", "/imports", expect=expect, files=parts, data=fields)


def imported(lab: Lab, files: Files, **fields: str) -> tuple[str, list[dict[str, Any]]]:
    """The campaign and its runs, analysed, in the order of the files."""
    answer = upload(lab, files, **fields)
    while lab.work():
        pass
    return answer["campaign_id"], [lab.call("GET", f"/runs/{run['run_id']}") for run in answer["runs"]]


def series_of(lab: Lab, run: dict[str, Any]) -> dict[str, Any]:
    (flow,) = lab.call("GET", f"/runs/{run['id']}/series")["flows"]
    found: dict[str, Any] = flow
    return found


def rows_stored(units: UnitFactory) -> dict[str, int]:
    with units(is_read_only=True) as unit:
        kept = (tables.Campaign, tables.Run, tables.RunFlow, tables.Chunk, tables.Trace, tables.Event)
        return {each.__tablename__: unit.session.scalar(select(func.count()).select_from(each)) or 0 for each in kept}


NOTHING = dict.fromkeys(("campaigns", "runs", "run_flows", "chunks", "traces", "events"), 0)


@pytest.mark.sampled("faults")
def test_an_iperf3_report_becomes_a_run_with_what_its_program_wrote(lab: Lab) -> None:
    content = iperf3_file(seconds=4)
    campaign, (run,) = imported(lab, {"geo-1.json": content}, campaign="Old iperf3")
    assert (run["state"], run["link"], run["condition"], run["cycle"]) == ("complete", "imported", "cubic upload", 1)
    assert run["import_source"] == {
        "file": "geo-1.json",
        "source": "iperf3",
        "sha256": hashlib.sha256(content).hexdigest(),
        "test": None,
        "summaries": [],
        "partial": [],
    }
    assert (run["started_at"], run["ended_at"]) == ("2023-11-14T22:13:20.000Z", "2023-11-14T22:13:24.000Z")
    series = series_of(lab, run)
    assert series["throughput_bps"] == [8e6] * 4
    # Gauges are of the moment an interval ends, so that second 0 has none.
    assert series["rtt_ms"] == [None, 600, 600, 600]
    assert series["cwnd_bytes"] == [None, 144_800, 144_800, 144_800]
    for unknown in ("goodput_bps", "in_flight_bytes"):
        assert series[unknown] == [None] * 4, unknown
    # Each second a segment of 1,448 bytes is sent again, beside the megabyte that was written.
    assert series["retransmission_percent"] == pytest.approx([100 * 1_448 / 1_001_448] * 4)
    (metrics,) = run["metrics"]
    assert metrics["overall"]["retransmission_percent"] == pytest.approx(100 * 1_448 / 1_001_448)
    assert metrics["overall"]["throughput_bps"] == 8e6
    assert (metrics["overall"]["goodput_bps"], metrics["overall"]["utilisation_ratio"]) == (None, None)
    (flow,) = run["flows"]
    assert (flow["actual_cc"], flow["sampling"], flow["app_bytes"]) == ("cubic", "polled", 4_000_000)
    shown = lab.call("GET", f"/campaigns/{campaign}")
    assert (shown["name"], shown["origin"], shown["state"], shown["is_recorded"]) == (
        "Old iperf3", "imported", "complete", False,
    )  # fmt: skip
    assert (shown["runs_total"], shown["runs_ended"], shown["conditions"]) == (1, 1, ["cubic upload"])


@pytest.mark.sampled("faults")
def test_a_receiver_s_file_tells_goodput_and_says_why_it_has_no_exits(lab: Lab) -> None:
    files = {"down.json": iperf3_file(reverse=True, control="bbr"), "up.json": ndt7_file(upload=True)}
    campaign, runs = imported(lab, files)
    for run in runs:
        series = series_of(lab, run)
        assert run["state"] == "complete"
        assert series["goodput_bps"] == series["throughput_bps"] == [8e6] * len(series["bin_s"])
        assert len(series["bin_s"]) >= 3
        (flow,) = lab.call("GET", f"/runs/{run['id']}/exits")["flows"]
        assert "no sender's trace" in flow["refusal"]
        assert lab.call("GET", f"/runs/{run['id']}/limits")["flows"] == []
    assert [run["condition"] for run in runs] == ["bbr download", "ndt7 upload"]
    assert lab.call("GET", f"/campaigns/{campaign}/limits")["groups"] == []


@pytest.mark.sampled("faults")
def test_an_ndt7_download_counts_from_its_connection_s_start(lab: Lab) -> None:
    _, (run,) = imported(lab, {"ndt7.json": ndt7_file()})
    series = series_of(lab, run)
    assert series["goodput_bps"] == [8e6] * 3
    assert series["throughput_bps"] == [8e6] * 3
    assert series["rtt_ms"] == [20, 20, 20]
    assert run["due_at"] == run["started_at"] == "2024-05-01T10:00:00.000Z"


@pytest.mark.sampled("faults")
def test_a_flent_series_is_what_its_program_moved(lab: Lab) -> None:
    _, (run,) = imported(lab, {"tcp.flent.gz": gzip.compress(flent_file())})
    assert (run["condition"], series_of(lab, run)["throughput_bps"]) == ("tcp_1down: flent download", [8e6] * 3)


@pytest.mark.sampled("faults")
def test_a_tcp_info_archive_has_the_goodput_that_its_counter_says(lab: Lab) -> None:
    content = (DATA / "tcp-info.jsonl.zst").read_bytes()
    _, (run,) = imported(lab, {"snapshots.jsonl.zst": content})
    columns = import_file("x", content).flows[0].columns
    seconds = np.arange(columns["elapsed_us"][-1] // 1_000_000 + 1)
    expected = np.diff(np.interp(seconds * 1e6, columns["elapsed_us"], columns["acked_bytes"])) * 8
    found = series_of(lab, run)["goodput_bps"]
    known = [index for index, value in enumerate(found) if value is not None]
    assert len(known) == 10
    np.testing.assert_allclose([found[index] for index in known], expected[known], rtol=1e-9, atol=1e-3)
    verdicts = lab.call("GET", f"/runs/{run['id']}/exits")["flows"][0]["verdicts"]
    observed = next(verdict for verdict in verdicts if verdict["detector"] == "observed_exit")
    assert (observed["exit_us"], observed["cwnd_segments"]) == (350_000, 38)


@pytest.mark.sampled("faults")
def test_exits_of_an_imported_ack_log_are_those_of_the_command_line(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "acks.csv"
    file.write_bytes(ack_csv_file())
    _, (run,) = imported(lab, {"acks.csv": file.read_bytes()})
    result = CliRunner().invoke(app, ["exits", str(file), "--json"])
    told = json.loads(result.stdout)
    (flow,) = lab.call("GET", f"/runs/{run['id']}/exits")["flows"]
    assert len(told) == len(flow["verdicts"]) == 17
    assert any(verdict["exit_us"] for verdict in told)
    for mine, theirs in zip(told, flow["verdicts"], strict=True):
        assert {key: theirs[key] for key in mine if key != "flow"} == {k: v for k, v in mine.items() if k != "flow"}
    assert flow["curves"] is not None
    assert run["flows"][0]["sampling"] == "per_ack"


@pytest.mark.sampled("faults")
def test_an_exported_trace_comes_back_as_the_same_numbers(lab: Lab) -> None:
    _, (first,) = imported(lab, {"acks.csv": ack_csv_file()})
    text = lab.call("GET", f"/runs/{first['id']}/traces/1/sender.csv")
    _, (second,) = imported(lab, {"again.csv": text.encode()})
    assert second["import_source"]["source"] == "downlink-csv"
    assert series_of(lab, second) == series_of(lab, first)
    verdicts = [lab.call("GET", f"/runs/{run['id']}/exits")["flows"][0]["verdicts"] for run in (first, second)]
    assert verdicts[0] == verdicts[1]


@pytest.mark.sampled("faults")
def test_long_traces_are_kept_in_chunks_and_whole(lab: Lab) -> None:
    rows = "".join(f"{at},{at},1000,50000\n" for at in range(12_001))
    _, (run,) = imported(lab, {"long.csv": b"now_us,bytes_acked,mss,rtt_us\n" + rows.encode()})
    facts = run["flows"][0]["traces"]["sender"]
    assert (facts["state"], facts["samples"], facts["chunks"], facts["missing_chunks"]) == ("sealed", 12_001, 3, [])
    lines = lab.call("GET", f"/runs/{run['id']}/traces/1/sender.csv").splitlines()
    assert (len(lines), lines[-1].split(",")[0]) == (12_002, "12000")


@pytest.mark.sampled("faults")
def test_acks_within_one_microsecond_divide_nothing_by_zero(lab: Lab) -> None:
    rows = "".join(
        f"{at},{acked},1000,50000\n" for at, acked in ((0, 0), (0, 1000), (500_000, 5000), (2_000_000, 9000))
    )
    _, (run,) = imported(lab, {"twins.csv": b"now_us,bytes_acked,mss,rtt_us\n" + rows.encode()})
    assert series_of(lab, run)["rtt_ms"] == [50, None]  # the ACKs' own samples; the second one belongs to second 2
    # 5,000 bytes by 0.5 s, and 4,000 over the 1.5 s that follow.
    assert series_of(lab, run)["goodput_bps"] == pytest.approx([(5000 + 4000 / 3) * 8, 4000 * 2 / 3 * 8])


@pytest.mark.sampled("faults")
def test_files_of_one_control_are_the_cycles_of_one_condition_and_are_compared_in_the_report(lab: Lab) -> None:
    files = {f"cubic-{n}.json": iperf3_file(seconds=3 + n) for n in (1, 2, 3)}
    files |= {f"bbr-{n}.json": iperf3_file(seconds=3 + n, control="bbr") for n in (1, 2)}
    campaign, runs = imported(lab, files, campaign="Two controls")
    assert [(run["condition"], run["cycle"], run["position"]) for run in runs] == [
        ("cubic upload", 1, 1), ("cubic upload", 2, 1), ("cubic upload", 3, 1), ("bbr upload", 1, 2), ("bbr upload", 2, 2),
    ]  # fmt: skip
    report = Report.model_validate(lab.call("GET", f"/campaigns/{campaign}/report"))
    assert [(group.link, group.condition, group.cc, group.runs) for group in report.groups] == [
        ("imported", "cubic upload", "cubic", 3),
        ("imported", "bbr upload", "bbr", 2),
    ]
    assert report.groups[0].metrics.overall.throughput_bps.mean == 8e6
    assert report.groups[0].metrics.overall.utilisation_ratio.mean is None
    assert {comparison.condition for comparison in report.comparisons} == {"bbr upload"}
    table = list(csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{campaign}/metrics.csv"))))
    assert {row["run_id"] for row in table} == {run["id"] for run in runs}
    assert {row["utilisation_ratio"] for row in table} == {""}
    for path in ("statistics", "exits", "limits"):
        assert lab.call("GET", f"/campaigns/{campaign}/{path}")["campaign_id"] == campaign


@pytest.mark.sampled("faults")
def test_a_run_under_a_second_is_counted_as_too_short_beside_n(lab: Lab) -> None:
    short = json.loads(iperf3_file(1))
    short["intervals"][0]["streams"][0].update(end=0.5, seconds=0.5)
    campaign, (run, _) = imported(lab, {"a.json": json.dumps(short).encode(), "b.json": iperf3_file(4)})
    assert run["state"] == "complete"
    (group,) = lab.call("GET", f"/campaigns/{campaign}/report")["groups"]
    assert (group["runs"], group["too_short"]) == (2, 1)
    assert group["metrics"]["overall"]["throughput_bps"]["n"] == 1


@pytest.mark.sampled("faults")
def test_parallel_streams_are_flows_with_fairness(lab: Lab) -> None:
    campaign, (run,) = imported(lab, {"two.json": iperf3_file(streams=2)})
    assert (run["condition"], [flow["flow"] for flow in run["flows"]]) == ("2 x cubic upload", [1, 2])
    assert run["throughput_bps"] == 16e6
    fairness = lab.call("GET", f"/campaigns/{campaign}/report")["fairness"]
    assert {each["jain_of_means"] for each in fairness} == {1.0}


@pytest.mark.sampled("faults")
def test_files_are_added_to_an_imported_campaign_under_a_condition_of_ones_choice(lab: Lab) -> None:
    campaign, _ = imported(lab, {"a.json": iperf3_file(4)}, campaign="Traces", condition="HyStart on")
    again, (second, third) = imported(
        lab, {"b.json": iperf3_file(5), "c.json": iperf3_file(6)}, campaign_id=campaign, condition="HyStart off"
    )
    assert again == campaign
    assert [(run["condition"], run["cycle"]) for run in (second, third)] == [("HyStart off", 1), ("HyStart off", 2)]
    shown = lab.call("GET", f"/campaigns/{campaign}")
    assert (shown["conditions"], shown["runs_total"]) == (["HyStart on", "HyStart off"], 3)
    assert shown["spec"]["timetable"]["cycles"] == 2
    assert [line.split("  ")[1] for line in shown["source"].splitlines()] == ["a.json", "b.json", "c.json"]
    groups = lab.call("GET", f"/campaigns/{campaign}/report")["groups"]
    assert [(group["condition"], group["runs"]) for group in groups] == [("HyStart on", 1), ("HyStart off", 2)]


def test_without_a_name_the_campaign_is_called_after_its_day(lab: Lab) -> None:
    answer = upload(lab, {"a.json": iperf3_file()}, campaign="")
    assert lab.call("GET", f"/campaigns/{answer['campaign_id']}")["name"].startswith(f"Imported {lab.now():%Y-%m-%d}")


LONG = b"elapsed_us,app_bytes\r\n" + b"".join(b"%d,%d\r\n" % (at * 10**10, at) for at in range(10))


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("empty.json", b"", "it is empty"),
        ("cut.json", iperf3_file()[:-40], "not valid JSON"),
        ("cut.csv.gz", gzip.compress(ack_csv_file())[:-20], "ends too early"),
        ("absurd.csv", b"now_us,bytes_acked,mss,rtt_us\n0,1,1000,5\n9,1e300,1000,5\n", "not a usable number"),
        ("back.csv", b"now_us,bytes_acked,mss,rtt_us\n0,1,1000,5\n9,2,1000,5\n8,3,1000,5\n", "time does not increase"),
        ("photo.jpg", b"\xff\xd8\xff\xe0 JFIF", "its format is not known"),
        ("long.csv", LONG, "it lasts longer than a day"),
    ],
)
def test_one_bad_file_among_good_ones_leaves_nothing_behind(
    lab: Lab, units: UnitFactory, name: str, content: bytes, why: str
) -> None:
    problem = upload(lab, {"good.json": iperf3_file(), name: content, "fine.csv": ack_csv_file()}, expect=422)
    assert (problem["code"], [each["file"] for each in problem["details"]["refused"]]) == ("import_refused", [name])
    assert why in problem["details"]["refused"][0]["reason"]
    assert problem["message"].startswith(f"{name} is not imported: ")
    assert rows_stored(units) == NOTHING


def test_all_refusals_are_told_together(lab: Lab, units: UnitFactory) -> None:
    problem = upload(lab, {"a.json": b"{", "b.json": iperf3_file(), "c.json": b"hello"}, expect=422)
    assert [each["file"] for each in problem["details"]["refused"]] == ["a.json", "c.json"]
    assert [line.split(" ")[0] for line in problem["message"].splitlines()] == ["a.json", "c.json", "Nothing"]
    assert rows_stored(units) == NOTHING


def test_the_same_file_twice_is_refused_by_name_in_one_upload_and_over_two(lab: Lab, units: UnitFactory) -> None:
    problem = upload(lab, {"a.json": iperf3_file(), "copy.json": iperf3_file()}, expect=422)
    assert problem["details"]["refused"] == [{"file": "copy.json", "reason": "it is the same file as a.json"}]
    assert rows_stored(units) == NOTHING
    campaign = upload(lab, {"a.json": iperf3_file()})["campaign_id"]
    before = rows_stored(units)
    problem = upload(lab, {"new.json": iperf3_file(7), "copy.json": iperf3_file()}, expect=422, campaign_id=campaign)
    assert problem["details"]["refused"] == [{"file": "copy.json", "reason": "it is the same file as a.json"}]
    assert rows_stored(units) == before
    upload(lab, {"a.json": iperf3_file()}, campaign="Elsewhere it may be imported again")


@pytest.mark.sampled("faults")
def test_a_dead_flow_is_left_out_and_named_wherever_the_run_is_shown(lab: Lab) -> None:
    dead = json.loads(gzip.decompress((DATA / "flent-tcp_nup.flent.gz").read_bytes()))
    dead["raw_values"]["TCP upload::2"] = []
    files = {"nup.flent": json.dumps(dead).encode()}
    refused = upload(lab, files, expect=422, strict="true")["details"]["refused"]
    assert [each["reason"] for each in refused] == [
        "TCP upload::2: TCP upload::2 has no throughput samples; repeat the test"
    ]
    answer = upload(lab, files)
    said = ["TCP upload::2: TCP upload::2 has no throughput samples; repeat the test"]
    assert answer["runs"][0]["partial"] == said
    while lab.work():
        pass
    run = lab.call("GET", f"/runs/{answer['runs'][0]['run_id']}")
    assert (run["state"], run["import_source"]["partial"]) == ("complete", said)
    assert [flow["flow"] for flow in run["flows"]] == [1, 3]
    (row,) = lab.runs(answer["campaign_id"])
    assert row["import_source"]["partial"] == said
    (line,) = csv.DictReader(io.StringIO(lab.call("GET", f"/campaigns/{answer['campaign_id']}/runs.csv")))
    assert line["partial"] == said[0]
    assert lab.call("GET", f"/campaigns/{answer['campaign_id']}/report")["groups"]


def test_the_start_of_a_test_whose_file_does_not_say_can_be_said(lab: Lab) -> None:
    unknown = json.loads(iperf3_file(1))
    del unknown["start"]["timestamp"]
    files = {"a.json": json.dumps(unknown).encode()}
    _, (run,) = imported(lab, files, started_at="2026-01-05T10:00:00Z")
    assert run["started_at"] == "2026-01-05T10:00:00.000Z"
    for many, at, why in (
        (
            files | {"b.json": files["a.json"].replace(b"{", b"{ ", 1)},
            "2026-01-05T10:00:00Z",
            "2 of these 2 do not say",
        ),
        ({"c.json": iperf3_file(2)}, "2026-01-05T10:00:00Z", "0 of these 1 do not say"),
        (files, "1999-01-05T10:00:00Z", "between 2000-01-01 and now"),
    ):
        assert why in upload(lab, many, expect=422, started_at=at)["message"]


def test_imported_runs_stay_among_themselves(lab: Lab, units: UnitFactory) -> None:
    lab.join("client")
    lab.join("server")
    lab.link()
    measured = lab.launch()
    before = rows_stored(units)
    problem = upload(lab, {"a.json": iperf3_file()}, expect=409, campaign_id=measured)
    assert problem["code"] == "campaign_not_imported"
    assert rows_stored(units) == before
    nowhere = "00000000-0000-0000-0000-000000000000"
    assert upload(lab, {"a.json": iperf3_file()}, expect=404, campaign_id=nowhere)["code"] == "campaign_not_found"


@pytest.mark.sampled("faults")
def test_an_imported_campaign_is_not_run_but_can_be_deleted(lab: Lab, units: UnitFactory) -> None:
    campaign = upload(lab, {"a.json": iperf3_file()})["campaign_id"]
    for verb in ("launch", "pause", "resume", "cancel"):
        assert lab.call("POST", f"/campaigns/{campaign}/{verb}", expect=409)["code"] == "campaign_state"
    assert "still being analysed" in lab.call("DELETE", f"/campaigns/{campaign}", expect=409)["message"]
    while lab.work():
        pass
    lab.call("DELETE", f"/campaigns/{campaign}", expect=204)
    left = rows_stored(units)
    assert (left["runs"], left["chunks"], left["traces"]) == (0, 0, 0)


@pytest.mark.sampled("faults")
def test_an_imported_campaign_leaves_as_an_archive_and_comes_back_imported(lab: Lab, units: UnitFactory) -> None:
    campaign, runs = imported(lab, {"a.csv": ack_csv_file(), "b.json": iperf3_file()})
    pages = [f"/campaigns/{campaign}/report", *(f"/runs/{run['id']}{page}" for run in runs for page in ("", "/exits"))]
    before = [lab.call("GET", page) for page in pages]
    headers = {"Authorization": f"Bearer {lab.token}"}
    packed = lab.client.get(f"{API}/campaigns/{campaign}/archive.zip", headers=headers).content
    lab.call("DELETE", f"/campaigns/{campaign}")
    with units() as unit:
        load_archive(unit, packed)
    assert [lab.call("GET", page) for page in pages] == before
    shown = lab.call("GET", f"/campaigns/{campaign}")
    assert (shown["origin"], shown["is_recorded"]) == ("imported", False)


def test_imports_take_turns_and_one_account_has_few_of_them_waiting(lab: Lab) -> None:
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda number: upload(lab, {"a.json": iperf3_file(number)}), range(3)))
    assert len({each["campaign_id"] for each in done}) == 3
    lab.app.state.importing = Turns("imports", in_all=0, per_caller=0, waiting=0)
    assert upload(lab, {"a.json": iperf3_file()}, expect=429)["code"] == "too_many_open"


def test_a_file_that_takes_more_memory_than_it_may_is_refused_and_the_api_goes_on(
    lab: Lab, units: UnitFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "READING_BYTES", 256 * 2**20)
    many = b'{"a": [' + b"[]," * 3_900_000 + b"[]]}"
    refused = upload(lab, {"a.json": many}, expect=422)
    assert "takes more than 256 MiB of memory" in refused["message"]
    assert refused["details"]["refused"][0]["file"] == "a.json"
    monkeypatch.undo()
    upload(lab, {"a.json": iperf3_file()})


def test_files_are_read_without_the_servers_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWNLINK_DATABASE_URL", "postgresql://a:secret@db/x")
    assert call_apart(os.getenv, "DOWNLINK_DATABASE_URL", files=(), most_bytes=2**30) is None
    with pytest.raises(InvalidError) as refused:
        call_apart(parse_campaign, "", files=(), most_bytes=2**30)
    assert (refused.value.code, refused.value.message) == ("campaign_invalid", "The campaign file is empty.")


def test_a_fault_of_the_reading_process_is_not_called_a_want_of_memory() -> None:
    with pytest.raises(RuntimeError, match="ended with status 7"):
        call_apart(os._exit, 7, files=(), most_bytes=2**30)


def test_sizes_are_bounded_and_forms_are_checked(lab: Lab, units: UnitFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert upload(lab, {}, expect=422)["code"] == "form_unreadable"
    assert lab.call("POST", "/imports", expect=422, files={"other": ("x", b"y")})["code"] == "no_files"
    assert upload(lab, {"a.json": b"{"}, expect=422, colour="red")["code"] == "request_invalid"
    both = {"campaign": "new", "campaign_id": "00000000-0000-0000-0000-000000000000"}
    problem = upload(lab, {"a.json": iperf3_file()}, expect=422, **both)
    assert problem["message"].startswith("Give either campaign (a new one) or campaign_id")
    monkeypatch.setattr(route, "MAX_FILES", 2)
    problem = upload(lab, {f"{n}.json": iperf3_file(n) for n in (3, 4, 5)}, expect=422)
    assert "Too many files" in problem["message"]
    monkeypatch.setattr(route, "MAX_BODY_BYTES", 1_000)
    assert upload(lab, {"a.json": iperf3_file(9)}, expect=413)["code"] == "body_too_large"
    assert rows_stored(units) == NOTHING


def test_names_lose_folders_and_what_cannot_be_shown(lab: Lab) -> None:
    answer = upload(lab, {"../../etc/\x00\x1b[31mpasswd.json": iperf3_file()})
    assert "/" not in answer["runs"][0]["file"]
    assert answer["runs"][0]["file"].isprintable()
