"""`downlink storage`, `campaigns keep` and `campaigns remove-data`, and a link's allowance, against the API itself."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner, Result

from downlink.cli import links, retention
from downlink.cli.client import Access, Client
from downlink.domain.errors import ConflictError, DownlinkError, InvalidError, NotFoundError
from downlink.main import app
from tests.actions.test_faults import ONE
from tests.actions.test_retention import DAY_S, measured, settle
from tests.fixtures.lab import CAMPAIGN, Lab


@pytest.fixture(autouse=True)
def client(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The command line with the lab's token."""
    found = Client(Access("http://testserver", lab.token), lab.client._transport)
    for module in (retention, links):
        monkeypatch.setattr(module, "connect", lambda: found)
    return found


def invoke(*arguments: str, typed: str = "") -> Result:
    result = CliRunner().invoke(app, arguments, input=typed)
    if isinstance(result.exception, DownlinkError):
        raise result.exception
    return result


def run(*arguments: str, typed: str = "") -> Result:
    result = invoke(*arguments, typed=typed)
    assert result.exit_code == 0, result.output
    return result


def rows(result: Result) -> list[list[str]]:
    return [line.split("\t") for line in result.stdout.splitlines()][1:]


def goes(result: Result) -> list[str]:
    """When each part goes."""
    return [row[-1] for row in rows(result)]


def draft(lab: Lab) -> None:
    lab.join("client"), lab.join("server")
    lab.link()
    lab.call("POST", "/campaigns", {"campaign": {**CAMPAIGN, "name": "draft"}})


def test_what_takes_room_is_listed_and_a_little_is_not_nothing(lab: Lab) -> None:
    empty = run("storage")
    assert "nothing takes room" in empty.stderr
    measured(lab, {**ONE, "name": "one"})
    result = run("storage")
    ((name, state, traces, series, going),) = rows(result)
    assert (name, state, going) == ("one", "complete", "")
    said = json.loads(run("storage", "--json").stdout)
    assert (traces, series) == tuple(f"{said[key] / 1e3:.0f} kB" for key in ("traces_bytes", "series_bytes"))
    assert 1_000 < said["traces_bytes"] < 1_000_000
    whole = re.search(rf"Raw traces {traces}, series {series}; the database as a whole has (\d+) MB", result.stderr)
    assert whole
    assert 5 < int(whole[1]) < 500


def test_each_part_goes_with_what_takes_it_along(lab: Lab) -> None:
    draft(lab)
    keep = ("campaigns", "keep", "draft")
    assert goes(run(*keep)) == ["never by rule"] * 3
    shown = run(*keep, "--series-days", "1", "--preview")
    assert goes(shown) == ["1 day after its end"] * 2 + ["never by rule"]
    assert "Nothing was changed." in shown.stderr
    assert goes(run(*keep)) == ["never by rule"] * 3
    assert goes(run(*keep, "--traces-days", "30", "--all-days", "60")) == [
        "30 days after its end", *["60 days after its end"] * 2,
    ]  # fmt: skip
    pinned = run(*keep, "--pin")
    assert goes(pinned) == ["never by rule"] * 3
    assert "It is pinned: nothing is removed." in pinned.stderr
    kept = json.loads(run(*keep, "--no-pin", "--traces-days", "0", "--json").stdout)
    assert (kept["is_pinned"], kept["traces_days"], kept["all_days"]) == (False, None, 60)


def test_a_rule_of_an_ended_campaign_says_the_moment_and_storage_what_goes_next(lab: Lab) -> None:
    campaign = measured(lab)
    at = goes(run("campaigns", "keep", campaign, "--series-days", "30"))
    assert at[0] == at[1] != "never by rule"
    assert at[2] == "never by rule"
    assert rows(run("storage"))[0][-1] == f"series at {at[1]}"
    run("campaigns", "keep", campaign, "--pin")
    assert rows(run("storage"))[0][-1] == "nothing: pinned"
    with pytest.raises(ConflictError, match="pinned"):
        run("campaigns", "remove-data", campaign, "traces", "--yes")
    lab.wait(31 * DAY_S)
    settle(lab)
    assert [row[2] for row in rows(run("campaigns", "keep", campaign))] == ["1"] * 3


def test_data_is_removed_after_a_yes_and_what_went_is_said(lab: Lab) -> None:
    campaign = measured(lab, {**ONE, "name": "rain in May"})
    remove = ("campaigns", "remove-data", "rain in May")
    refused = invoke(*remove, "traces", typed="n\n")
    assert refused.exit_code == 1
    assert "This removes the raw traces: 1 run, " in refused.stderr
    assert rows(run("campaigns", "keep", campaign))[0][2] == "1"
    said = run(*remove, "traces", typed="y\n")
    assert said.stdout.endswith("The server removes it; `downlink campaigns keep 'rain in May'` shows how far it is.\n")
    assert "Being removed now: the raw traces." in run("campaigns", "keep", "rain in May").stderr
    assert rows(run("storage"))[0][-1] == "traces: being removed now"
    settle(lab)
    shown = run("campaigns", "keep", campaign)
    assert [row[2] for row in rows(shown)] == ["0", "1", "1"]
    assert "The raw traces of 1 run were removed from " in shown.stderr
    assert "series of" not in shown.stderr
    with pytest.raises(ConflictError, match="no raw traces any more"):
        run(*remove, "traces", "--yes")
    run(*remove, "series", "--yes")
    settle(lab)
    assert "The one-second series of 1 run were removed from " in run("campaigns", "keep", campaign).stderr
    run(*remove, "all", "--yes")
    settle(lab)
    with pytest.raises(NotFoundError):
        run("campaigns", "keep", campaign)


@pytest.mark.parametrize(
    ("words", "kind", "why"),
    [
        (("keep", "draft", "--traces-days", "30", "--series-days", "10"), InvalidError, "give it 10 at most"),
        (("keep", "nowhere"), NotFoundError, "There is no campaign 'nowhere'"),
        (("remove-data", "draft", "cookies", "--yes"), InvalidError, "type traces, series or all"),
        (("remove-data", "draft", "traces", "--yes"), ConflictError, "has not ended"),
    ],
)
def test_what_cannot_be_kept_or_removed_is_refused(
    lab: Lab, words: tuple[str, ...], kind: type[DownlinkError], why: str
) -> None:
    draft(lab)
    with pytest.raises(kind, match=why):
        run("campaigns", *words)


@pytest.mark.parametrize("days", ["-1", "3651", "soon", "1.5"])
def test_days_that_are_none_are_refused_before_anything_is_asked(days: str) -> None:
    refused = invoke("campaigns", "keep", "draft", "--traces-days", days)
    assert refused.exit_code == 2
    assert "--traces-days" in refused.stderr


def test_an_allowance_is_shown_with_what_is_left_and_taken_away(lab: Lab) -> None:
    draft(lab)
    change = ("links", "change", "geo")
    assert run(*change, "--allowance-bytes", "5000000000", "--reset-day", "15").stdout == "Link geo is changed.\n"
    (row,) = rows(run("links", "list"))
    assert row[7] == "5,000 MB"
    assert row[8].startswith("5,000 MB, until ")
    assert row[8].endswith("-15")
    run(*change, "--time-zone", "Asia/Tokyo")  # where that day begins while it is the 14th in UTC
    assert rows(run("links", "list"))[0][8].endswith("-15")
    run(*change, "--allowance-bytes", "0")
    assert rows(run("links", "list"))[0][7:9] == ["", ""]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--allowance-bytes", "-5"), "allowance_bytes"),
        (("--latitude", "nan", "--longitude", "2"), "nan and inf are no numbers"),
        (("--latitude", "inf", "--longitude", "2"), "nan and inf are no numbers"),
        (("--latitude", "1", "--longitude", "2", "--no-place"), "and not both"),
        (("--latitude", "1"), "both latitude and longitude"),
        (("--time-zone", "Mars/Olympus"), "There is no time zone Mars/Olympus"),
        (("--operator", "\udcff"), "no UTF-8"),
        ((), "Say what to change"),
    ],
)
def test_what_a_link_cannot_be_is_refused(lab: Lab, words: tuple[str, ...], why: str) -> None:
    draft(lab)
    with pytest.raises(InvalidError, match=why):
        run("links", "change", "geo", *words)
