"""The event stream of a real server: it rests when nothing happens, loses nothing, and ends with the right to read it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import update

from downlink.actions.people import access
from downlink.domain.people.permission import Role
from downlink.process.settings import Settings
from downlink.stack.process import Supervisor
from downlink.stack.servers import start_postgres
from downlink.storage.migrate import upgrade
from downlink.storage.notices.events import add_event
from downlink.storage.people import access_store
from downlink.storage.tables import ApiToken
from downlink.storage.unit import Unit, UnitFactory, open_units
from tests.fixtures.api_process import API, ApiProcess, next_event, running_api
from tests.fixtures.numbered_log import number_log

EVENTS = f"{API}/events"
WATCHED_S = 3.0

pytestmark = [pytest.mark.verify("stack"), pytest.mark.timeout(60)]


def log(units: UnitFactory, count: int) -> None:
    for number in range(count):
        with units() as unit:
            add_event(unit, datetime.now(UTC), "agent", {"detail": str(number)})


@pytest.fixture(scope="module", params=[1_500, 2**32 + 1_500], ids=["past 1,000 events", "past 2^32 events"])
def old_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[UnitFactory]:
    """Units on a server whose log began before place 1,000."""
    home = tmp_path_factory.mktemp("old")
    with Supervisor(home / "servers") as supervisor:
        url = start_postgres(supervisor, home / "postgres")
        upgrade(Settings(database_url=SecretStr(url)))
        units = open_units(url, 4)
        number_log(units, 960)
        log(units, 300)
        number_log(units, request.param)
        yield units
        units.close()


@pytest.fixture(scope="module")
def api(old_server: UnitFactory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiProcess]:
    with running_api(tmp_path_factory.mktemp("live"), old_server) as process:
        yield process


def heard(api: ApiProcess, meanwhile: Callable[[], None] = lambda: None, **headers: str) -> list[str]:
    """What a stream says, from its hello on, until it rests for a while or ends. `meanwhile`: done after the hello."""
    timeout = httpx.Timeout(30, read=WATCHED_S)
    found: list[str] = []
    with api.client.stream("GET", EVENTS, headers=headers, timeout=timeout) as stream:
        lines = stream.iter_lines()
        with contextlib.suppress(httpx.ReadTimeout):
            while len(found) < 20:
                found.append(next_event(lines)["event"])
                if len(found) == 1:
                    meanwhile()
    return found


def test_a_stream_rests_when_nothing_happens(api: ApiProcess) -> None:
    assert heard(api) == ["hello"]


def test_a_stream_says_each_event_once(api: ApiProcess, old_server: UnitFactory) -> None:
    assert heard(api, lambda: log(old_server, 3)) == ["hello", "agent", "agent", "agent"]


def test_a_reader_who_is_far_behind_is_told_once_to_fetch_anew(api: ApiProcess) -> None:
    assert heard(api, **{"Last-Event-ID": "900.1"}) == ["hello", "refetch"]


def test_a_reader_from_the_future_of_a_restored_database_is_told_to_fetch_anew(
    api: ApiProcess, old_server: UnitFactory
) -> None:
    ahead = {"Last-Event-ID": f"{10**17}.5"}
    assert heard(api, lambda: log(old_server, 2), **ahead) == ["hello", "refetch", "agent", "agent"]


@pytest.fixture
def own_api(units: UnitFactory, tmp_path: Path) -> Iterator[ApiProcess]:
    with running_api(tmp_path, units) as process:
        yield process


def revoke(unit: Unit, _now: datetime) -> None:
    for token in access_store.list_tokens(unit, None):
        access_store.delete_token(unit, token.id, None)


def expire(unit: Unit, now: datetime) -> None:
    unit.session.execute(update(ApiToken).values(expires_at=now))


@pytest.mark.parametrize("end", [revoke, expire])
def test_a_stream_ends_with_its_token(
    own_api: ApiProcess, units: UnitFactory, end: Callable[[Unit, datetime], None]
) -> None:
    with own_api.client.stream("GET", EVENTS) as stream:
        lines = stream.iter_lines()
        next_event(lines)
        with units() as unit:
            end(unit, datetime.now(UTC))
        with pytest.raises(EOFError):
            next_event(lines)


def test_a_stream_ends_with_its_session(own_api: ApiProcess, units: UnitFactory) -> None:
    now = datetime.now(UTC)
    with units() as unit:
        access_store.add_user(unit, "ada", "no hash", Role.ADMIN, now)
        _, secret = access.open_session(unit, "ada", now, 1, "127.0.0.1", "a browser")
    browser = {"Authorization": "", "Cookie": f"downlink={secret}"}
    with own_api.client.stream("GET", EVENTS, headers=browser) as stream:
        lines = stream.iter_lines()
        next_event(lines)
        with units() as unit:
            access.end_session(unit, secret)
        with pytest.raises(EOFError):
            next_event(lines)


def test_streams_of_one_caller_are_limited_and_closed_ones_make_room(own_api: ApiProcess) -> None:
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(own_api.client.stream("GET", EVENTS)) for _ in range(32)]
        assert {each.status_code for each in opened} == {200}
        refused = own_api.client.get(EVENTS)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_open")
        assert own_api.client.get(f"{API}/session").status_code == 200
    assert heard(own_api) == ["hello"]
