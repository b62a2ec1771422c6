"""Two campaigns on one link take turns by weight; the preview says so before."""

from __future__ import annotations

import itertools

import pytest
from sqlalchemy import text

from downlink.domain.runs.run import FINAL
from tests.fixtures.fleet import SHORT
from tests.fixtures.lab import CAMPAIGN, Lab

pytestmark = pytest.mark.sampled("faults")

ONE = {**SHORT, "conditions": [{"name": "plain"}]}


def begun(lab: Lab) -> list[str]:
    """The campaigns of all runs, in the order in which they began."""
    with lab.units() as unit:
        return list(
            unit.session.scalars(
                text("SELECT campaign_id::text FROM runs WHERE start_at IS NOT NULL ORDER BY start_at")
            )
        )


def test_a_campaign_of_twice_the_weight_runs_twice_as_often(lab: Lab) -> None:
    agents = [lab.join("client"), lab.join("server")]
    lab.link()
    heavy = lab.launch(**ONE, name="heavy", weight=2, timetable={"cycles": 6})
    shared = lab.call("POST", "/campaigns/preview", {"campaign": {**CAMPAIGN, **ONE, "name": "light"}})
    assert shared["campaign"]["weight"] == 1
    assert shared["sharing"] == [{"link": "geo", "share": 1 / 3, "others": [{"name": "heavy", "weight": 2}]}]
    light = lab.launch(**ONE, name="light", timetable={"cycles": 3})
    for _ in range(200):
        lab.turn(agents)
        if all(run["state"] in FINAL for campaign in (heavy, light) for run in lab.runs(campaign)):
            break
    order = begun(lab)
    assert len(order) == 9
    for count in range(1, 10):
        assert abs(order[:count].count(heavy) / 2 - order[:count].count(light)) <= 1.5, order
    assert max(len(list(group)) for name, group in itertools.groupby(order) if name == light) == 1
