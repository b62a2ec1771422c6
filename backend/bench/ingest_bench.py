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
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import numpy as np
import psycopg

from downlink.codec.bundle import MAX_CHUNKS, split_bundle
from downlink.codec.chunk import MAX_SAMPLES, ChunkHeader, encode_chunk
from downlink.domain.point import Point
from downlink.domain.sample import TIME_FIELD, fields_of
from downlink.stack.launcher import running
from downlink.stack.process import Program, wait_until
from downlink.stack.servers import free_port, is_listening
from tests.fixtures.scripted_agent import ScriptedAgent, make_host

ROUNDS, CLIENTS = 5, 2
SINGLE, BUNDLED = 80, 416  # chunks in a round, the latter four requests from each client
BUNDLE_BYTES, BUNDLE_CLIENTS = 2 * 2**20, 4  # as an agent sends them that gets through quickly (agents/internal/agent)
FAST = 1500  # chunks/s
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
    found: list[Upload] = []
    for path, chunk, headers in uploads:
        *_, flow, end, sequence = path.split("/")
        said = {"flow": int(flow), "point": end, "sequence": int(sequence), "size": len(chunk)}
        line = json.dumps({**said, "sha256": headers["X-Content-SHA256"]}).encode() + b"\n"
        if not found or len(found[-1][1]) + len(line) + len(chunk) > BUNDLE_BYTES:
            found.append((path.partition("/traces/")[0] + "/chunks", b"", headers))
        found[-1] = (found[-1][0], found[-1][1] + line + chunk, headers)
    return found


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
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


def measure(port: int, bare_port: int, database: str, uploads: list[Upload]) -> dict[str, float]:
    """Chunks a second: medians over rounds in which every way takes its own, or the same, uploads in turns."""
    seconds: dict[str, list[float]] = {"bare": [], "copy": [], "chunk": [], "bundle": [], "repeat": []}
    for number in range(ROUNDS):
        mine = uploads[number * (SINGLE + BUNDLED) :]
        single, bundled = mine[:SINGLE], mine[SINGLE : SINGLE + BUNDLED]
        seconds["bare"].append(send_all(bare_port, single))
        seconds["copy"].append(copy_all(database, bundled))
        seconds["chunk"].append(send_all(port, single))
        seconds["bundle"].append(send_all(port, bundles(bundled), "POST", BUNDLE_CLIENTS))
        seconds["repeat"].append(send_all(port, single))
    counts = {"copy": BUNDLED, "bundle": BUNDLED}
    return {kind: counts.get(kind, SINGLE) / median(values) for kind, values in seconds.items()}


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


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="downlink-bench-") as folder, running(Path(folder), None) as stack:
        bearer = {"Authorization": f"Bearer {stack.token}"}
        api = httpx.Client(base_url=f"{stack.address}/api/v1", headers=bearer, trust_env=False)
        sender, receiver = join(api, "sender"), join(api, "receiver")
        sender.announced, receiver.announced = ROUNDS * (SINGLE + BUNDLED), 1
        api.post("/links", json=LINK).raise_for_status()
        campaign = api.post("/campaigns", json={"source": CAMPAIGN}).raise_for_status().json()["id"]
        launched = api.post(f"/campaigns/{campaign}/launch")
        if not launched.is_success:
            raise RuntimeError(launched.text)
        run = carry_out(sender, receiver)
        uploads = make_uploads(sender, run, sender.announced)

        bare_port = free_port()
        stack.supervisor.start(Program("bare", [sys.executable, "-c", BARE % bare_port]))
        wait_until(lambda: is_listening(bare_port), timeout_s=10)
        port = httpx.URL(stack.address).port or 80
        database = stack.env["DOWNLINK_DATABASE_URL"].replace("+psycopg", "")
        rates = measure(port, bare_port, database, uploads)

    size = sum(len(body) for _, body, _ in uploads) / len(uploads)
    said = f"{rates['bundle'] * MAX_SAMPLES / 1e6:.2f} M samples/s, {size / 1e3:.0f} kB a chunk"
    share = rates["bundle"] / rates["bare"]
    # Either of two goals: so many a second, or half of what the database alone stores.
    goal = {"goal": ">= 1500"} if rates["bundle"] >= FAST else {"peer": round(rates["copy"], 1), "goal": ">= 0.5"}
    rows: list[tuple[str, str, str, dict[str, Any]]] = [
        ("chunk ingest, many a request", "bundle", f"{said}; {share:.2f} of a bare PUT", goal),
        ("chunk ingest, one a request", "chunk", f"{rates['chunk'] / rates['bare']:.2f} of a bare PUT", {}),
        ("chunk ingest, repeated", "repeat", "a no-op", {}),
        ("bare COPY of as many at once", "copy", "stored, without HTTP", {}),
        ("bare PUT", "bare", "nothing is stored", {}),
    ]
    for name, kind, remark, more in rows:
        row = {"name": name, "value": round(rates[kind], 1), "unit": "chunks/s", "remark": remark}
        print(json.dumps({**row, **more}))


if __name__ == "__main__":
    main()
