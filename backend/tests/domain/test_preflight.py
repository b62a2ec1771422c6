"""What is said of hosts before a launch, from what their agents and their last runs said."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.conflict import Conflict
from downlink.domain.campaigns.preflight import Answer, Check, Level, QuickTestOf, Reached, judge_hosts
from downlink.domain.fleet.hosts import DISK_RESERVE_BYTES, Found, Host, find_refused
from downlink.domain.links.link import Link, Orbit

AT, RUN = datetime(2026, 1, 2, 3, tzinfo=UTC), UUID(int=1)
GEO = Link("geo", Orbit.GEO, "", 144_000_000, 600.0, "client", ("server-1", "server-2"))
BASE: dict[str, Any] = {
    "name": "x",
    "links": ["geo"],
    "stop": {"seconds": 100},
    "phases": {"startup_s": 10, "steady_s": 10},
    "timetable": {"cycles": 1},
    "conditions": [
        {"name": "on", "sender": {"tcp_cubic.hystart": 1}},
        {"name": "off", "sender": {"tcp_cubic.hystart": 0}},
    ],
}
ROOT = {
    "roles": ["sender", "receiver"],
    "congestion_controls": ["cubic", "reno"],
    "controls_unavailable": {},
    "control_options": {},
    "settings": {"tcp_cubic.hystart": "1", "net.ipv4.tcp_no_metrics_save": "0", "net.ipv4.tcp_rmem": "4096 131072 6291456"},
    "settings_writable": ["tcp_cubic.hystart", "net.ipv4.tcp_no_metrics_save", "net.ipv4.tcp_rmem"],
    "spool_free_bytes": 10**10,
    "kernel": "6.1.0",
    "boot_id": "one",
}  # fmt: skip
FINGERPRINT = {
    "kernel": "6.1.0",
    "boot_id": "one",
    "offloads": {"tso": True},
    "clock_offset_ms": 1.5,
    "clock_error_ms": 0.4,
}


def campaign(**changes: Any) -> Campaign:
    return campaign_from_dict({**BASE, **changes})


def host(**changes: Any) -> Host:
    return Host({**ROOT, **changes})


def refused(asked: Campaign, **hosts: Host) -> list[tuple[str, bool, str]]:
    found = find_refused(asked, [GEO], {name.replace("_", "-"): each for name, each in hosts.items()})
    return [(each.code, each.is_blocking, each.place) for each in found]


def said(of: Host, check: Check, *, agent: str = "server-1", reached: Any = None, **changes: Any) -> Answer:
    answers = judge_hosts(campaign(**changes), [GEO], {agent: of}, reached or {})
    own = next(each.answers for each in answers if each.agent == agent)
    return next(each for each in own if each.check is check)


def test_a_setting_that_cannot_be_changed_prevents_the_launch_at_its_place() -> None:
    bare = host(settings_writable=["net.ipv4.tcp_no_metrics_save"])
    assert refused(campaign(), server_1=bare) == [
        ("setting_unwritable", True, "conditions[1].sender.tcp_cubic.hystart")
    ]
    assert refused(campaign(), server_1=host()) == []


def test_a_setting_that_is_as_asked_need_not_be_writable() -> None:
    only_on = campaign(conditions=BASE["conditions"][:1])
    assert refused(only_on, server_1=host(settings_writable=["net.ipv4.tcp_no_metrics_save"])) == []


def test_what_every_run_changes_must_be_writable_too() -> None:
    plain = campaign(conditions=[{"name": "plain"}])
    assert refused(plain, client=host(settings_writable=[])) == [("setting_unwritable", True, "")]
    [found] = find_refused(plain, [GEO], {"client": host(settings_writable=[])})
    assert "Every run sets it. Run the agent as root or with CAP_NET_ADMIN" in found.message
    assert "leave the setting out" not in found.message
    ready = {**ROOT["settings"], "net.ipv4.tcp_no_metrics_save": "1"}  # type: ignore[dict-item]
    assert refused(plain, client=host(settings_writable=[], settings=ready)) == []


def test_a_host_that_says_nothing_is_not_judged() -> None:
    assert refused(campaign(), server_1=Host({})) == []
    silent = Host({"roles": ["sender"]})
    assert refused(campaign(), server_1=silent) == []
    assert said(silent, Check.HYSTART).level is Level.UNKNOWN


def test_a_part_that_an_agent_does_not_take_prevents_the_launch() -> None:
    assert refused(campaign(), client=host(roles=["sender"])) == [("role_refused", True, "links")]
    assert refused(campaign(), server_2=host(roles=["receiver"])) == []  # no flow comes from it


def test_an_agent_that_holds_no_budget_prevents_a_launch_that_needs_it() -> None:
    limited = campaign(limits={"bytes": 10**12})
    assert refused(limited, client=host()) == [("budget_unheld", True, "limits.bytes")]
    assert refused(limited, client=host(holds_budget=True)) == []
    metered = replace(GEO, allowance_bytes=10**12)
    found = list(find_refused(campaign(), [metered], {"client": host(), "server-1": host(holds_budget=True)}))
    assert [(each.code, each.place) for each in found] == [("budget_unheld", "links")]
    assert found[0].message.startswith("client does not end a transfer at a budget: install the agent")


@pytest.mark.parametrize(
    ("stop", "lasts_s", "helps"),
    [
        ({"seconds": 100}, 142, ""),
        ({"seconds": 100}, 141.9, "a run of 100 s may take 142 s until its deadline, and the path trace pole, which"),
        ({"seconds": 100}, 141.9, "Let runs stop after 99 s, or bring the link up with a path of 142 s or more"),
        ({"seconds": 100}, 20, "campaign. Bring the link up with a path of 142 s or more (`downlink paths make`)."),
        ({"bytes": 10**6}, 30, "Let runs stop after fewer bytes, or bring the link up with a path of 52 s or more"),
    ],
)  # fmt: skip
def test_a_run_that_is_longer_than_the_links_path_prevents_the_launch(
    stop: dict[str, float], lasts_s: float, helps: str
) -> None:
    leo = replace(GEO, is_emulated=True)
    hosts = {"client": host(path_trace={"name": "pole", "lasts_s": lasts_s})}
    asked = campaign(conditions=[{"name": "short", "stop": {"seconds": 1}}, {"name": "long", "stop": stop}])
    found = list(find_refused(asked, [leo], hosts))
    assert [(each.code, each.is_blocking, each.place) for each in found] == (
        [("trace_short", True, "conditions[1].stop")] if helps else []
    )
    assert all(helps in each.message for each in found)
    assert list(find_refused(asked, [GEO], hosts)) == []  # a real link's runs have no windows
    assert list(find_refused(asked, [leo], {"server-2": hosts["client"]})) == []  # it takes no part


@pytest.mark.parametrize(("missing", "level"), [(0, Level.OK), (1, Level.BAD)])
def test_disk_is_counted_as_the_agent_counts_it(missing: int, level: Level) -> None:
    needed = 100 * 200 * 64 + DISK_RESERVE_BYTES  # 100 s at 200 Hz of 64 bytes
    tight = host(spool_free_bytes=needed - missing)
    assert said(tight, Check.DISK).level is level
    assert refused(campaign(), server_1=tight) == [("disk_short", False, "links")] * missing
    assert said(tight, Check.DISK, sampling="per_ack").level is Level.BAD


def test_absence_is_said_with_its_reason() -> None:
    away = Host(ROOT, Conflict("agent_offline", "server-1 is offline.", True, True))
    assert said(away, Check.ONLINE) == Answer(Check.ONLINE, Level.BAD, "server-1 is offline.")
    assert said(host(), Check.ONLINE).level is Level.OK


def test_controls_are_named_and_a_kernel_that_may_load_one_is_a_note() -> None:
    assert said(host(), Check.CONTROLS).sentence == "It has cubic, with the options that are asked for."
    vegas = [{"name": "vegas", "flows": [{"cc": "vegas"}]}]
    assert said(host(), Check.CONTROLS, conditions=vegas).level is Level.NOTE
    own = [{"name": "own", "flows": [{"cc": "dl_hybla"}]}]
    assert said(host(), Check.CONTROLS, conditions=own).level is Level.BAD


def test_what_is_not_asked_for_is_told_all_the_same() -> None:
    plain = [{"name": "plain"}]
    answer = said(host(), Check.HYSTART, conditions=plain)
    assert (answer.level, answer.sentence) == (
        Level.OK,
        "HyStart: not asked for (tcp_cubic.hystart is 1); could be changed there.",
    )
    assert said(host(settings_writable=[]), Check.HYSTART, conditions=plain).level is Level.NOTE
    assert said(host(settings_writable=[]), Check.HYSTART).level is Level.BAD
    assert said(host(), Check.BUFFERS, agent="client").sentence.startswith(
        "Socket buffers: not asked for (net.ipv4.tcp_rmem"
    )


def found(**changes: Any) -> Found:
    return Found(AT, RUN, {**FINGERPRINT, **changes})


@pytest.mark.parametrize(("error_ms", "level"), [(2000.0, Level.OK), (2000.1, Level.BAD)])
def test_the_clock_is_that_of_the_last_run(error_ms: float, level: Level) -> None:
    answer = said(Host(ROOT, found=[found(clock_error_ms=error_ms), found(clock_error_ms=9e9)]), Check.CLOCK)
    assert (answer.level, answer.at, answer.run_id) == (level, AT, RUN)
    assert said(host(), Check.CLOCK).level is Level.UNKNOWN
    assert said(Host(ROOT, found=[found(clock_offset_ms="fast")]), Check.CLOCK).level is Level.UNKNOWN


@pytest.mark.parametrize(
    ("facts", "runs", "level", "sentence"),
    [
        ({}, [], Level.UNKNOWN, "It has had no run yet with which it could be compared."),
        ({}, [{}], Level.OK, "As in its last run."),
        ({}, [{}, {"clock_offset_ms": 9.0}], Level.OK, "As in its last two runs."),
        ({}, [{}, {"offloads": {"tso": False}}], Level.NOTE, "Between its last two runs: offloads (tso off to on)."),
        ({}, [{}, {"offloads": [1]}], Level.NOTE, "Between its last two runs: offloads [1] to {'tso': True}."),
        ({}, [{"cores": 1}, {"cores": 2}], Level.NOTE, "Between its last two runs: cores 2 to 1."),
        ({"boot_id": "two", "kernel": "6.2"}, [{}], Level.NOTE,
         "Since its last run: kernel 6.1.0 to 6.2 and the host was restarted."),
    ],
)  # fmt: skip
def test_changes_are_those_since_the_last_run_or_before_it(
    facts: dict[str, Any], runs: list[dict[str, Any]], level: Level, sentence: str
) -> None:
    answer = said(Host({**ROOT, **facts}, found=[found(**each) for each in runs]), Check.CHANGES)
    assert (answer.level, answer.sentence) == (level, sentence)


def test_the_data_port_is_known_from_the_last_run_between_both() -> None:
    pair = ("server-1", "client")

    def ask(reached: Any) -> Level:
        answer = said(host(), Check.DATA_PORT, agent="client", reached=reached)
        assert answer.quick_test == QuickTestOf("geo", 1), "a quick test asks again"
        return answer.level

    assert ask({}) is Level.UNKNOWN
    assert ask({pair: Reached(AT, RUN, has_come=True)}) is Level.OK
    assert ask({pair: Reached(AT, RUN, has_come=False, detail="refused")}) is Level.NOTE


def test_every_agent_that_takes_part_is_answered_for_once() -> None:
    answers = judge_hosts(campaign(), [GEO], {"client": host(), "server-1": host()}, {})
    assert [(each.agent, each.parts) for each in answers] == [
        ("client", ("receiver of geo",)),
        ("server-1", ("sender of geo",)),
    ]
    assert [each.check for each in answers[0].answers] == [
        Check.ONLINE, Check.BUFFERS, Check.SETTINGS, Check.DISK, Check.CLOCK, Check.DATA_PORT, Check.CHANGES,
    ]  # fmt: skip
