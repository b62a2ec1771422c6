"""Chunk ingest over HTTP against what HTTP and PostgreSQL do alone with the same bytes: same machine, same minutes, in turns.

The real stack takes the chunks of a run that two scripted agents have carried out over HTTP.
The bare PUT goes to the same HTTP server with a handler that reads the body and answers: nothing is stored.
The bare COPY goes past HTTP into the same database, as durable, as many chunks to a transaction, over as many connections.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import numpy as np
import psycopg

from bench.rows import Row, show
from bench.timing import timed_s
from downlink.codec.bundle import MAX_CHUNKS, split_bundle
from downlink.codec.chunk import MAX_SAMPLES, ChunkHeader, encode_chunk
from downlink.domain.traces.point import Point
from downlink.domain.traces.sample import TIME_FIELD, fields_of
from downlink.stack.launcher import Stack, running
from downlink.stack.process import Program, Supervisor, wait_until
from downlink.stack.servers import free_port, is_listening
from tests.fixtures.scripted_agent import ScriptedAgent, make_host


@dataclass(frozen=True)
class Size:
    """single, bundled: chunks in a round, one to a request and many."""

    rounds: int
    single: int
    bundled: int

    @property
    def chunks(self) -> int:
        return self.rounds * (self.single + self.bundled)


FULL = Size(rounds=5, single=80, bundled=416)  # the latter four requests from each client
TINY = Size(rounds=1, single=2, bundled=8)
CLIENTS = 2
BUNDLE_BYTES, BUNDLE_CLIENTS = 2 * 2**20, 4  # as an agent sends them that gets through quickly (agents/internal/agent)
CAMPAIGN = """
name: Ingest
links: [bench]
stop: {seconds: 1}
timetable: {cycles: 1}
conditions: [{name: only}]
"""
LINK = {
    "name": "bench",
    "orbit": "terrestrial",
    "nominal_rate_bps": 10**8,
    "base_rtt_ms": 20,
    "receiver": "receiver",
    "senders": ["sender"],
}
BARE = """
import uvicorn
async def app(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})
uvicorn.run(app, port=%d, log_level="error", lifespan="off")
"""
COPY = "COPY bare (flow, sequence, packed) FROM STDIN BINARY"
BARE_VALUES = {
    "run_id": "gen_random_uuid()", "point": "'sender'", "sha256": "decode(repeat('00', 32), 'hex')", "samples": "5000",
    "stored_at": "now()",
}  # fmt: skip
Headers = dict[str, str]
Upload = tuple[str, bytes, Headers]


class BenchAgent(ScriptedAgent):
    """Announces chunks, and leaves the upload to the benchmark."""

    announced = 0
    is_uploading = False

    def _measure(self, flow: dict[str, Any]) -> dict[str, Any]:
        return {**super()._measure(flow), "chunks": self.announced, "samples": self.announced * MAX_SAMPLES}

    def _on_upload(self, order: dict[str, Any]) -> None:
        self.is_uploading = True


def make_uploads(agent: BenchAgent, run: str, count: int) -> list[Upload]:
    """Chunks as large as those of real runs, about 15 bytes a sample: most fields stand still, every fourth wanders."""
    rng = np.random.default_rng(1)
    names = [field.name for field in fields_of(Point.SENDER)]
    names.sort(key=lambda name: name != TIME_FIELD)
    uploads = []
    for sequence in range(count):
        columns = {
            name: 10**6
            + (np.cumsum(rng.integers(-20, 20, MAX_SAMPLES)) if number % 4 == 0 else np.zeros(MAX_SAMPLES, np.int64))
            for number, name in enumerate(names)
        }
        columns[TIME_FIELD] = (sequence * MAX_SAMPLES + np.arange(MAX_SAMPLES)) * 5000 + rng.integers(
            0, 900, MAX_SAMPLES
        )
        header = ChunkHeader(run, 1, 1, Point.SENDER, sequence, MAX_SAMPLES, tuple(names))
        body = encode_chunk(header, columns)
        headers = {
            "Authorization": f"Bearer {agent.secret}",
            "X-Content-SHA256": hashlib.sha256(body).hexdigest(),
            "X-Attempt": "1",
        }
        uploads.append((f"/api/v1/agent/runs/{run}/traces/1/sender/{sequence}", body, headers))
    return uploads


def bundles(uploads: Sequence[Upload]) -> list[Upload]:
    """The same chunks, as many to a request as fit into BUNDLE_BYTES."""
    bodies: list[Upload] = []
    for path, chunk, headers in uploads:
        *_, flow, end, sequence = path.split("/")
        header = {"flow": int(flow), "point": end, "sequence": int(sequence), "size": len(chunk)}
        line = json.dumps({**header, "sha256": headers["X-Content-SHA256"]}).encode() + b"\n"
        if not bodies or len(bodies[-1][1]) + len(line) + len(chunk) > BUNDLE_BYTES:
            bodies.append((path.partition("/traces/")[0] + "/chunks", b"", headers))
        bodies[-1] = (bodies[-1][0], bodies[-1][1] + line + chunk, headers)
    return bodies


def send_all(port: int, uploads: Sequence[Upload], method: str = "PUT", clients: int = CLIENTS) -> float:
    """Send every upload over so many connections; answer the seconds it took."""
    failures: list[str] = []

    def client(number: int) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            for path, body, headers in uploads[number::clients]:
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
                content = answer.read()
                if answer.status != http.HTTPStatus.OK or b'"code"' in content:
                    failures.append(content.decode())

    took_s = together(client, clients)
    if failures:
        raise RuntimeError(failures[0])
    return took_s


def copy_all(database: str, uploads: Sequence[Upload]) -> float:
    """Store the same bytes in a table like that of chunks; answer the seconds it took."""
    packs = [[chunk.content for chunk in split_bundle(body)] for _, body, _ in bundles(uploads)]

    def client(number: int) -> None:
        with psycopg.connect(database) as connection:
            for each, pack in enumerate(packs[number::BUNDLE_CLIENTS]):
                with connection.cursor().copy(COPY) as copy:
                    copy.set_types(["int8", "int8", "bytea"])
                    for sequence, content in enumerate(pack):
                        copy.write_row((number, each * MAX_CHUNKS + sequence, content))
                connection.commit()

    with psycopg.connect(database) as connection:
        connection.execute("DROP TABLE IF EXISTS bare")
        connection.execute("CREATE TABLE bare (LIKE chunks INCLUDING ALL)")
        for column, value in BARE_VALUES.items():
            connection.execute(f"ALTER TABLE bare ALTER {column} SET DEFAULT {value}")
    return together(client, BUNDLE_CLIENTS)


def together(client: Callable[[int], None], clients: int) -> float:
    """Run so many at once; answer the seconds until the last has ended."""
    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]

    def run() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return timed_s(run)


def measure(port: int, bare_port: int, database: str, uploads: list[Upload], size: Size) -> dict[str, float]:
    """Chunks a second: medians over rounds in which every way takes its own, or the same, uploads in turns."""
    seconds: dict[str, list[float]] = {"bare": [], "copy": [], "chunk": [], "bundle": [], "repeat": []}
    for number in range(size.rounds):
        mine = uploads[number * (size.single + size.bundled) :]
        single, bundled = mine[: size.single], mine[size.single : size.single + size.bundled]
        seconds["bare"].append(send_all(bare_port, single))
        seconds["copy"].append(copy_all(database, bundled))
        seconds["chunk"].append(send_all(port, single))
        seconds["bundle"].append(send_all(port, bundles(bundled), "POST", BUNDLE_CLIENTS))
        seconds["repeat"].append(send_all(port, single))
    counts = {"copy": size.bundled, "bundle": size.bundled}
    return {kind: counts.get(kind, size.single) / median(values) for kind, values in seconds.items()}


def join(api: httpx.Client, name: str) -> BenchAgent:
    agent = BenchAgent(
        httpx.Client(base_url=api.base_url.copy_with(path="/"), trust_env=False), name, utc_now, make_host(name)
    )
    agent.join(api.post("/agents/enrolments", json={"name": agent.name}).raise_for_status().json()["token"])
    agent.poll()  # heard once, so that a campaign may be launched with it
    return agent


def carry_out(sender: BenchAgent, receiver: BenchAgent) -> str:
    """Take the run to the point where its chunks are wanted; answer its id."""
    agents = (sender, receiver)

    def are_uploading() -> bool:
        for agent in agents:
            if not agent.is_uploading:
                agent.act()
        return all(agent.is_uploading for agent in agents)

    if not wait_until(are_uploading, timeout_s=60, step_s=0.05) or sender.run is None:
        raise RuntimeError("the scripted agents never came to their upload")
    return str(sender.run["run_id"])


def utc_now() -> datetime:
    return datetime.now(UTC)


def ready_to_upload(stack: Stack, chunks: int) -> list[Upload]:
    """Carry out a run of two scripted agents until its chunks are wanted; all of its sender's."""
    bearer = {"Authorization": f"Bearer {stack.token}"}
    api = httpx.Client(base_url=f"{stack.address}/api/v1", headers=bearer, trust_env=False)
    sender, receiver = join(api, "sender"), join(api, "receiver")
    sender.announced, receiver.announced = chunks, 1
    api.post("/links", json=LINK).raise_for_status()
    campaign = api.post("/campaigns", json={"source": CAMPAIGN}).raise_for_status().json()["id"]
    launched = api.post(f"/campaigns/{campaign}/launch")
    if not launched.is_success:
        raise RuntimeError(launched.text)
    return make_uploads(sender, carry_out(sender, receiver), chunks)


def bare_server(supervisor: Supervisor) -> int:
    """Start the HTTP server that stores nothing; its port."""
    port = free_port()
    supervisor.start(Program("bare", [sys.executable, "-c", BARE % port]))
    supervisor.wait_ready("bare", lambda: is_listening(port), timeout_s=60)
    return port


def rows(size: Size) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="downlink-bench-") as folder, running(Path(folder), None) as stack:
        uploads = ready_to_upload(stack, size.chunks)
        database = stack.env["DOWNLINK_DATABASE_URL"].replace("+psycopg", "")
        port = httpx.URL(stack.address).port or 80
        rates = measure(port, bare_server(stack.supervisor), database, uploads, size)
    chunk_kb = sum(len(body) for _, body, _ in uploads) / len(uploads) / 1e3
    yield ingest_row(rates, chunk_kb)
    beside = f"{rates['chunk'] / rates['bare']:.2f} of a bare PUT"
    yield Row("chunk ingest, one a request", rates["chunk"], "chunks/s", remark=beside)
    yield Row("chunk ingest, repeated", rates["repeat"], "chunks/s", remark="a no-op")
    yield Row("bare COPY of as many at once", rates["copy"], "chunks/s", remark="stored, without HTTP")
    yield Row("bare PUT", rates["bare"], "chunks/s", remark="nothing is stored")


def ingest_row(rates: dict[str, float], chunk_kb: float) -> Row:
    remark = f"peer: what the database alone stores; {rates['bundle'] * MAX_SAMPLES / 1e6:.2f} M samples/s, {chunk_kb:.0f} kB a chunk"
    remark += f"; {rates['bundle'] / rates['bare']:.2f} of a bare PUT"
    return Row("chunk ingest, many a request", rates["bundle"], "chunks/s", rates["copy"], ">= 0.5", remark)


if __name__ == "__main__":
    show(rows, FULL, TINY)
