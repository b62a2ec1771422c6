"""`expect` of a campaign file: what it becomes, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from downlink.codec.campaign_file import parse_campaign, renamed
from downlink.codec.campaign_reading import campaign_from_dict
from downlink.codec.campaign_shape import campaign_schema
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.expectation import Expectation
from tests.codec.test_campaign_reading import changed, problems

GOODPUT: dict[str, Any] = {"metric": "overall.goodput_bps", "above": 20_000_000}
PROBED = [{"name": "on", "flows": [{}, {"probe": {"every_ms": 100}}]}]


def asked(change: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return changed(**{"expect": [{**GOODPUT, **(change or {})}], **changes})


def test_it_survives_being_stored_and_read_again() -> None:
    campaign = campaign_from_dict(
        changed(
            expect=[
                {**GOODPUT, "below": 12e7, "condition": "on", "link": "geo", "flow": 1},
                {"metric": "steady.rtt_ms", "below": 700},
            ]
        )
    )
    assert campaign.expect == (
        Expectation("overall.goodput_bps", 2e7, 12e7, "on", "geo", 1),
        Expectation("steady.rtt_ms", below=700),
    )
    stored = campaign.to_dict()
    assert stored["expect"][1] == {"metric": "steady.rtt_ms", "below": 700}
    assert campaign_from_dict(stored) == Campaign.from_dict(stored) == campaign


def test_a_campaign_without_it_does_not_name_it() -> None:
    assert "expect" not in campaign_from_dict(changed()).to_dict()
    assert "expect" not in campaign_from_dict(changed(expect=[])).to_dict()


def test_it_stays_when_a_file_is_renamed() -> None:
    text = "name: a\nlinks: [geo]\nstop: {seconds: 60}\ntimetable: {cycles: 1}\nconditions: [{name: on}]\n"
    text += "expect:\n  - {metric: overall.goodput_bps, above: 2e7}\n"
    assert parse_campaign(renamed(text, "b")).expect == (Expectation("overall.goodput_bps", above=2e7),)


def test_windows_probes_and_links_have_metrics_too() -> None:
    windows = {"windows": [{"name": "lead", "from_s": 10, "to_s": 20}]}
    assert campaign_from_dict(asked({"metric": "lead.goodput_bps"}, **windows)).expect
    assert campaign_from_dict(asked({"metric": "overall.waiting_p95_bytes"})).expect
    probed = asked({"metric": "overall.probe_rtt_p95_ms", "above": 1}, conditions=PROBED)
    assert campaign_from_dict(probed).expect[0].flow is None, "of the flow that has it"
    assert campaign_from_dict(asked(conditions=PROBED)).expect
    assert campaign_from_dict(asked({"metric": "overall.jitter_ms"}, deliveries=True)).expect


def test_conditions_that_vary_makes_can_be_named() -> None:
    varied = asked({"condition": "on"}, vary={"cc": ["cubic", "reno"]})
    said = problems(varied)["expect[0].condition"]
    assert said.startswith("must be one of on, cc cubic, on, cc reno, not"), "as plans and tables name them"
    named = asked({"condition": "on, cc reno"}, vary={"cc": ["cubic", "reno"]})
    assert campaign_from_dict(named).expect[0].condition == "on, cc reno"


@pytest.mark.parametrize(
    ("data", "place", "says"),
    [
        (changed(expect=[{"metric": "overall.goodput_bps"}]), "expect[0]", "needs one of above and below, or both."),
        (asked({"below": 20_000_000}), "expect[0].below", "must be above the value of above, 20000000: no value"),
        (asked({"above": -1}), "expect[0].above", "must be a number from 0"),
        (asked({"above": "20 Mb/s"}), "expect[0].above", "must be a number from 0"),
        (asked({"metric": "goodput_bps"}), "expect[0].metric", "must be a text of the form"),
        (asked({"metric": "later.goodput_bps"}), "expect[0].metric", "must begin with one of startup, steady, overall"),
        (asked({"metric": "overall.speed"}), "expect[0].metric", "must end with one of throughput_bps, goodput_bps"),
        (asked({"metric": "overall.time_to_steady_s"}), "expect[0].metric", "not with 'time_to_steady_s'"),
        (asked({"condition": "off"}), "expect[0].condition", "must be one of on, not 'off'."),
        (asked({"link": "leo"}), "expect[0].link", "must be one of geo, not 'leo'."),
        (asked({"flow": 2}), "expect[0].flow", "on has no flow 2"),
        (asked({"flow": 2}, conditions=PROBED), "expect[0].flow", "a probe flow: choose another flow"),
        (asked({"metric": "overall.waiting_bytes", "flow": 1}), "expect[0].flow", "is of the link and of no flow"),
        (asked({"metric": "overall.jitter_ms"}), "expect[0].metric", "needs a delivery table"),
        (asked({"metric": "overall.probe_loss_percent", "above": 1}), "expect[0].metric", "of probe flows alone"),
        (asked({"metric": "overall.retransmission_percent"}), "expect[0].above", "must be below 100"),
        (changed(expect=[{"metric": "overall.rtt_ms", "below": 0}]), "expect[0].below", "is never below it"),
        (
            asked({"over": 3}),
            "expect[0].over",
            "unknown key. Allowed here: metric, above, below, condition, link, flow",
        ),
        (changed(expect=[GOODPUT] * 33), "expect", "must be a list of 0 to 32"),
    ],
)
def test_what_no_run_would_have_is_refused_at_its_place(data: dict[str, Any], place: str, says: str) -> None:
    assert says in problems(data)[place]


def test_the_schema_knows_it() -> None:
    shape = campaign_schema()["properties"]["expect"]
    assert shape["items"]["required"] == ["metric"]
    assert set(shape["items"]["properties"]) == {"metric", "above", "below", "condition", "link", "flow"}
