from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.campaign import Campaign, Limits, StopRule
from downlink.domain.campaigns.conflict import Booking, Conflict
from downlink.domain.campaigns.placing import agents_of
from downlink.domain.campaigns.plan import Plan, plan_campaign
from downlink.domain.campaigns.run_size import run_duration_s
from downlink.domain.campaigns.timetable import ConditionOrder, Timetable
from downlink.domain.fleet.control import ControlOption, HostControls
from downlink.domain.links.link import Link, Orbit

AGENTS = ("geo-client", "geo-server", "geo-other")


def make_link(name: str = "geo", **changes: Any) -> Link:
    base = Link(name, Orbit.GEO, "Viasat", 144_000_000, 597.0, f"{name}-client", (f"{name}-server", f"{name}-other"))
    return replace(base, **changes)


def make_campaign(size: int = 2, links: tuple[str, ...] = ("geo",), **changes: Any) -> Campaign:
    named = [{"name": f"c{index}"} for index in range(size)]
    data = {"name": "x", "links": list(links), "stop": {"seconds": 60}, "timetable": {"cycles": 3}, "conditions": named}
    return campaign_from_dict({**data, **changes})


def plan(campaign: Campaign, *links: Link, **others: Any) -> Plan:
    return plan_campaign(campaign, {link.name: link for link in links or (make_link(),)}, **others)


def codes(found: Plan) -> list[str]:
    return [conflict.code for conflict in found.conflicts]


def test_interleaved_conditions_alternate_in_the_order_of_the_file() -> None:
    runs = plan(make_campaign()).runs
    assert [(run.condition, run.cycle, run.position) for run in runs] == [
        ("c0", 1, 1), ("c1", 1, 2), ("c0", 2, 1), ("c1", 2, 2), ("c0", 3, 1), ("c1", 3, 2),
    ]  # fmt: skip


def test_a_day_of_runs_every_6_min_45_s_is_213_runs() -> None:
    runs = plan(make_campaign(timetable={"duration_h": 24, "every_s": 405})).runs
    assert len(runs) == 213
    assert [run.due_s for run in runs[:3]] == [0, 405, 810]
    assert runs[-1].due_s + 405 <= 24 * 3600


def test_the_pause_lies_between_cycles_only() -> None:
    campaign = make_campaign(timetable={"cycles": 2, "pause_s": 100})
    length_s = run_duration_s(campaign.conditions[0], make_link())
    first, second, third, _ = (run.due_s for run in plan(campaign).runs)
    assert (second - first, third - second) == pytest.approx((length_s, length_s + 100))


def test_a_run_by_bytes_takes_at_least_its_bytes_at_the_nominal_rate() -> None:
    condition = replace(make_campaign().conditions[0], stop=StopRule(bytes=1_000_000_000))
    assert 1e9 * 8 / 144e6 < run_duration_s(condition, make_link()) < 100


def test_the_estimate_is_the_full_link_for_the_whole_time() -> None:
    found = plan(make_campaign())
    assert found.estimate.runs == 6
    assert found.estimate.bytes == 6 * 60 * 144_000_000 // 8
    assert found.estimate.duration_s == pytest.approx(sum(run.duration_s for run in found.runs))


def test_a_missing_link_or_sender_stands_in_the_way_of_a_launch() -> None:
    two_senders = [{"name": "a", "flows": [{"sender": 1}, {"sender": 2}]}]
    alone = make_link(senders=("geo-server",))
    assert codes(plan(make_campaign(links=("nowhere",)))) == ["unknown_link"]
    found = plan(make_campaign(), alone)
    assert found.is_launchable
    refused = plan(make_campaign(conditions=two_senders), alone)
    assert codes(refused) == ["unknown_sender"]
    assert not refused.is_launchable
    assert not refused.runs


def test_runs_longer_than_their_spacing_cannot_be_launched() -> None:
    found = plan(make_campaign(timetable={"duration_h": 1, "every_s": 60}))
    assert codes(found) == ["run_longer_than_spacing"]
    assert not found.is_launchable


@pytest.mark.parametrize(
    ("phases", "expected"),
    [({"startup_s": 15, "steady_s": 45}, []), ({"startup_s": 15, "steady_s": 45.5}, ["phases_overlap"]), ({}, [])],
)
def test_a_steady_phase_that_covers_start_up_cannot_be_launched(phases: dict[str, float], expected: list[str]) -> None:
    found = plan(make_campaign(phases=phases))
    assert codes(found) == expected
    assert found.is_launchable is (expected == [])
    assert all("60 s" in conflict.message and "HyStart" not in conflict.message for conflict in found.conflicts)


def test_an_agent_that_can_take_no_run_stands_in_the_way_unless_the_launcher_says_otherwise() -> None:
    away = {name: Conflict("agent_offline", f"{name} is offline.", True, is_waivable=True) for name in AGENTS}
    found = plan(make_campaign(), absent=away)
    assert [conflict.message for conflict in found.conflicts] == ["geo-client is offline.", "geo-server is offline."]
    assert not found.is_launchable
    assert not found.blocking(even_if_offline=True)
    missing = plan(make_campaign(), absent={"geo-server": Conflict("agent_missing", "geo-server must join.", True)})
    assert missing.blocking(even_if_offline=True)


def test_an_agent_that_no_condition_uses_may_be_away() -> None:
    away = {"geo-other": Conflict("agent_offline", "geo-other is offline.", True, is_waivable=True)}
    assert plan(make_campaign(), absent=away).is_launchable


def test_volumes_are_held_against_allowance_and_limit() -> None:
    found = plan(make_campaign(limits={"bytes": 10**9}), make_link(allowance_bytes=10**9))
    assert codes(found) == ["allowance_exceeded", "limit_exceeded"]
    assert found.is_launchable
    assert not codes(plan(make_campaign(limits={"bytes": 10**10}), make_link(allowance_bytes=10**10)))


def booking(**changes: Any) -> Booking:
    base = Booking("Other study", "leo", frozenset({"leo-client", "leo-server"}), False, 0.0, 50.0)
    return replace(base, **changes)


@pytest.mark.parametrize(
    ("other", "hosts", "expected"),
    [
        (booking(), {}, []),
        (booking(link="geo"), {}, ["link_booked"]),
        (booking(agents=frozenset({"geo-server"})), {}, ["agent_booked"]),
        (booking(agents=frozenset({"geo-other"})), {}, []),
        (booking(), {"geo-server": "boot", "leo-server": "boot"}, []),
        (booking(is_host_wide=True), {"geo-server": "boot", "leo-server": "boot"}, ["host_booked"]),
        (booking(link="geo", start_s=1000.0, end_s=2000.0), {}, []),
        (booking(link="geo", start_s=-50.0, end_s=0.0), {}, []),
    ],
)
def test_time_that_others_hold_makes_runs_wait(other: Booking, hosts: dict[str, str], expected: list[str]) -> None:
    found = plan(make_campaign(), bookings=[other], hosts=hosts)
    assert codes(found) == expected
    assert found.is_launchable


def test_links_that_share_an_agent_take_turns_and_others_do_not_wait() -> None:
    campaign = make_campaign(links=("geo", "leo"))
    apart = plan(campaign, make_link("geo"), make_link("leo"))
    shared = plan(campaign, make_link("geo"), make_link("leo", senders=("geo-server",)))
    assert [run.due_s for run in apart.runs[:2]] == [0, 0]
    assert shared.runs[1].due_s == shared.runs[0].duration_s
    assert not codes(shared)


def test_evenly_spaced_links_that_share_an_agent_start_apart() -> None:
    timetable = {"duration_h": 1, "every_s": 300}
    shared = (make_link("geo"), make_link("leo", senders=("geo-server",)))
    found = plan(make_campaign(links=("geo", "leo"), timetable=timetable), *shared)
    assert [(run.link, run.due_s) for run in found.runs[:3]] == [("geo", 0), ("leo", 150), ("geo", 300)]
    assert not codes(found)
    assert codes(plan(make_campaign(links=("geo", "leo"), timetable={"duration_h": 1, "every_s": 100}), *shared)) == [
        "agent_booked"
    ]


campaigns = st.builds(
    make_campaign,
    size=st.integers(1, 6),
    links=st.lists(st.sampled_from(["geo", "leo", "meo"]), min_size=1, unique=True).map(tuple),
    timetable=st.fixed_dictionaries(
        {
            "cycles": st.integers(1, 5),
            "pause_s": st.integers(0, 500),
            "order": st.sampled_from(["interleaved", "shuffled"]),
            "seed": st.integers(0, 99),
        }
    ),
)
LINKS = (make_link("geo"), make_link("leo", senders=("geo-server",)), make_link("meo"))


@given(campaigns)
def test_each_condition_stands_once_in_each_cycle(campaign: Campaign) -> None:
    counts = Counter((run.link, run.cycle, run.condition) for run in plan(campaign, *LINKS).runs)
    assert set(counts.values()) == {1}
    assert len(counts) == len(campaign.links) * (campaign.timetable.cycles or 0) * len(campaign.conditions)


@given(campaigns)
def test_no_two_runs_of_a_link_overlap(campaign: Campaign) -> None:
    by_link = defaultdict(list)
    for run in plan(campaign, *LINKS).runs:
        by_link[run.link].append(run)
    for runs in by_link.values():
        for earlier, later in pairwise(runs):
            assert earlier.due_s + earlier.duration_s <= later.due_s + 1e-6


@given(campaigns)
def test_what_takes_turns_has_no_conflicts_of_its_own(campaign: Campaign) -> None:
    assert not codes(plan(campaign, *LINKS))


@given(campaigns)
def test_the_same_campaign_makes_the_same_plan(campaign: Campaign) -> None:
    assert plan(campaign, *LINKS) == plan(campaign_from_dict(campaign.to_dict()), *LINKS)


def test_shuffled_cycles_differ_from_each_other_and_between_seeds() -> None:
    def orders(seed: int, links: tuple[str, ...] = ("geo",)) -> list[list[str]]:
        table = Timetable(cycles=4, order=ConditionOrder.SHUFFLED, seed=seed)
        runs = plan(replace(make_campaign(6, links), timetable=table), *LINKS).runs
        return [[run.condition for run in runs if run.link == "geo" and run.cycle == n] for n in range(1, 5)]

    assert len({tuple(order) for order in orders(1)}) > 1
    assert orders(1) != orders(2)
    assert orders(1) == orders(1, ("geo", "leo")), "another link does not change a link's order"


def test_limits_have_no_default_volume() -> None:
    assert make_campaign().limits == Limits()


def test_a_control_that_a_sender_cannot_run_so_stands_in_the_way_once() -> None:
    asked = [{"name": name, "flows": [{"cc": "dl_hybla", "options": {"rtt0_ms": 0}}]} for name in ("first", "second")]
    controls = {"geo-server": HostControls({}, {"dl_hybla": {"rtt0_ms": ControlOption((), 1, 10_000)}})}
    refused = plan(make_campaign(conditions=asked), controls=controls)
    (conflict,) = refused.conflicts
    assert (conflict.code, conflict.is_blocking) == ("control_unfit", True)
    assert conflict.message.startswith("first, on geo-server: rtt0_ms of dl_hybla must be")
    assert not refused.is_launchable
    assert plan(make_campaign(conditions=asked)).is_launchable, "an agent that says nothing is not judged"


def test_a_missing_receiver_stands_in_the_way_of_a_launch() -> None:
    campaign = make_campaign(conditions=[{"name": "a", "flows": [{}, {"receiver": 3}]}])
    refused = plan(campaign, make_link(further_receivers=("geo-second",)))
    assert codes(refused) == ["unknown_receiver"]
    assert not refused.is_launchable
    assert "Receiver 3 is asked for, but link geo has 2" in refused.conflicts[0].message
    found = plan(campaign, make_link(further_receivers=("geo-second", "geo-third")))
    assert found.is_launchable


def test_receivers_of_a_condition_take_part_and_others_do_not() -> None:
    (condition,) = make_campaign(conditions=[{"name": "a", "flows": [{}, {"receiver": 3}]}]).conditions
    link = make_link(further_receivers=("geo-second", "geo-third"))
    assert agents_of(link, condition) == ("geo-client", "geo-third", "geo-server")
