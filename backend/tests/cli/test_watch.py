"""What following a campaign says, and when it counts as complete."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

import httpx
import pytest
import typer

from downlink.cli import quick, watch
from downlink.cli.client import Access, Client
from downlink.cli.output import duration


def make_run(**changes: Any) -> dict[str, Any]:
    run = {"id": "r1", "cycle": 1, "condition": "HyStart on", "attempt": 1, "state": "planned", "live": None}
    return {**run, "throughput_bps": None, "reason": None, "detail": None, **changes}


def make_campaign(state: str, complete: int, **counts: int) -> dict[str, Any]:
    total = 2
    return {
        "name": "Demo",
        "state": state,
        "runs_total": total,
        "runs_ended": complete,
        "counts": {"planned": total - complete, "complete": complete, "failed": 0, **counts},
    }


@pytest.mark.parametrize(
    ("run", "line"),
    [
        (
            make_run(state="running", live={"elapsed_s": 4.0, "bytes": 50_000_000}),
            "cycle 1, HyStart on: 4 s, 100.0 Mb/s",
        ),
        (make_run(state="running", live={"elapsed_s": 0.0, "bytes": 0}), "cycle 1, HyStart on: running"),
        (make_run(state="complete", throughput_bps=98.76e6), "cycle 1, HyStart on: complete, 98.8 Mb/s"),
        (make_run(state="complete"), "cycle 1, HyStart on: complete, being analysed"),
        (
            make_run(state="failed", attempt=2, reason="link_lost", detail="No data for 30 s."),
            "cycle 1, HyStart on, attempt 2: failed (link_lost): No data for 30 s.",
        ),
    ],
)
def test_a_run_is_told_in_one_line(run: dict[str, Any], line: str) -> None:
    assert watch.describe(run) == line


def test_a_failed_attempt_made_good_does_not_count_against_the_campaign() -> None:
    assert watch.all_complete(make_campaign("complete", 2, failed=1))
    assert not watch.all_complete(make_campaign("complete", 1, failed=1))
    assert not watch.all_complete(make_campaign("cancelled", 2))


class Server:
    """Plays a campaign's life one look at a time; None is a moment of absence."""

    def __init__(self, *looks: tuple[dict[str, Any], list[dict[str, Any]]] | None) -> None:
        self.looks = list(looks)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.looks[0] is None:
            self.looks.pop(0)
            raise httpx.ConnectError("restarting", request=request)
        campaign, runs = self.looks[0]
        if request.url.path.endswith("/runs"):
            self.looks.pop(0)
            return httpx.Response(200, json={"items": runs, "total": len(runs)})
        return httpx.Response(200, json=campaign)


def test_following_tells_each_change_once_and_outlives_a_restart(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(watch, "PERIOD_S", 0)
    running = make_run(state="running")
    server = Server(
        (make_campaign("running", 0), [make_run()]),
        (make_campaign("running", 0), [running]),
        None,
        (make_campaign("running", 0), [running]),
        (make_campaign("complete", 2), [make_run(state="complete", throughput_bps=5e6)]),
    )
    client = Client(Access("http://server:1", "dlk_x"), httpx.MockTransport(server))
    assert watch.all_complete(watch.follow(client, "c1", is_plain=True))
    assert capsys.readouterr().out.splitlines() == [
        "cycle 1, HyStart on: running",
        "cycle 1, HyStart on: complete, 5.0 Mb/s",
        "Demo: 2 of 2 runs complete",
    ]


@pytest.mark.parametrize(("state", "status"), [("complete", 0), ("failed", 1)])
def test_a_quick_test_is_followed_to_its_end_and_says_where_its_page_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], state: str, status: int
) -> None:
    monkeypatch.setattr(watch, "PERIOD_S", 0)
    runs = [make_run(state="running"), make_run(state="running"), make_run(state=state, throughput_bps=5e6)]

    def answer(request: httpx.Request) -> httpx.Response:
        place = (request.method, request.url.path.removeprefix("/api/v1"))
        if place == ("GET", "/links"):
            return httpx.Response(200, json={"items": [{"id": "k1", "name": "geo"}], "total": 1})
        if place == ("POST", "/links/k1/quick-test"):
            assert json.loads(request.content) == {"sender": 2}
            return httpx.Response(201, json={"campaign_id": "c1", "run_id": "r1"})
        assert place == ("GET", "/runs/r1")
        return httpx.Response(200, json=runs.pop(0))

    client = Client(Access("http://server:1/", "dlk_x"), httpx.MockTransport(answer))
    monkeypatch.setattr(quick, "connect", lambda: client)
    with pytest.raises(typer.Exit) if status else nullcontext() as ended:
        quick.quick_command("geo", sender=2)
    assert (ended.value.exit_code if ended else 0) == status
    said = capsys.readouterr()
    assert said.err.splitlines() == ["cycle 1, HyStart on: running"]
    assert said.out.splitlines()[-1] == "Its page: http://server:1/runs/r1"


@pytest.mark.parametrize(
    ("seconds", "text"), [(35, "35 s"), (250, "4 min 10 s"), (7500, "2 h 05 min"), (59.6, "1 min 00 s")]
)
def test_durations_read_naturally(seconds: float, text: str) -> None:
    assert duration(seconds) == text
