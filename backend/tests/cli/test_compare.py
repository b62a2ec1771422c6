"""`downlink compare` against the API itself: how sides are named, and what is printed of them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from downlink.actions.campaigns.archive_read import load_archive
from downlink.cli import compare
from downlink.cli.client import Access, Client
from downlink.domain.errors import InvalidError, NotFoundError
from tests.fixtures.lab import Lab
from tests.fixtures.recorded import ARCHIVE


@pytest.fixture
def client(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Client:
    found = Client(Access("http://testserver", lab.token), lab.client._transport)
    monkeypatch.setattr(compare, "connect", lambda: found)
    return found


def find(client: Client, wanted: str) -> str:
    return compare.find_side(client, client.items("/campaigns"), wanted)


def test_conditions_of_a_campaign_are_printed_with_their_differences(
    lab: Lab, client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with lab.units() as unit:
        identity, _ = load_archive(unit, ARCHIVE.read_bytes())
    whole = {"phase": "steady", "metric": "throughput_bps"}
    sides = [f"{str(identity)[:8]}/HyStart on", f"{identity}/HyStart off/geo-viasat/1"]
    compare.compare_command(sides, baseline=sides[1], **whole)
    printed = capsys.readouterr()
    # A request that a busy machine answers late is logged here, too, before the table.
    title, heads, on, off = printed.out.splitlines()[-4:]
    assert title == "Throughput, steady"
    assert heads.split("\t")[-4:] == ["n", "mean, Mb/s", "difference, Mb/s", "times"]
    sides_asked = [f"{identity}/1/geo-viasat/{name}" for name in ("HyStart on", "HyStart off")]
    found = client.get("/comparison", side=sides_asked, baseline=sides_asked[1], **whole)
    (throughput,) = [each for each in found["compared"] if each["metric"] == "throughput_bps"]
    own = throughput["differences"][0]
    assert on.split("\t")[-2] == compare.estimate_text(own, 1e-6)
    assert (off.split("\t")[1], off.split("\t")[-2:]) == ("HyStart off", ["baseline", ""])
    assert "Sender: tcp_cubic.hystart: 1 | 0" in printed.err
    assert "share no cycles" in printed.err
    file = tmp_path / "comparison.csv"
    compare.compare_command(sides, csv=file)
    with file.open() as lines:
        read = list(csv.DictReader(lines))
    assert {each["condition"] for each in read} == {"HyStart on", "HyStart off"}
    assert {each["phase"] for each in read} == {"startup", "steady", "overall"}
    with pytest.raises(InvalidError, match=r"there are: .*throughput_bps"):
        compare.compare_command(sides, phase="steady", metric="happiness")


def test_a_name_that_fits_several_is_asked_back(lab: Lab, client: Client) -> None:
    for agent in ("client", "server", "second"):
        lab.join(agent)
    lab.link(senders=("server", "second"))
    flows: list[dict[str, Any]] = [{"cc": "cubic"}, {"cc": "bbr", "sender": 2}]
    conditions = [{"name": "on/off", "flows": flows}, {"name": "alone"}]
    made = lab.call("POST", "/campaigns", {"campaign": {**CAMPAIGN, "conditions": conditions}})["id"]
    assert find(client, f"{made}/alone") == f"{made}/1/geo/alone"
    assert find(client, f"{made}/on/off/geo/2") == f"{made}/2/geo/on/off"
    with pytest.raises(InvalidError, match=f"{made}/on/off/geo/1, {made}/on/off/geo/2"):
        find(client, f"{made}/on/off")
    with pytest.raises(NotFoundError, match=r"none of the campaign's conditions: .*alone/geo/1"):
        find(client, f"{made}/moon")


CAMPAIGN: dict[str, Any] = {
    "name": "study", "links": ["geo"], "stop": {"seconds": 35}, "timetable": {"cycles": 1},
}  # fmt: skip
