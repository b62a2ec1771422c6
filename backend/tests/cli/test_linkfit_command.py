"""`downlink links fit` over a server's answers: which runs it takes, what it says of the others, and what it writes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from downlink.cli import linkfit
from downlink.cli.client import Access, Client
from downlink.codec.parquet import columns_to_parquet
from downlink.domain.errors import InvalidError
from downlink.main import app

ANSWERS = Path(__file__).parents[1] / "answers"
SENT_US = np.arange(400) * 73_000


def probe_run(run: str, **changes: Any) -> dict[str, Any]:
    """A run as a real server described it, with a probe flow in place of its TCP flow."""
    found: dict[str, Any] = json.loads((ANSWERS / "acks-run-1.json").read_text())["body"]
    flow = {**found["flows"][0], "asked_cc": "probe", "actual_cc": "probe", "sampling": "polled"}
    return {**found, "id": run, "link": "dish", "flows": [flow], **changes}


def polled_run(run: str) -> dict[str, Any]:
    found = probe_run(run)
    return {**found, "flows": [{**found["flows"][0], "asked_cc": "cubic", "actual_cc": "cubic"}]}


def serve(*runs: dict[str, Any]) -> Client:
    """Answers these runs; every trace is that of probes which take 600 to 600.2 ms."""
    rtt_us = 600_000 + SENT_US // 1000 % 7 * 30
    number = np.arange(1, len(SENT_US) + 1)
    sender = columns_to_parquet({"elapsed_us": SENT_US, "probe_number": number, "probe_rtt_us": rtt_us})
    receiver = columns_to_parquet({"elapsed_us": SENT_US + 300_000, "probe_number": number})
    link = {"name": "dish", "orbit": "GEO", "nominal_rate_bps": 20_000_000}

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api/v1")
        if path.endswith(".parquet"):
            return httpx.Response(200, content=sender if "sender" in path else receiver)
        if path == "/links":
            return httpx.Response(200, json={"items": [link], "total": 1})
        return httpx.Response(200, json=next(run for run in runs if path == f"/runs/{run['id']}"))

    return Client(Access("http://server:1", "dlk_secret"), httpx.MockTransport(answer))


def test_a_profile_is_written_of_idle_runs_and_says_what_it_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linkfit, "connect", lambda: serve(probe_run("a"), probe_run("b"), polled_run("c")))
    monkeypatch.setattr(linkfit, "find_agent", lambda: None)
    file = tmp_path / "my-dish.yaml"
    done = CliRunner().invoke(app, ["links", "fit", "a", "b", "c", "--into", str(file)], catch_exceptions=False)
    assert done.exit_code == 0
    assert (
        "Run c, flow 1 takes no part: it was sampled now and then, and not at each ACK (`sampling: per_ack`)."
        in done.output
    )
    assert "Losses on the way down: none among 800 idle probes" in done.output
    assert "No downlink-agent is found on this machine" in done.output
    profile = yaml.safe_load(file.read_text())
    assert (profile["name"], profile["orbit"]) == ("my-dish", "GEO")
    assert profile["down"]["rate"] == {"constant_bps": 20_000_000}
    assert profile["down"]["delay"]["base_ms"] + profile["up"]["delay"]["base_ms"] == pytest.approx(600)
    (target,) = profile["facts"]["targets"]
    assert (target["statistic"], target["value"], target["use"]) == ("idle_rtt_least_ms", pytest.approx(600), "fit")
    assert target["low"] < 600 < target["high"]
    assert "# not measured: the link's nominal rate" in file.read_text()
    assert "# run a\n# run b\nname" in file.read_text()


@pytest.mark.parametrize(
    ("runs", "code", "sentence"),
    [
        ((polled_run("a"),), "runs_unfit", "A fit needs runs with probe flows alone"),
        ((probe_run("a", state="failed", reason="link_lost"),), "runs_unfit", "the run is failed (link_lost)"),
        ((probe_run("a"), probe_run("b", link="other")), "several_links", "a profile is of one link"),
    ],
)
def test_runs_of_the_wrong_kind_are_refused_in_a_sentence(
    runs: tuple[dict[str, Any], ...], code: str, sentence: str
) -> None:
    with pytest.raises(InvalidError, match=re.escape(sentence)) as caught:
        linkfit.gather(serve(*runs), [run["id"] for run in runs])
    assert caught.value.code == code


def test_probes_beside_data_and_flows_beside_each_other_take_no_part() -> None:
    run = probe_run("a")
    probe, data = run["flows"][0], polled_run("a")["flows"][0]
    mixed = {
        **run,
        "flows": [probe, {**data, "flow": 2, "sampling": "per_ack"}, {**data, "flow": 3, "sampling": "per_ack"}],
    }
    with pytest.raises(InvalidError, match=r"data went over the link beside its probes.*2 TCP flows shared the link"):
        linkfit.gather(serve(mixed), ["a"])


def test_a_file_whose_name_makes_no_profile_is_refused(tmp_path: Path) -> None:
    for name in ("My Dish.yaml", "dish.txt"):
        done = CliRunner().invoke(app, ["links", "fit", "a", "--into", str(tmp_path / name)])
        assert isinstance(done.exception, InvalidError)
