"""Every bound of the domain on both sides: what a campaign file may hold, how long a run is waited for, what a link needs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.campaign import LEAST_PHASE_S
from downlink.domain.campaigns.conflict import Booking, find_overlaps
from downlink.domain.campaigns.plan import plan_campaign
from downlink.domain.campaigns.run_size import run_duration_s
from downlink.domain.errors import InvalidError
from downlink.domain.fleet.agent import (
    AgentReport,
    AgentStatus,
    Assignment,
    is_free,
    is_online,
    is_present,
    phase_after_restart,
)
from downlink.domain.links.link import Link, Orbit
from downlink.domain.runs.next_step import Condemn, Move, Wait, decide, start_margin, upload_limit_s
from downlink.domain.runs.run import HostPhase, HostView, RunState, RunView, may_follow, transfer_deadline_s
from downlink.domain.watch import Pulse, is_beating, next_pulse, watched_since
from tests.codec.test_campaign_bounds import file, names
from tests.fixtures.rooms import changeable

ZERO = datetime(2026, 1, 1, tzinfo=UTC)
RUN = UUID(int=1)
TICK = timedelta(microseconds=1)
LINK = Link("geo", Orbit.GEO, "Viasat", 144_000_000, 600.0, "client", ("server",))


def after(seconds: float) -> datetime:
    return ZERO + timedelta(seconds=seconds)


def test_nothing_that_the_domain_hands_out_can_be_changed() -> None:
    assert changeable("domain") == []


def test_the_shortest_phase_holds_the_middle_of_one_bin() -> None:
    assert LEAST_PHASE_S == 0.5


# ---- how long a run is waited for; the path takes 0.6 s, twenty times that is the margin of every wait: 12 s


def run_of(state: RunState, phase: HostPhase, **changes: Any) -> RunView:
    hosts = tuple(HostView(name, phase, ZERO) for name in ("server", "client"))
    base = RunView(state, ZERO, hosts, base_rtt_ms=600, deadline_s=90, watched_since=ZERO - timedelta(hours=1))
    return replace(base, **changes)


def uploading(**host: Any) -> RunView:
    seen = HostView("server", HostPhase.RESTORED, after(10**6), stored_at=after(10**6))
    done = HostView("client", HostPhase.UPLOADED, after(10**6))
    return run_of(RunState.UPLOADING, HostPhase.RESTORED, hosts=(replace(seen, **host), done))


@pytest.mark.parametrize(
    ("run", "limit_s"),
    [
        (run_of(RunState.LEASED, HostPhase.ASSIGNED), 60 + 12),
        (run_of(RunState.PREPARING, HostPhase.PREPARING), 60 + 12),
        (run_of(RunState.PREPARING, HostPhase.PREPARING, watched_since=after(100)), 100 + 30 + 60 + 12),
        (run_of(RunState.RUNNING, HostPhase.READY), 90 + 30 + 12),
        (run_of(RunState.RUNNING, HostPhase.READY, start_at=after(5)), 5 + 90 + 30 + 12),
        (run_of(RunState.RESTORING, HostPhase.FINISHED), 60 + 12),
        (uploading(heard_at=ZERO), 120 + 12),
        (uploading(heard_at=None), 120 + 12),
        (uploading(stored_at=ZERO), 300 + 12),
        (uploading(stored_at=None), 300 + 12),
        (uploading(samples=16_000), 400 + 12),
    ],
)
def test_each_wait_ends_after_its_limit(run: RunView, limit_s: float) -> None:
    assert decide(run, after(limit_s)) == Wait(after(limit_s))
    assert isinstance(decide(run, after(limit_s) + TICK), Condemn)


@pytest.mark.parametrize(("orders", "is_over"), [(100, False), (101, True)])
def test_an_upload_is_asked_for_a_hundred_times_without_a_chunk(orders: int, is_over: bool) -> None:
    assert isinstance(decide(uploading(upload_orders=orders), ZERO), Condemn) is is_over


def test_an_upload_may_take_as_long_as_its_samples_at_the_slowest_rate() -> None:
    """100 bytes each at 128 kb/s are 160 a second, after five minutes; six hours at most."""
    assert (upload_limit_s(0), upload_limit_s(1_600)) == (300, 310)
    assert upload_limit_s(160 * 21_300) == upload_limit_s(160 * 30_000) == 21_600


def test_a_run_begins_a_second_and_a_half_and_two_exchanges_after_the_decision() -> None:
    assert start_margin(600) == timedelta(seconds=1.5 + 4 * 0.6)


def test_a_transfer_by_bytes_is_waited_for_at_a_quarter_of_the_rate_or_64_kb_a_round_trip() -> None:
    margin_s = 30 + 12
    assert transfer_deadline_s(None, 65_536, 5, 600, 144_000_000) == pytest.approx(5 + 0.6 + margin_s)
    assert transfer_deadline_s(None, 1_000_000, 0, 600, 400_000) == pytest.approx(80 + margin_s)
    # 1 GiB over GEO: 9,831 s by the window, which no agent would allow; over a slow link as long as the link needs
    assert transfer_deadline_s(None, 2**30, 0, 600, 144_000_000) == pytest.approx(3000 + margin_s)
    assert transfer_deadline_s(None, 2**30, 0, 600, 4_000_000) == pytest.approx(2**30 * 8 / 1e6 + margin_s)
    assert transfer_deadline_s(7, None, 5, 600, 400_000) == pytest.approx(7 + margin_s)


def test_one_ready_host_is_enough_to_prepare_and_none_is_not() -> None:
    hosts = run_of(RunState.LEASED, HostPhase.ASSIGNED).hosts
    one = (replace(hosts[0], phase=HostPhase.PREPARING), hosts[1])
    assert decide(run_of(RunState.LEASED, HostPhase.ASSIGNED, hosts=one), ZERO) == Move(RunState.PREPARING)
    assert isinstance(decide(run_of(RunState.LEASED, HostPhase.ASSIGNED), ZERO), Wait)
    assert isinstance(decide(run_of(RunState.PREPARING, HostPhase.ASSIGNED, hosts=one), ZERO), Wait)


def test_a_run_that_has_ended_changes_only_when_its_samples_come_late() -> None:
    assert not may_follow(RunState.FAILED, RunState.COMPLETE)
    assert may_follow(RunState.FAILED, RunState.COMPLETE, is_late=True)
    assert may_follow(RunState.INCOMPLETE, RunState.INCOMPLETE, is_late=True)
    assert not may_follow(RunState.RUNNING, RunState.COMPLETE, is_late=True)
    assert not may_follow(RunState.FAILED, RunState.CANCELLED, is_late=True)
    assert may_follow(RunState.PLANNED, RunState.MISSED)
    assert not may_follow(RunState.UPLOADING, RunState.MISSED)


# ---- who is there


@pytest.mark.parametrize(("seconds", "beats"), [(10, True), (10.001, False), (-10, True), (-10.001, False)])
def test_a_mark_is_fresh_for_ten_seconds_whichever_way_the_clock_went(seconds: float, beats: bool) -> None:
    pulse = Pulse(ZERO, after(-100))
    assert is_beating(pulse, after(seconds)) is beats
    assert next_pulse(pulse, after(seconds)) == Pulse(after(seconds), after(-100) if beats else after(seconds))


def test_the_server_has_watched_since_the_later_of_its_two_pulses_began() -> None:
    conductor, api, late = Pulse(ZERO, after(-50)), Pulse(ZERO, after(-30)), Pulse(after(-60), after(-90))
    assert not is_beating(None, ZERO)
    assert watched_since(conductor, api, ZERO) == watched_since(api, conductor, ZERO) == after(-30)
    assert watched_since(conductor, Pulse(ZERO, after(5)), ZERO) == ZERO
    for pair in ((None, api), (conductor, None), (late, api), (conductor, late)):
        assert watched_since(*pair, ZERO) == ZERO


def test_an_agent_is_online_for_a_minute_after_it_was_heard() -> None:
    assert is_online(ZERO, after(60) - TICK)
    assert not is_online(ZERO, after(60))
    assert not is_online(None, ZERO)
    assert is_present(AgentStatus.RUNNING, ZERO, True, after(600))
    assert not is_present(AgentStatus.RUNNING, ZERO, False, after(600))
    assert not is_present(AgentStatus.IDLE, ZERO, True, after(600))
    assert [is_free(status, ZERO, ZERO) for status in (AgentStatus.IDLE, AgentStatus.READY)] == [True, False]
    assert not is_free(AgentStatus.IDLE, ZERO, after(60))


# ---- links and plans


@pytest.mark.parametrize(
    ("allowed", "refused"),
    [
        ({"nominal_rate_bps": 1}, {"nominal_rate_bps": 0}),
        ({"base_rtt_ms": 0.1}, {"base_rtt_ms": 0}),
        ({"senders": tuple(names(16))}, {"senders": tuple(names(17))}),
        ({"senders": ("server",)}, {"senders": ()}),
        ({"senders": ("a", "b")}, {"senders": ("a", "a")}),
        ({"receiver": "other"}, {"receiver": "server"}),
        ({"allowance_bytes": 1}, {"allowance_bytes": 0}),
        ({"name": "x"}, {"name": " "}),
    ],
)
def test_a_link_needs_what_a_run_needs(allowed: dict[str, Any], refused: dict[str, Any]) -> None:
    assert replace(LINK, **allowed)
    with pytest.raises(InvalidError) as caught:
        replace(LINK, **refused)
    assert caught.value.code == "link_invalid"


def test_a_run_takes_its_time_its_start_up_and_five_seconds_with_ten_round_trips() -> None:
    campaign = campaign_from_dict(file(stop={"seconds": 60}))
    assert run_duration_s(campaign.conditions[0], LINK) == 60 + 5 + 10 * 0.6
    campaign = campaign_from_dict(
        file(conditions=[{"name": "a", "stop": {"bytes": 1_448_000}, "flows": [{}, {"start_s": 7}]}])
    )
    # A window of ten segments that doubles each 0.6 s, up to the 14,480 x 2^3 bytes in flight of this rate.
    link = replace(LINK, nominal_rate_bps=round(14_480 * 8 * 8 / 0.6))
    expected_s = 7 + 3 * 0.6 + 2 * 1_500_000 * 8 / link.nominal_rate_bps + 5 + 10 * 0.6
    assert run_duration_s(campaign.conditions[0], link) == pytest.approx(expected_s, rel=1e-6)


def conflicts(link: Link = LINK, **changes: Any) -> list[str]:
    campaign = campaign_from_dict(file(**changes))
    return [each.code for each in plan_campaign(campaign, {"geo": link}).conflicts]


def test_a_run_may_take_all_of_its_spacing() -> None:
    assert conflicts(timetable={"duration_h": 1, "every_s": 71}) == []
    assert conflicts(timetable={"duration_h": 1, "every_s": 70.9}) == ["run_longer_than_spacing"]


def test_a_campaign_may_use_all_of_an_allowance_and_of_its_limit() -> None:
    volume = 3 * 60 * 144_000_000 // 8
    assert conflicts(limits={"bytes": volume}) == []
    assert conflicts(limits={"bytes": volume - 1}) == ["limit_exceeded"]
    [little] = plan_campaign(campaign_from_dict(file(limits={"bytes": 999})), {"geo": LINK}).conflicts
    assert little.message.endswith("the campaign's limit is 999 bytes.")
    assert conflicts(replace(LINK, allowance_bytes=volume)) == []
    assert conflicts(replace(LINK, allowance_bytes=volume - 1)) == ["allowance_exceeded"]


@pytest.mark.parametrize(
    ("phase", "is_condemned", "expected"),
    [
        (HostPhase.FINISHED, False, HostPhase.RESTORED),
        (HostPhase.READY, False, HostPhase.DONE),
        (HostPhase.PREPARING, True, HostPhase.DONE),
        (HostPhase.PREPARING, False, None),
        (HostPhase.ASSIGNED, True, None),
    ],
)
def test_an_agent_that_forgot_its_run_has_restored_its_host(
    phase: HostPhase, is_condemned: bool, expected: HostPhase | None
) -> None:
    run = Assignment(RUN, RunState.PREPARING, phase, is_condemned=is_condemned)
    assert phase_after_restart(AgentReport(AgentStatus.IDLE, None), run) is expected
    assert phase_after_restart(AgentReport(AgentStatus.PREPARING, None), run) is None
    assert phase_after_restart(AgentReport(AgentStatus.IDLE, RUN), run) is None


@pytest.mark.parametrize(("hosts", "expected"), [({}, []), ({"a": "h", "b": "h"}, ["host_booked"])])
def test_settings_of_a_whole_host_are_in_the_way_on_that_host_alone(hosts: dict[str, str], expected: list[str]) -> None:
    own, other = (
        Booking(f"link {name}", name, frozenset({name}), is_host_wide=True, start_s=0, end_s=10) for name in ("a", "b")
    )
    assert [each.code for each in find_overlaps([own], [other], hosts)] == expected
