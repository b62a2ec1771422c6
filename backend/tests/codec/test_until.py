"""`until` of a campaign file: what it becomes, and what it does not go with."""

from __future__ import annotations

from typing import Any

import pytest

from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.precision import Until
from downlink.domain.campaigns.timetable import Timetable
from tests.codec.test_campaign_reading import changed, problems

UNTIL = {"metric": "throughput_bps", "phase": "steady", "half_width_percent": 5, "most_cycles": 40}


def asked(until: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return changed(**{"until": {**UNTIL, **(until or {})}, "timetable": {"pause_s": 10}, **changes})


def test_it_says_how_many_cycles_there_are_at_most() -> None:
    campaign = campaign_from_dict(asked())
    assert campaign.until == Until("throughput_bps", "steady", 5, 40, flow=1)
    assert campaign.timetable == Timetable(cycles=40, pause_s=10)
    assert campaign.sides == (("geo", "on"),)
    stored = campaign.to_dict()
    assert "cycles" not in stored["timetable"], "said once"
    assert campaign_from_dict(stored) == Campaign.from_dict(stored) == campaign
    assert "until" not in campaign_from_dict(changed()).to_dict()


def test_the_clock_and_the_order_go_with_it() -> None:
    timetable = {
        "order": "shuffled",
        "seed": 3,
        "start_at": "2030-01-01 18:00 UTC",
        "opening_hours": ["daily 18:00-23:00"],
    }
    assert campaign_from_dict(asked(timetable=timetable)).timetable.hours
    assert campaign_from_dict(asked({"metric": "jitter_ms"}, deliveries=True)).until
    offered = [{"name": "on", "flows": [{"offer": {"message_bytes": 100, "every_ms": 10}}]}]
    assert campaign_from_dict(asked({"metric": "one_way_delay_ms"}, conditions=offered)).until
    window = {"windows": [{"name": "lead", "from_s": 10, "to_s": 20}]}
    assert campaign_from_dict(asked({"phase": "lead"}, **window)).until.phase == "lead"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("data", "place", "says"),
    [
        (asked(timetable={"cycles": 3}), "timetable.cycles", "leave out one of the two"),
        (
            asked(timetable={"duration_h": 2, "every_s": 60}),
            "timetable.duration_h",
            "by its numbers and not by the clock",
        ),
        (
            asked(timetable={"start_at": "2030-01-01 18:00 UTC", "repeat": {"every": "day", "until": "2030-02-01"}}),
            "timetable.repeat",
            "use opening_hours",
        ),
        (asked(trigger={"when": {"call": True}}), "until", "give timetable.cycles instead"),
        (changed(timetable={"pause_s": 10}), "timetable", "needs cycles, or duration_h with every_s."),
        (changed(timetable={"duration_h": 2}), "timetable", "needs cycles, or duration_h with every_s."),
        (asked({"metric": "speed"}), "until.metric", "must be one of throughput_bps, goodput_bps"),
        (asked({"phase": "lead"}), "until.phase", "must be one of startup, steady, overall, not 'lead'"),
        (asked({"flow": 2}), "until.flow", "on has no flow 2"),
        (asked({"half_width_percent": 0}), "until.half_width_percent", "from 0.01 to 100"),
        (asked({"most_cycles": 2}), "until.most_cycles", "from 3 to 100000"),
        (asked({"most_cycles": None}), "until.most_cycles", "is required"),
        (
            asked(conditions=[{"name": "on", "flows": [{"probe": {}}]}]),
            "until.flow",
            "a probe flow: choose another flow",
        ),
        (asked({"metric": "probe_loss_percent"}), "until.metric", "of probe flows alone"),
        (asked({"metric": "jitter_ms"}), "until.metric", "write deliveries: true, or give the flow an offer"),
        (asked({"most_cycles": 60_000}, links=["geo", "leo"]), "until.most_cycles", "makes 120000 runs"),
    ],
)
def test_what_it_does_not_go_with_is_named(data: dict[str, Any], place: str, says: str) -> None:
    found = problems(data)
    assert says in found[place]
    assert found[place].endswith(".")
