"""`campaigns sweep`: what is asked, how it is followed, and the table at the end."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from downlink.cli import sweeps
from downlink.cli.client import Access, Client
from downlink.domain.errors import ConflictError, InvalidError


def share(value: float) -> dict[str, float]:
    return {"value": value, "low": value / 2, "high": value, "n": 4}


CELL = {
    "parameters": {"window_factor": 2.5, "bins": 10.0}, "n": 4, "headroom_s": 1.234,
    "shares": {"early": share(0.25), "good": share(0.75), "late": share(0.0), "open": share(0.0)},
}  # fmt: skip
SILENT = {**CELL, "n": 0, "shares": None, "headroom_s": None}
ASKED: dict[str, Any] = {
    "id": "s1", "state": "queued", "done": 0, "total": 4, "reason": None, "cells": None,
    "grid": {"window_factor": [2.5], "bins": [10]},
}  # fmt: skip


def client_of(*answers: dict[str, Any]) -> Client:
    """A server whose sweep is further each time it is asked."""
    left = list(answers)

    def serve(request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/api/v1/sweeps/s1"
        return httpx.Response(200, json=left.pop(0))

    return Client(Access("http://server:1", "dlk_secret"), httpx.MockTransport(serve))


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "PERIOD_S", 0)


def test_a_grid_is_read_from_options() -> None:
    assert sweeps.read_grid(["window_factor=2.5,3.5", "bins=10"]) == {"window_factor": [2.5, 3.5], "bins": [10]}


@pytest.mark.parametrize("said", [["bins"], ["bins=ten"], ["bins=10,"], ["bins=1", "bins=2"]])
def test_what_is_no_grid_says_how_one_looks(said: list[str]) -> None:
    with pytest.raises(InvalidError, match=r"window_factor=2\.5,3\.5"):
        sweeps.read_grid(said)


def test_a_sweep_is_followed_to_its_end() -> None:
    complete = {**ASKED, "state": "complete", "done": 4, "cells": [CELL]}
    client = client_of({**ASKED, "state": "running", "done": 1}, complete)
    assert sweeps.follow_sweep(client, ASKED) == complete


def test_a_failed_sweep_says_why() -> None:
    client = client_of({**ASKED, "state": "failed", "reason": "Flow 1 of run r cannot be swept."})
    with pytest.raises(ConflictError, match="Flow 1 of run r"):
        sweeps.follow_sweep(client, ASKED)


def test_cells_are_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    sweeps.print_cells({**ASKED, "state": "complete", "cells": [CELL, SILENT]})
    header, line, silent = capsys.readouterr().out.splitlines()
    assert header.split("\t") == [
        "bins", "window_factor", "traces", "early", "good", "late", "open", "headroom",
    ]  # fmt: skip
    assert line.split("\t") == ["10", "2.5", "4", "25 % (12-25)", "75 % (38-75)", "0 % (0-0)", "0 % (0-0)", "1.23 s"]
    assert silent.split("\t") == ["10", "2.5", "0", "", "", "", "", ""]
