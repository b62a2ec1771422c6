"""What a real server does with peers that send too much, too slowly, or wrong things on purpose."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from downlink.stack.servers import free_port
from downlink.storage.unit import open_units
from tests.fixtures.api_process import API, ApiProcess, running_api

pytestmark = [pytest.mark.verify("stack"), pytest.mark.timeout(90)]
STALLED_S = 2
METRICS_PORT = free_port()


@pytest.fixture(scope="module")
def server(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiProcess]:
    """An api that is impatient, so that tests need not be patient."""
    units = open_units(database_url, 1)
    own = {"stalled_s": STALLED_S, "metrics_port": METRICS_PORT, "allowed_hosts": "127.0.0.1, downlink"}
    with running_api(tmp_path_factory.mktemp("edge"), units, **own) as process:
        yield process
    units.close()


def is_cut(connection: socket.socket) -> bool:
    """Whether the server ends this connection; it may answer before."""
    try:
        read_all(connection)
    except TimeoutError:
        return False
    return True


def test_half_a_request_is_cut_off(server: ApiProcess) -> None:
    opened = [server.connect() for _ in range(20)]
    for number, connection in enumerate(opened):
        connection.settimeout(4 * STALLED_S + 5)
        connection.sendall(server.head("GET", "/healthz")[: number * 3])  # from nothing at all to almost everything
    assert [is_cut(connection) for connection in opened] == [True] * 20
    assert server.client.get("/healthz").status_code == 200


def test_an_invented_address_does_not_reset_the_count_of_wrong_sign_ins(server: ApiProcess) -> None:
    def try_once(number: int) -> int:
        wrong = {"username": f"user{number}", "password": "wrong"}
        headers = {"X-Forwarded-For": f"198.51.100.{number}"}
        return server.client.post(f"{API}/login", json=wrong, headers=headers).status_code

    assert [try_once(number) for number in range(12)][-1] == 429


def test_half_a_body_is_refused_and_cut_off(server: ApiProcess) -> None:
    """Of JSON, and of the long bodies that are read piece by piece."""
    form = {"Content_Type": "multipart/form-data; boundary=x"}
    halves = [
        server.head("POST", f"{API}/login", Content_Type="application/json", Content_Length=50) + b"{",
        server.head("POST", f"{API}/agent/join", Transfer_Encoding="chunked") + b"7\r\n",
        server.head("POST", f"{API}/imports", Content_Length=50, **form) + b"--x\r\n",
    ]
    opened = [server.connect() for _ in halves]
    for connection, half in zip(opened, halves, strict=True):
        connection.sendall(half)
    answers = [read_all(connection) for connection in opened]
    assert [answer.split()[1] for answer in answers] == [b"408", b"408", b"408"]
    assert all(b"body_too_slow" in answer for answer in answers)


def read_all(connection: socket.socket) -> bytes:
    """What comes until the server ends the connection."""
    pieces = []
    with contextlib.suppress(ConnectionResetError):  # what it has not read makes its end a reset
        while piece := connection.recv(65_536):
            pieces.append(piece)
    return b"".join(pieces)


MIB = 2**20


@pytest.mark.parametrize("path", ["/login", "/setup", "/agent/join", "/agent/poll", "/links", "/campaigns/preview"])
def test_a_body_over_a_mebibyte_is_refused_before_anyone_is_asked_who_he_is(server: ApiProcess, path: str) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            yield b" " * (MIB // 10)

    stranger = {"Authorization": "", "Content-Type": "application/json"}
    for body in (pieces(), b" " * (MIB + 1)):
        answer = httpx.post(server.address + API + path, content=body, headers=stranger, timeout=30)
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
        assert answer.headers["x-content-type-options"] == "nosniff"
    at_limit = httpx.post(server.address + API + path, content=b" " * MIB, headers=stranger, timeout=30)
    assert at_limit.status_code in (400, 401, 422)


def test_a_refusal_reaches_who_sends_the_whole_body_before_reading(server: ApiProcess) -> None:
    """Each time: an end of the connection with bytes unread would be a reset, which takes the answer with it."""
    body = b" " * (8 * MIB)
    calls = [
        server.head("POST", f"{API}/login", Content_Length=len(body)),
        server.head("POST", f"{API}/imports", Content_Length=len(body), Content_Type="text/plain"),
    ]
    for head in calls * 15:
        connection = server.connect()
        connection.sendall(head + body)
        answer = connection.recv(65_536)
        assert answer.split()[1] in (b"413", b"422"), answer
        connection.close()


def test_bodies_that_are_held_together_are_bounded(server: ApiProcess) -> None:
    opened = [server.connect() for _ in range(70)]
    for connection in opened:  # all but the last byte of a MiB each
        connection.sendall(server.head("POST", f"{API}/login", Content_Length=MIB) + b" " * (MIB - 1))
    answers = [read_all(connection)[9:12] for connection in opened]
    assert set(answers) <= {b"503", b"", b"408"}
    assert answers.count(b"408") <= 64
    assert server.client.get(f"{API}/session").status_code == 200


def test_figures_are_on_a_port_of_their_own(server: ApiProcess) -> None:
    server.client.get(f"{API}/links")
    assert "downlink_requests_total" in httpx.get(f"http://127.0.0.1:{METRICS_PORT}/metrics").text
    assert server.client.get("/metrics").status_code == 404


def test_another_name_of_this_host_is_refused_where_names_are_set(server: ApiProcess) -> None:
    assert server.client.get("/healthz", headers={"Host": "evil.example"}).status_code == 400
    assert server.client.get("/healthz", headers={"Host": "downlink:8400"}).status_code == 200


@pytest.mark.parametrize("variable", ["DOWNLINK_PORT", "DOWNLINK_METRICS_PORT"])
def test_an_api_that_cannot_listen_says_where_and_what_to_set(
    server: ApiProcess, database_url: str, variable: str
) -> None:
    own = {"DOWNLINK_DATABASE_URL": database_url, "DOWNLINK_PORT": str(free_port()), variable: str(server.port)}
    command = [sys.executable, "-m", "downlink.main", "api"]
    ended = subprocess.run(command, env=os.environ | own, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, "Traceback" in ended.stderr) == (6, False)
    said = ended.stderr.splitlines()[-1]
    assert said.startswith(f"downlink: the api cannot listen at 127.0.0.1, port {server.port}: Address already in use")
    assert variable in said


def test_a_request_of_two_lengths_is_refused_and_what_follows_it_is_not_read(server: ApiProcess) -> None:
    """What one reader takes for the body, another one takes for the next request."""
    first = server.head("POST", f"{API}/login", Content_Length=4, Transfer_Encoding="chunked")
    connection = server.connect()
    connection.sendall(first + b"0\r\n\r\n" + server.head("GET", "/healthz"))
    answer = read_all(connection)
    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1") == 1
