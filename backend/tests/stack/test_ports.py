"""The port: the one that was asked for and no other, else the first that is free, also when it is lost at the last moment."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from downlink.domain.errors import UnavailableError
from downlink.stack import ports
from downlink.stack.ports import port_asked, serve_on_free_port
from downlink.stack.servers import free_port


@pytest.fixture
def default_port(monkeypatch: pytest.MonkeyPatch) -> int:
    """A default that nobody else on this machine wants."""
    monkeypatch.setattr(ports, "DEFAULT_PORT", free_port())
    return ports.DEFAULT_PORT


@pytest.fixture
def thief() -> Iterator[socket.socket]:
    """A program that takes a port."""
    with socket.socket() as other:
        yield other


def take(thief: socket.socket, port: int) -> None:
    thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    thief.bind(("127.0.0.1", port))
    thief.listen()


def test_an_option_stands_over_the_environment_and_either_over_nothing() -> None:
    assert port_asked(8500, {"DOWNLINK_PORT": "8600"}) == 8500
    assert port_asked(None, {"DOWNLINK_PORT": "8600"}) == 8600
    assert port_asked(None, {"DOWNLINK_PORT": ""}) is None
    assert port_asked(None, {}) is None


def test_without_a_wish_the_first_free_port_from_the_default_on_is_served(default_port: int) -> None:
    said: list[str] = []
    assert serve_on_free_port(None, lambda port: port, said.append) >= default_port
    assert said == []


def test_a_port_that_another_program_takes_in_between_is_left_to_it(default_port: int, thief: socket.socket) -> None:
    tried: list[int] = []

    def serve(port: int) -> int:
        tried.append(port)
        if len(tried) == 1:
            take(thief, port)
            raise UnavailableError("process_ended", "api ended by itself")
        return port

    said: list[str] = []
    served = serve_on_free_port(None, serve, said.append)
    assert tried[0] < served == tried[1]
    assert said == [f"Another program has taken port {tried[0]} meanwhile; trying the next one …"]


def test_a_port_that_was_asked_for_is_the_only_one(thief: socket.socket) -> None:
    port = free_port()
    assert serve_on_free_port(port, lambda port: port, print) == port
    take(thief, port)
    with pytest.raises(UnavailableError, match=f"port {port} is in use; name a free one with --port or DOWNLINK_PORT"):
        serve_on_free_port(port, lambda port: port, print)


def test_a_server_that_cannot_start_for_another_reason_is_not_tried_elsewhere(default_port: int) -> None:
    tried: list[int] = []

    def serve(port: int) -> int:
        tried.append(port)
        raise UnavailableError("process_ended", "the disk is full")

    with pytest.raises(UnavailableError, match="the disk is full"):
        serve_on_free_port(None, serve, print)
    assert len(tried) == 1
