"""A weather service on loopback is asked, and what it must not do is refused by name."""

from __future__ import annotations

import gzip
import threading
from ipaddress import ip_address

import pytest

from downlink.courier.weather import MOST_BYTES, fetch
from downlink.domain.errors import UnavailableError
from downlink.domain.notices.delivery import Address
from tests.fixtures.receivers import GIVE_UP_S, LOOPBACK, Answer, WebReceiver

LOCAL = [ip_address("127.0.0.1")]


def test_the_body_of_an_answer_comes_as_it_is() -> None:
    with WebReceiver([Answer(body=b'{"a": 1}')]) as service:
        assert fetch(service.url("weather.example"), LOOPBACK, lambda *_: [*LOCAL]) == b'{"a": 1}'
    (got,) = service.got
    assert (got.path, got.headers["host"]) == ("/hooks/secret-part", f"weather.example:{service.port}")
    assert (got.headers["user-agent"], got.headers["accept-encoding"]) == ("Downlink", "identity")
    assert "cookie" not in got.headers


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(500), "weather_status"),
        (Answer(404), "weather_status"),
        (Answer(204), "weather_status"),
        (Answer(size=MOST_BYTES + 65536), "weather_too_large"),
        (Answer(body=gzip.compress(b"0" * (10 << 20)), packing="gzip"), "weather_packed"),
        (Answer(stalls="head"), "weather_slow"),
        (Answer(stalls="body", body=b'{"a": 1}'), "weather_slow"),
        (Answer(stalls="drip"), "weather_slow"),
    ],
)
def test_what_is_wrong_with_an_answer_has_a_name(answer: Answer, code: str) -> None:
    with WebReceiver([answer]) as service:
        with pytest.raises(UnavailableError) as wrong:
            fetch(service.url(), LOOPBACK, longest_s=0.2 if answer.stalls else GIVE_UP_S)
        assert answer.stalls or len(service.got) == 1
    assert wrong.value.code == code
    assert "secret-part" not in wrong.value.message


def test_as_much_as_is_allowed_is_taken_whole() -> None:
    with WebReceiver([Answer(body=b"x" * MOST_BYTES)]) as service:
        assert len(fetch(service.url(), LOOPBACK)) == MOST_BYTES


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    with WebReceiver() as inside, WebReceiver([Answer(status, location=inside.url())]) as service:
        with pytest.raises(UnavailableError) as wrong:
            fetch(service.url(), LOOPBACK)
        assert inside.got == []
    assert wrong.value.code == "weather_redirected"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254", "2130706433"])
def test_a_network_that_is_not_public_is_called_where_the_admin_names_it_alone(host: str) -> None:
    with WebReceiver() as service:
        with pytest.raises(UnavailableError, match="DOWNLINK_WEATHER_ALLOW") as wrong:
            fetch(f"https://{host}:{service.port}/", [])
        assert service.got == []
    assert wrong.value.code == "weather_address_refused"


def test_nobody_there_has_a_name_of_its_own() -> None:
    with WebReceiver() as service:
        url = service.url()
    with pytest.raises(UnavailableError, match="No connection") as wrong:
        fetch(url, LOOPBACK)
    assert wrong.value.code == "weather_away"


def test_a_slow_name_has_the_same_deadline() -> None:
    is_over = threading.Event()

    def slow(*_: object) -> list[Address]:
        is_over.wait(GIVE_UP_S)
        return [*LOCAL]

    with pytest.raises(UnavailableError) as late:
        fetch("https://weather.example/", LOOPBACK, slow, longest_s=0.1)
    is_over.set()
    assert late.value.code == "weather_slow"
