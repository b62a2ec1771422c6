"""What a real server does with peers that send too much, too slowly, or wrong things on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from downlink.storage.unit import UnitFactory
from tests.fixtures.api_process import API, ApiProcess, running_api

pytestmark = pytest.mark.timeout(90)
STALLED_S = 2


@pytest.fixture
def server(units: UnitFactory, tmp_path: Path) -> Iterator[ApiProcess]:
    """An api that is impatient, so that tests need not be patient."""
    with running_api(tmp_path, units, stalled_s=STALLED_S) as process:
        yield process


def is_cut(connection: object) -> bool:
    """Whether the server ends this connection; it may answer before."""
    try:
        while connection.recv(65_536):  # type: ignore[attr-defined]
            pass
    except ConnectionError:
        pass
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
