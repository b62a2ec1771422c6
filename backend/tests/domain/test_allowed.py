"""What the owners of hosts allow, held against a plan before anybody is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.conflict import Conflict
from downlink.domain.campaigns.plan import plan_campaign
from downlink.domain.fleet.hosts import Host
from downlink.domain.fleet.owner_limits import find_disallowed
from downlink.domain.links.link import Link, Orbit

GEO = Link("geo", Orbit.GEO, "", 80_000_000, 600.0, "client", ("server",))
NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)  # a Wednesday
BASE: dict[str, Any] = {
    "name": "x", "links": ["geo"], "stop": {"seconds": 100}, "phases": {"startup_s": 10, "steady_s": 10},
    "timetable": {"cycles": 3}, "conditions": [{"name": "on"}],
}  # fmt: skip
RUN_BYTES = 100 * 10_000_000 * 1448 // 1500
"""Payload of a run at the nominal rate."""


def judge(at: datetime = NOON, *, agent: str = "server", policy: dict[str, Any], **changes: Any) -> list[Conflict]:
    campaign = campaign_from_dict({**BASE, **changes})
    hosts = {agent: Host({"policy": {"utc_offset_s": 0, **policy}}), "other": Host({})}
    runs = plan_campaign(campaign, {"geo": GEO}, launched_at=at).runs
    return list(find_disallowed(campaign, [GEO], hosts, runs, at))


def said(found: list[Conflict]) -> list[tuple[str, bool, str]]:
    return [(each.code, each.is_blocking, each.place) for each in found]


def test_an_owner_who_bounds_nothing_and_an_agent_that_says_nothing_have_nothing_against_a_plan() -> None:
    assert judge(policy={}) == []
    campaign = campaign_from_dict(BASE)
    assert list(find_disallowed(campaign, [GEO], {"server": Host({})}, (), NOON)) == []


@pytest.mark.parametrize(("most", "codes"), [(100, []), (99.5, [("owner_seconds", True, "conditions[0].stop")])])
def test_a_run_longer_than_allowed_can_never_be(most: float, codes: list[Any]) -> None:
    assert said(judge(policy={"max_seconds": most})) == codes
    assert said(judge(policy={"max_seconds": most}, agent="client")) == codes


def test_of_a_run_by_bytes_the_deadline_counts_as_at_the_agent() -> None:
    (found,) = judge(policy={"max_seconds": 10}, stop={"bytes": 10**6})
    assert (found.code, found.is_blocking) == ("owner_seconds", True)
    assert "may last, by its deadline," in found.message


def test_bytes_that_are_asked_for_are_refused_and_bytes_that_may_come_are_a_warning() -> None:
    two = [{"name": "two", "flows": [{}, {}]}]
    assert said(judge(policy={"max_bytes": 2 * 10**6}, stop={"bytes": 10**6}, conditions=two)) == []
    asked = judge(policy={"max_bytes": 2 * 10**6 - 1}, stop={"bytes": 10**6}, conditions=two)
    assert said(asked) == [("owner_max_bytes", True, "conditions[0].stop")]
    assert "have the owner raise it in the agent's policy" in asked[0].message
    assert said(judge(policy={"max_bytes": RUN_BYTES})) == []
    assert said(judge(policy={"max_bytes": RUN_BYTES - 1})) == [("owner_max_bytes", False, "conditions[0].stop")]


def test_a_rate_is_bounded_for_those_who_send_over_tcp() -> None:
    paced = [{"name": "paced", "flows": [{"pacing_rate_bps": 4 * 10**6}, {"pacing_rate_bps": 6 * 10**6}]}]
    assert said(judge(policy={"max_rate_bps": 10**7})) == [
        ("owner_rate", True, "conditions[0].flows[0].pacing_rate_bps")
    ]
    assert judge(policy={"max_rate_bps": 10**7}, agent="client") == []
    assert judge(policy={"max_rate_bps": 10**7}, conditions=paced) == []
    assert said(judge(policy={"max_rate_bps": 10**7 - 1}, conditions=paced))[0][0] == "owner_rate"


def month(left: int, resets_on: str = "2026-12-01") -> dict[str, Any]:
    return {"month": {"limit_bytes": 10 * RUN_BYTES, "used_bytes": 10 * RUN_BYTES - left, "resets_on": resets_on}}


def test_runs_that_a_month_has_no_room_for_are_named_by_their_number() -> None:
    assert judge(policy=month(3 * RUN_BYTES)) == []
    (found,) = judge(policy=month(2 * RUN_BYTES))
    assert (found.code, found.is_blocking, found.place) == ("owner_month", False, "links")
    assert "used up in run 3 of 3" in found.message
    assert "left until 2026-12-01" in found.message


def test_a_month_that_ends_before_the_runs_counts_anew() -> None:
    daily = {"timetable": {"cycles": 3, "pause_s": 86_400}}
    assert len(judge(policy=month(RUN_BYTES, "2026-12-05"), **daily)) == 1
    assert judge(policy=month(RUN_BYTES, "2026-11-26"), **daily) == []


def test_one_run_of_more_than_a_whole_month_can_never_be() -> None:
    policy = {"month": {"limit_bytes": 10**6, "used_bytes": 0, "resets_on": "2026-12-01"}}
    found = judge(policy=policy, stop={"bytes": 2 * 10**6})
    assert ("owner_monthly_bytes", True, "conditions[0].stop") in said(found)


def test_runs_in_quiet_hours_are_counted_by_the_hosts_own_clock() -> None:
    evening = {"quiet_hours": ["weekdays 18:00-23:00"]}
    assert judge(policy=evening) == []
    (found,) = judge(policy={**evening, "utc_offset_s": 6 * 3600})
    assert (found.code, found.is_blocking, found.place) == ("owner_quiet", False, "timetable")
    assert "3 of 3 runs on server" in found.message
    assert "the first at Wed 18:00 there" in found.message


def test_a_run_that_only_its_deadline_takes_into_quiet_hours_counts() -> None:
    span_s = 100 + 30 + 20 * 0.6 + 90  # its seconds, the deadline's margin, and getting ready
    begins = datetime(2026, 11, 25, 17, 58, tzinfo=UTC)
    assert span_s > 120
    assert (
        judge(begins, policy={"quiet_hours": ["daily 18:00-23:00"]}, timetable={"cycles": 1})[0].code == "owner_quiet"
    )
    earlier = datetime(2026, 11, 25, 17, 50, tzinfo=UTC)
    assert judge(earlier, policy={"quiet_hours": ["daily 18:00-23:00"]}, timetable={"cycles": 1}) == []


@pytest.mark.parametrize(
    ("hours", "is_blocking"),
    [(["daily 00:00-24:00"], True), (["daily 00:01-24:00"], True), (["mon,tue,wed,thu,fri,sat 00:00-24:00"], False)],
)
def test_hours_that_leave_no_room_for_a_run_refuse_it(hours: list[str], is_blocking: bool) -> None:
    (found,) = judge(policy={"quiet_hours": hours})
    assert (found.code, found.is_blocking) == ("owner_quiet", is_blocking)
