"""Everything that the server says of finished campaigns, written into a folder: two versions of the code compare with `diff -r`.

    cd backend && ../.venv/bin/python -m tools.answers FOLDER [joined]

With `joined`, up to 16 chunks of the study's traces come in one file, as they are kept since archives of version 2.
The campaigns are the recorded example, a study of 50 runs made of its traces and of the ACK traces of the tests, and files of
other tools. Each is written twice: as it was loaded, and analysed again. Ids and moments that differ from run to run are numbered.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from pydantic import SecretStr
from typer.testing import CliRunner

from bench.database import database
from downlink.actions.campaigns.archive_read import load_archive
from downlink.codec.parquet import columns_to_parquet, parquet_to_columns, trace_columns
from downlink.main import app
from downlink.process.settings import Settings
from tests.fixtures.foreign_files import ack_csv_file, flent_file, iperf3_file, ndt7_file
from tests.fixtures.lab import Lab
from tests.fixtures.recorded import ARCHIVE

TESTS = Path(__file__).parents[1] / "tests"
ACK_TRACES = ("geo-viasat-on", "geo-viasat-off", "leo-starlink-on", "own-search-3.1", "own-best")
STUDY, RUNS = UUID(int=50), 50
TABLES = ("runs", "series", "metrics", "exits", "limits", "fairness", "statistics", "outliers", "summary")
Rows = dict[str, list[dict[str, Any]]]
Chunks = list[tuple[dict[str, Any], bytes]]


def main() -> None:
    folder, is_joined = Path(sys.argv[1]), "joined" in sys.argv[2:]
    with database() as (_, url, units):
        os.environ["DOWNLINK_DATABASE_URL"] = url
        with Lab(Settings(database_url=SecretStr(url), base_url="http://testserver"), units) as lab:
            for name, campaign in load_all(lab, is_joined=is_joined):
                write(lab, folder / name / "loaded", campaign)
                outcome = CliRunner().invoke(app, ["analyse", campaign])
                if outcome.exit_code:
                    raise SystemExit(outcome.output)
                write(lab, folder / name / "analysed", campaign)


def load_all(lab: Lab, *, is_joined: bool) -> Iterator[tuple[str, str]]:
    for name, content in (("example", ARCHIVE.read_bytes()), ("study", study_archive(is_joined=is_joined))):
        with lab.units() as unit:
            campaign = str(load_archive(unit, content)[0])
        yield name, campaign
    files = {
        "one.json": iperf3_file(12),
        "two.json": iperf3_file(9, streams=2, reverse=True),
        "three.json": ndt7_file(),
        "four.flent": flent_file(),
        **{f"acks-{seed}.csv": ack_csv_file(seed) for seed in (7, 8, 9)},
    }
    files |= {
        each.name: each.read_bytes()
        for each in sorted((TESTS / "importers" / "data").iterdir())
        if "md" not in each.name
    }
    sent = [("files", (name, content)) for name, content in files.items()]
    campaign = lab.call("POST", "/imports", files=sent)["campaign_id"]
    while lab.work():
        pass
    yield "imported", campaign


def study_archive(*, is_joined: bool) -> bytes:
    """50 runs out of the example's six: other cycles, first bytes and rates, shorter traces, ACK traces, and two flows together."""
    rows, chunks = read_archive()
    flows = {row["run_id"]: row for row in rows["run_flows"]}
    study: Rows = {name: [] for name in rows if name not in ("exits", "slow_starts", "limits", "limit_bins", "reports")}
    study["campaigns"] = [study_campaign(rows["campaigns"][0])]
    made: Chunks = []
    for number in range(RUNS):
        source = rows["runs"][number % len(rows["runs"])]
        run_id = str(uuid5(STUDY, str(number)))
        own = {"condition": f"condition {number % 4}", "cycle": number // 4 + 1, "position": number % 4 + 1}
        rate = [144_000_000, 80_000_000, None][number % 3]
        state = "failed" if number == 13 else "complete"
        changed = {"id": run_id, "campaign_id": str(STUDY), "nominal_rate_bps": rate, "is_emulated": number % 5 < 3}
        study["runs"].append({**source, **own, **changed, "state": state, "analysis_version": "1"})
        for flow in (1, 2) if number % 4 == 3 else (1,):
            study["run_flows"].append(study_flow(flows[source["id"]], run_id, flow, number))
            made += study_chunks(chunks, source["id"], run_id, flow, number)
        ends = {(each["run_id"], each["flow"], each["end"]) for each, _ in made if each["run_id"] == run_id}
        study["traces"] += [study_trace(rows["traces"][0], made, end) for end in sorted(ends)]
        for table in ("series", "metrics"):
            kept = [row for row in rows[table] if row["run_id"] == source["id"]]
            study[table] += [{**row, "run_id": run_id} for row in kept if row.get("bin_s", 0) < 30 + number % 7]
    return pack_archive(study, joined_chunks(made)) if is_joined else pack_archive(study, made)


def study_campaign(row: dict[str, Any]) -> dict[str, Any]:
    example = row["spec"]["conditions"][0]
    conditions = [{**example, "name": f"condition {number}"} for number in range(4)]
    spec = {**row["spec"], "conditions": conditions, "timetable": {**row["spec"]["timetable"], "cycles": 13}}
    return {**row, "id": str(STUDY), "name": "Study of 50 runs", "spec": spec}


def study_flow(row: dict[str, Any], run_id: str, flow: int, number: int) -> dict[str, Any]:
    """Each a little earlier or later, and the second one staggered."""
    shift = 1_000 * (number % 11) if number % 5 else 0
    outcome = row["sender_outcome"]
    sent = {**outcome, "flow": flow, "first_byte_us": outcome["first_byte_us"] + shift if number % 5 else 0}
    start_s = 4.0 if flow == 2 else 0.0
    return {**row, "run_id": run_id, "flow": flow, "start_s": start_s, "sender_outcome": sent}


def study_chunks(chunks: Chunks, source: str, run_id: str, flow: int, number: int) -> Chunks:
    """The example's; every fifth run has an ACK trace at its sender, every seventh trace lacks its last chunk."""
    own = [(header, content) for header, content in chunks if header["run_id"] == source]
    if number % 5 == 0:
        columns = parquet_to_columns((TESTS / "data" / "exits" / f"{ACK_TRACES[number // 5 % 5]}.parquet").read_bytes())
        size = len(columns["elapsed_us"])
        pieces = [{name: each[at : at + 5_000] for name, each in columns.items()} for at in range(0, size, 5_000)]
        sender = next(header for header, _ in own if header["end"] == "sender")
        own = [each for each in own if each[0]["end"] != "sender"]
        own += [
            ({**sender, "sequence": at, "samples": len(each["elapsed_us"])}, columns_to_parquet(each))
            for at, each in enumerate(pieces)
        ]
    elif number % 7 == 1:
        own = [(header, content) for header, content in own if header["end"] != "sender" or header["sequence"] == 0]
    member = "traces/{}/{}-{}-{}.parquet"
    return [
        (
            {
                **header,
                "run_id": run_id,
                "flow": flow,
                "member": member.format(run_id, flow, header["end"], header["sequence"]),
            },
            content,
        )
        for header, content in own
    ]


def joined_chunks(made: Chunks) -> Chunks:
    """Join consecutive chunks to one file, 16 at most."""
    joined: Chunks = []
    for header, content in made:
        nothing: tuple[dict[str, Any], bytes] = {}, b""
        first, parts = joined[-1] if joined else nothing
        at: int = first["joined_to"] if "joined_to" in first else first.get("sequence", 0)
        is_next = all(first.get(key) == header[key] for key in ("run_id", "flow", "end"))
        if is_next and header["sequence"] == first["sequence"] + 1 < at + 16:
            own = {**header, "member": first["member"], "joined_to": at}
            joined.append((own, columns_to_parquet(trace_columns([parts, content]))))
        else:
            joined.append((header, content))
    return joined


def study_trace(row: dict[str, Any], made: Chunks, key: tuple[str, int, str]) -> dict[str, Any]:
    own = [header for header, _ in made if (header["run_id"], header["flow"], header["end"]) == key]
    samples = sum(header["samples"] for header in own)
    return {**row, "run_id": key[0], "flow": key[1], "end": key[2], "samples": samples, "chunks": len(own)}


def read_archive() -> tuple[Rows, Chunks]:
    with zipfile.ZipFile(ARCHIVE) as archive:
        places = json.loads(archive.read("chunks.json"))
        return json.loads(archive.read("rows.json")), [(header, archive.read(header["member"])) for header in places]


def pack_archive(rows: Rows, chunks: Chunks) -> bytes:
    places = [header for header, _ in chunks]
    members = {header["member"]: content for header, content in chunks}
    members |= {"rows.json": json.dumps(rows).encode(), "chunks.json": json.dumps(places).encode()}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    form = "dl-archive/2" if any("joined_to" in header for header in places) else "dl-archive/1"
    manifest = {"format": form, "campaign_id": str(STUDY), "sha256": digests}
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in {**members, "manifest.json": json.dumps(manifest).encode()}.items():
            archive.writestr(name, content)
    return sink.getvalue()


def write(lab: Lab, folder: Path, campaign: str) -> None:
    """Every read route of the campaign and of its runs, each in a file of its own."""
    folder.mkdir(parents=True)
    own = f"/campaigns/{campaign}"
    put = Writer(lab, folder)
    put("campaigns.json", "/campaigns")
    put("campaign.json", own)
    for name in ("runs", "report", "statistics", "exits", "limits"):
        put(f"{name}.json", f"{own}/{name}", limit=500)
    for table in TABLES:
        put(f"{table}.csv", f"{own}/{table}.csv")
    for number, run in enumerate(lab.call("GET", f"{own}/runs", params={"limit": 500})["items"]):
        path = f"/runs/{run['id']}"
        put(f"run-{number}.json", path)
        put(f"run-{number}-series.json", f"{path}/series")
        put(f"run-{number}-limits.json", f"{path}/limits")
        put(f"run-{number}-exits.json", f"{path}/exits", from_s=1, to_s=20, points=300)
        put(f"run-{number}-trace.csv", f"{path}/traces/1/sender.csv", digested=True)
        put(f"run-{number}-trace.parquet", f"{path}/traces/1/sender.parquet", digested=True)
    if folder.parent.name == "imported":
        return  # rows lie in an archive by their ids, which are random
    archive = zipfile.ZipFile(io.BytesIO(put.get(f"{own}/archive.zip")))
    put.save("archive-rows.json", archive.read("rows.json"))
    members = [each for each in archive.infolist() if each.filename not in ("rows.json", "manifest.json")]
    put.save("archive-members.txt", "\n".join(f"{each.filename} {each.CRC}" for each in members).encode())


class Writer:
    """Gets routes and puts their answers into files."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self._lab, self._folder = lab, folder
        self._seen: dict[bytes, int] = {}

    def __call__(self, file: str, path: str, *, digested: bool = False, **query: Any) -> None:
        content = self.get(path, **query)
        is_short = not digested or content.startswith(b"{")
        self.save(file, content if is_short else hashlib.sha256(content).hexdigest().encode())

    def get(self, path: str, **query: Any) -> bytes:
        headers = {"Authorization": f"Bearer {self._lab.token}"}
        content: bytes = self._lab.client.get(f"/api/v1{path}", params=query, headers=headers).content
        return content

    def save(self, file: str, content: bytes) -> None:
        """Ids that are random (version 4) by the order in which they appear, moments of today as one; objects on lines of their own."""
        content = re.sub(rb"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", self._number, content)
        content = re.sub(rb"%s[T ][0-9:.]+(Z|\+00:00)?" % f"{datetime.now(UTC):%Y-%m-%d}".encode(), b"T", content)
        content = re.sub(rb'"(report_wanted|version|tries)": ?\d+', rb'"\1":N', content)
        (self._folder / file).write_bytes(content.replace(b"},{", b"},\n{").replace(b"}, {", b"}, \n{"))

    def _number(self, match: re.Match[bytes]) -> bytes:
        return b"id-%d" % self._seen.setdefault(match[0], len(self._seen))


if __name__ == "__main__":
    main()
