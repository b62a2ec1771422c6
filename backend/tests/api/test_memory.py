"""A real api under requests that would take all its memory, or all its connections: it stays small and goes on answering."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import json
import lzma
import socket
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
import zstandard
from sqlalchemy import text

from downlink.actions.campaigns.archive_read import load_archive
from downlink.actions.fleet import agents
from downlink.domain.fleet.agent import PROTOCOL
from downlink.domain.people.access import COMMAND_LINE
from downlink.stack.process import wait_until
from downlink.storage.tables import Table
from downlink.storage.unit import UnitFactory, open_units
from tests.fixtures.api_process import API, ApiProcess, running_api
from tests.fixtures.scripted_agent import make_host

pytestmark = [pytest.mark.verify("stack", measures=True), pytest.mark.timeout(150)]
RECORDED = Path(__file__).resolve().parents[3] / "docs" / "examples" / "recorded-hystart.zip"
MOST_MB = 400
"""Of the GiB that docker-compose.yml gives an api, which has some 250 before the first request."""
MIB = 2**20
STALLED_S = 8
GROWTH_MB = 40  # a Parquet file's directory grows with its row groups


@dataclass(frozen=True)
class Loaded:
    """An api over a database that holds the recorded campaign, with one trace made longer."""

    api: ApiProcess
    units: UnitFactory
    campaign: str
    run: str

    @property
    def trace(self) -> str:
        return f"{API}/runs/{self.run}/traces/1/sender"

    def peak_mb(self, after: str) -> float:
        """The most memory that the api has had since it began; printed, for `pytest -s`."""
        found = self.api.peak_mb()
        print(f"most memory after {after}: {found:.0f} MB of {MOST_MB}")
        return found


@pytest.fixture(scope="module")
def loaded(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    units = open_units(database_url, 2)
    with units() as unit:
        for table in reversed(Table.metadata.sorted_tables):
            unit.session.execute(table.delete())
    with units() as unit:
        campaign, _ = load_archive(unit, RECORDED.read_bytes())
        run = unit.session.execute(
            text("SELECT run_id FROM traces WHERE flow = 1 AND point = 'sender' LIMIT 1")
        ).scalar_one()
    with running_api(tmp_path_factory.mktemp("memory"), units, stalled_s=STALLED_S) as api:
        lengthen(units, run, 60)
        yield Loaded(api, units, str(campaign), str(run))
    units.close()


def lengthen(units: UnitFactory, run: str, chunks: int) -> None:
    """Repeat the first chunk of the run's trace so many times more."""
    with units() as unit:
        unit.session.execute(text(REPEAT), {"run": run, "chunks": chunks})
        unit.session.execute(text(COUNT), {"run": run})


REPEAT = """
    INSERT INTO chunks (run_id, flow, point, sequence, sha256, samples, parquet, stored_at)
    SELECT run_id, flow, point, (SELECT max(sequence) FROM chunks) + n, sha256, samples, parquet, stored_at
    FROM chunks, generate_series(1, :chunks) n WHERE run_id = :run AND flow = 1 AND point = 'sender' AND sequence = 0
"""
COUNT = """
    UPDATE traces SET chunks = (SELECT count(*) FROM chunks WHERE run_id = :run AND flow = 1 AND point = 'sender')
    WHERE run_id = :run AND flow = 1 AND point = 'sender'
"""


def bodies() -> Iterator[tuple[str, bytes]]:
    """At most a MiB each, and each meant to become as much as it can."""
    yield "lists", b"[" + b"[]," * (MIB // 3 - 2) + b"[]]"
    yield "depth", b"[" * MIB
    yield "depth of objects", b'{"a":' * (MIB // 5)
    yield "spool", b'{"spool": [' + b"{}," * (MIB // 3 - 20) + b"{}]}"
    yield "flows", b'{"kind": "finished", "flows": [' + b"{}," * (MIB // 3 - 20) + b"{}]}"
    yield "numbers", b"[" + b"1," * (MIB // 2 - 2) + b"1]"
    yield "text", b'{"username": "' + b"x" * (MIB - 40) + b'", "password": ""}'
    yield "YAML", b'{"source": "' + b"[" * (MIB - 40) + b'"}'


JSON_ROUTES = (
    "/login",
    "/setup",
    "/agent/join",
    "/agent/poll",
    "/campaigns/preview",
    f"/agent/runs/{uuid.UUID(int=0)}/events",
)


@pytest.mark.parametrize("path", JSON_ROUTES)
def test_no_json_body_takes_much_memory(loaded: Loaded, path: str) -> None:
    for name, body in bodies():
        answer = loaded.api.client.post(API + path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 401, 403, 422), (name, answer.text[:200])
        assert len(answer.content) < 20_000, name
    assert loaded.peak_mb(f"JSON bodies to {path}") < MOST_MB


def test_a_large_json_body_is_not_even_read(loaded: Loaded) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"["
        for _ in range(50):
            yield b"[]," * (MIB // 3)

    try:
        status = httpx.post(f"{loaded.api.address}{API}/login", content=pieces(), timeout=60).status_code
    except httpx.TransportError:  # the answer was there before the end of the question
        status = 413
    assert status == 413
    assert loaded.peak_mb("a large JSON body") < MOST_MB


def zstd_bomb() -> bytes:
    """2 GiB of zeros, without a word about their number."""
    packer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    zeros = bytes(16 * MIB)
    return b"".join([*(packer.compress(zeros) for _ in range(128)), packer.flush()])


def json_bomb() -> bytes:
    """100 MiB of JSON, within the limit of bytes: 35 million lists, 3 GB once they are parsed."""
    packer = zstandard.ZstdCompressor().compressobj()
    lists = b"[]," * (MIB // 3)
    return b"".join([packer.compress(b'{"a":['), *(packer.compress(lists) for _ in range(100)), packer.flush()])


def csv_bomb() -> bytes:
    """100 MiB of one row in a table of per-ACK samples: 2 GB once it is cut into cells."""
    packer = zstandard.ZstdCompressor().compressobj()
    header = b"now_us,bytes_acked,mss,rtt_us,tp_delivered,lost_pkt,total_retrans_pkt\n"
    cells = b"1," * (MIB // 2)
    return b"".join([packer.compress(header), *(packer.compress(cells) for _ in range(90)), packer.flush()])


@pytest.mark.parametrize(
    ("pack", "why"),
    [
        (zstd_bomb, "more than 512 MiB"),
        (lambda: gzip.compress(bytes(600 * MIB), compresslevel=1), "more than 512 MiB"),
        (lambda: gzip.compress(b"", mtime=0) * 250_000, "more than 100000 parts"),
        (lambda: bz2.compress(b"") * 250_000, "more than 100000 parts"),
        (lambda: lzma.compress(b"") * 250_000, "more than 100000 parts"),
        (json_bomb, "more than 8000000 values"),
        (csv_bomb, "longer than 65536 bytes"),
    ],
    ids=[
        "zstd bomb of 2 GiB",
        "gzip bomb of 600 MiB",
        "250,000 gzip members",
        "bzip2 streams",
        "xz streams",
        "JSON of 35 million lists",
        "a row of 47 million cells",
    ],
)
def test_no_packed_file_takes_much_memory(loaded: Loaded, pack: object, why: str) -> None:
    packed = pack()  # type: ignore[operator]
    answer = loaded.api.client.post(f"{API}/imports", files={"files": ("x", packed)})
    assert (answer.status_code, why in answer.json()["message"]) == (422, True), answer.text
    assert loaded.peak_mb("packed files") < MOST_MB


def read_length(loaded: Loaded, path: str) -> int:
    with loaded.api.client.stream("GET", path, headers={"Accept-Encoding": "identity"}) as answer:
        assert answer.status_code == 200
        return sum(len(piece) for piece in answer.iter_bytes())


def test_traces_and_archives_leave_piece_by_piece(loaded: Loaded) -> None:
    """Four times as much takes no more memory."""
    paths = (f"{loaded.trace}.csv", f"{loaded.trace}.parquet", f"{API}/campaigns/{loaded.campaign}/archive.zip")
    short = [read_length(loaded, path) for path in paths]
    peak_mb = loaded.peak_mb("before traces and archives")
    lengthen(loaded.units, loaded.run, 240)
    long = [read_length(loaded, path) for path in paths]
    assert sum(long) > 3.5 * sum(short) > 60 * MIB
    assert loaded.peak_mb("traces and archives") < min(peak_mb + GROWTH_MB, MOST_MB)


def test_readers_who_do_not_read_keep_nobody_waiting(loaded: Loaded) -> None:
    head = loaded.api.head("GET", f"{loaded.trace}.csv")
    opened = [loaded.api.connect(receive_bytes=4_096) for _ in range(30)]
    for connection in opened:
        connection.sendall(head)
    statuses = [connection.recv(12)[9:] for connection in opened]
    assert (statuses.count(b"200"), statuses.count(b"429")) == (4, 26)
    for path in ("/links", "/campaigns", "/agents") * 10:
        assert loaded.api.client.get(API + path, timeout=5).status_code == 200
    # Those who take nothing are cut off, and make room.
    assert wait_until(lambda: starts(loaded), 4 * STALLED_S, step_s=1)
    for connection in opened:
        connection.close()


def starts(loaded: Loaded) -> bool:
    with loaded.api.client.stream("GET", f"{loaded.trace}.csv") as answer:
        return answer.status_code == 200


@dataclass(frozen=True)
class Rogue:
    """An enrolled agent that sends what it likes."""

    api: ApiProcess
    secret: str

    def half(self, path: str, body: bytes, announced: int, **headers: str | int) -> socket.socket:
        """A connection with a request whose body is not whole."""
        connection = self.api.connect()
        lines = [f"POST {API}{path} HTTP/1.1", "Host: downlink", f"Authorization: Bearer {self.secret}"]
        lines += [
            f"Content-Length: {announced}",
            *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
        ]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        with contextlib.suppress(OSError):  # the api may close it while it is sent
            connection.sendall(body)
        return connection


@pytest.fixture
def rogue(loaded: Loaded) -> Rogue:
    return rogue_of(loaded)


def rogue_of(loaded: Loaded) -> Rogue:
    name = f"rogue-{uuid.uuid4().hex[:8]}"
    with loaded.units() as unit:
        _, token = agents.create_enrolment(unit, name, 60, datetime.now(UTC), actor=COMMAND_LINE)
    body = {"protocol": PROTOCOL, "token": token, "name": name, "version": "1", "host": make_host(name)}
    answer = loaded.api.client.post(f"{API}/agent/join", json=body)
    assert answer.status_code == 200, answer.text
    return Rogue(loaded.api, answer.json()["secret"])


def poll_of(size: int) -> bytes:
    """A poll with as many entries as make so many bytes, which a server must look at one by one."""
    entry = {"run_id": str(uuid.UUID(int=0)), "attempt": 1, "chunks": 1}
    spool = [{**entry, "run_id": str(uuid.uuid4())} for _ in range(min(9_000, size // 75))]
    said = {
        "protocol": PROTOCOL,
        "status": "idle",
        "run_id": None,
        "detail": None,
        "progress": None,
        "host": None,
        "wait_s": 25,
    }
    return json.dumps({**said, "spool": spool}).encode()


def test_an_agent_fills_no_memory_with_uploads(loaded: Loaded, rogue: Rogue) -> None:
    """110 bundles of 8 MiB, each a byte short; another agent's chunk and poll are served meanwhile."""
    path = f"/agent/runs/{uuid.uuid4()}/chunks"
    piece = bytes(8 * MIB - 1)
    opened = [rogue.half(path, piece, 8 * MIB, X_Attempt=1) for _ in range(110)]
    other = rogue_of(loaded)
    headers = {"Authorization": f"Bearer {other.secret}", "X-Attempt": "1"}
    answer = loaded.api.client.post(f"{API}{path}", content=b"x", headers=headers)
    assert answer.status_code in (404, 409, 422), answer.text
    for each in opened:
        each.close()
    assert loaded.peak_mb("uploads of an agent") < MOST_MB


def statuses(opened: list[socket.socket]) -> list[bytes]:
    """Of those that were answered by now."""
    found = []
    for each in opened:
        with contextlib.suppress(BlockingIOError):
            found.append(each.recv(12, socket.MSG_DONTWAIT | socket.MSG_PEEK)[9:])
    return found


def test_an_agent_fills_no_memory_with_polls(loaded: Loaded, rogue: Rogue) -> None:
    """57 held polls of 0.7 MB: four are held, and others are refused."""
    body = poll_of(MIB)
    opened = [rogue.half("/agent/poll", body, len(body), Content_Type="application/json") for _ in range(57)]
    assert loaded.api.client.get("/healthz").status_code == 200
    assert wait_until(lambda: len(statuses(opened)) >= 53, 60), statuses(opened)
    assert set(statuses(opened)) <= {b"200", b"429", b"503"}
    for each in opened:
        each.close()
    assert loaded.peak_mb("polls of an agent") < MOST_MB


def blanks() -> bytes:
    """496 MiB of a JSON list and blanks, of 2.3 MB."""
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    many = b"[1,2]," * 400_000
    return b"".join(
        [
            packer.compress(b'{"end": {}, "intervals": ['),
            packer.compress(many),
            packer.compress(b"[]]"),
            packer.compress(b"}"),
        ]
        + [packer.compress(b" " * MIB) for _ in range(490)]
        + [packer.flush()]
    )


def test_an_import_takes_the_memory_of_another_process(loaded: Loaded) -> None:
    answer = loaded.api.client.post(f"{API}/imports", files={"files": ("x.json", blanks())}, timeout=120)
    assert answer.status_code in (201, 422), answer.text
    assert loaded.peak_mb("an import") < MOST_MB


def test_all_of_it_at_once(loaded: Loaded, rogue: Rogue) -> None:
    path = f"/agent/runs/{uuid.uuid4()}/chunks"
    body, piece = poll_of(MIB), bytes(8 * MIB - 1)
    with ThreadPoolExecutor(3) as pool:
        uploads = pool.submit(lambda: [rogue.half(path, piece, 8 * MIB, X_Attempt=1) for _ in range(60)])
        polls = pool.submit(
            lambda: [rogue.half("/agent/poll", body, len(body), Content_Type="application/json") for _ in range(40)]
        )
        imported = pool.submit(
            lambda: loaded.api.client.post(f"{API}/imports", files={"files": ("x.json", blanks())}, timeout=140)
        )
        bare = [loaded.api.connect() for _ in range(80)]
        for each in bare:
            each.sendall(loaded.api.head("POST", f"{API}/login", Content_Length=MIB) + bytes(MIB - 1))
        assert imported.result().status_code in (201, 422)
        for each in (*uploads.result(), *polls.result(), *bare):
            each.close()
    assert loaded.peak_mb("all at once") < MOST_MB
