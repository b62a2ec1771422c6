"""The Caddyfile of the containers, run by Debian's caddy before a real api: TLS, and nothing is held back or changed on the way."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from downlink.actions.people import access
from downlink.domain.people.access import COMMAND_LINE
from downlink.stack.process import Program, Supervisor, wait_until
from downlink.stack.servers import free_port
from downlink.storage.notices.events import add_event
from downlink.storage.unit import UnitFactory, open_units
from tests.fixtures.api_process import API, ApiProcess, next_event, running_api
from tests.system.conftest import AGENT, ROOT

pytestmark = pytest.mark.verify("packages")

CADDYFILE = ROOT / "docs" / "deploy" / "Caddyfile"
MIB = 1 << 20
LARGE_MIB = 256
BLOCK = bytes(MIB)
BOUNDARY = "the-end-of-a-part"


@dataclass
class Proxied:
    """An api and the proxy before it."""

    api: ApiProcess
    address: str
    plain_port: int
    authority: Path

    def client(self, local_address: str | None = None) -> httpx.Client:
        """Somebody who trusts the proxy's own authority, with an API token."""
        trust = ssl.create_default_context(cafile=str(self.authority))
        transport = httpx.HTTPTransport(verify=trust, local_address=local_address)
        return httpx.Client(transport=transport, base_url=self.address, headers=self.api.headers, timeout=60)


@pytest.fixture(scope="module")
def stored(database_url: str) -> Iterator[UnitFactory]:
    """The tests of this file share one api, and so one database."""
    opened = open_units(database_url, 4)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory, stored: UnitFactory) -> Iterator[Proxied]:
    folder = tmp_path_factory.mktemp("proxied")
    port, plain_port = free_port(), free_port()
    address = f"https://localhost:{port}"
    with running_api(folder, stored, base_url=address, forwarded_allow_ips="127.0.0.1") as api:
        variables = {
            "DOWNLINK_SITE": "localhost", "DOWNLINK_TLS": "internal", "DOWNLINK_API": f"127.0.0.1:{api.port}",
            "DOWNLINK_HTTPS_PORT": str(port), "DOWNLINK_HTTP_PORT": str(plain_port),
            "XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config"),
        }  # fmt: skip
        with Supervisor(folder / "caddy") as supervisor:
            command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(CADDYFILE)]
            supervisor.start(Program("caddy", command, env=variables))
            found = Proxied(api, address, plain_port, folder / "data/caddy/pki/authorities/local/root.crt")
            assert wait_until(lambda: _answers(found), 60, step_s=0.2), supervisor.log_path("caddy").read_text()
            yield found


def _answers(proxied: Proxied) -> bool:
    try:
        with proxied.client() as client:
            return client.get("/healthz").status_code == 200
    except (httpx.TransportError, OSError):  # its authority's certificate is not written yet
        return False


def test_calls_come_by_tls_or_are_led_there(proxied: Proxied) -> None:
    led = httpx.get(f"http://localhost:{proxied.plain_port}/campaigns")
    assert (led.status_code, led.headers["location"].split(":")[0]) == (308, "https")
    with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
        httpx.get(f"{proxied.address}/healthz")
    with proxied.client() as client:
        answer = client.get("/healthz")
        assert answer.headers.get_list("strict-transport-security") == ["max-age=31536000"]
        assert answer.headers.get_list("x-frame-options") == ["DENY"]


def test_what_is_packed_passes_as_it_is(proxied: Proxied) -> None:
    path, headers = f"{API}/openapi.json", {"Accept-Encoding": "gzip"}
    with proxied.client() as client, client.stream("GET", path, headers=headers) as passed:
        through = b"".join(passed.iter_raw())
    with proxied.api.client.stream("GET", path, headers=headers) as answer:
        direct = b"".join(answer.iter_raw())
    assert passed.headers["content-encoding"] == answer.headers["content-encoding"] == "gzip"
    assert len(through) == len(direct) > 1000


def test_an_event_arrives_while_its_stream_goes_on(proxied: Proxied, stored: UnitFactory) -> None:
    with proxied.client() as client, client.stream("GET", f"{API}/events") as stream:
        lines = stream.iter_lines()
        assert next_event(lines)["event"] == "hello"
        for number in range(3):
            with stored() as unit:
                add_event(unit, datetime.now(UTC), "agent", {"number": number})
            assert next_event(lines)["event"] == "agent"


def body(mebibytes: int) -> Iterator[bytes]:
    """A form with one file of so many MiB, as it is sent: never whole in memory."""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="large.json"\r\n\r\n'
    yield head.encode()
    for _ in range(mebibytes):
        yield BLOCK
    yield f"\r\n--{BOUNDARY}--\r\n".encode()


@pytest.mark.parametrize("mebibytes", [8, LARGE_MIB])
def test_an_import_is_judged_by_the_api_and_not_by_the_proxy(proxied: Proxied, mebibytes: int) -> None:
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    with proxied.client() as client:
        answer = client.post(f"{API}/imports", content=body(mebibytes), headers=headers)
    assert answer.json()["code"] == "import_refused", answer.text


def test_a_refusal_of_the_api_passes_as_it_is(proxied: Proxied) -> None:
    """Beyond its limits it says so itself, and an agent knows by that whose word it is."""
    with proxied.client() as client:
        answer = client.post(f"{API}/campaigns", content=BLOCK + b" ", headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


def test_the_api_knows_who_calls_and_no_invented_address_counts(proxied: Proxied) -> None:
    def sign_in(local_address: str, number: int) -> int:
        with proxied.client(local_address) as client:
            wrong = {"username": f"user{number}", "password": "wrong"}
            headers = {"X-Forwarded-For": f"198.51.100.{number}", "Origin": proxied.address}
            return client.post(f"{API}/login", json=wrong, headers=headers).status_code

    assert [sign_in("127.0.0.8", number) for number in range(12)][-1] == 429
    assert sign_in("127.0.0.9", 20) == 401, "another caller is not held up"


def test_an_agent_joins_and_polls_through_it(proxied: Proxied, stored: UnitFactory, tmp_path: Path) -> None:
    with stored() as unit:
        _, admins = access.make_token(unit, "a", ["read", "admin"], datetime.now(UTC), None, actor=COMMAND_LINE)
    with proxied.client() as client:
        client.headers["Authorization"] = f"Bearer {admins}"
        token = client.post(f"{API}/agents/enrolments", json={"name": "far"}).json()["token"]
        state = ["--state-dir", str(tmp_path / "state")]
        server = ["--server", proxied.address, "--ca-file", str(proxied.authority), "--data-host", "127.0.0.1"]
        join = [str(AGENT), "join", *server, "--token", token, "--name", "far", *state]
        subprocess.run(join, check=True, capture_output=True, timeout=60)
        with running_agent(tmp_path, [str(AGENT), "run", *state]):
            assert wait_until(lambda: is_online(client), 60, step_s=0.2)


@contextmanager
def running_agent(home: Path, command: list[str]) -> Iterator[None]:
    with Supervisor(home / "agent") as supervisor:
        supervisor.start(Program("agent", command))
        yield


def is_online(client: httpx.Client) -> bool:
    (agent,) = (each for each in client.get(f"{API}/agents").json()["items"] if each["name"] == "far")
    return bool(agent["is_online"] and agent["status"] == "idle")
