"""One run never has two agents of one kernel change the same thing of it."""

from __future__ import annotations

from typing import Any

import pytest

from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.campaigns.plan import Plan, plan_campaign
from tests.domain.test_plan import make_link

ONE = {"geo-client": "kernel", "geo-server": "kernel", "geo-other": "kernel"}
TWO_FLOWS = [{"sender": 1}, {"sender": 2}]


def make_campaign(condition: dict[str, Any]) -> Campaign:
    data = {"name": "x", "links": ["geo"], "stop": {"seconds": 60}, "timetable": {"cycles": 1}}
    return campaign_from_dict({**data, "conditions": [{"name": "c", **condition}]})


def plan_on(hosts: dict[str, str], condition: dict[str, Any]) -> Plan:
    return plan_campaign(make_campaign(condition), {"geo": make_link()}, hosts=hosts)


def contested(found: Plan) -> list[str]:
    return [each.message for each in found.conflicts if each.code == "host_contested"]


HYSTART = {"tcp_cubic.hystart": 0}
BUFFERS = {"net.ipv4.tcp_wmem": "4096 16384 60000000"}
VIVACES = [{"cc": "dl_vivace", "options": {"utility": name}} for name in ("latency", "throughput")]


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"sender": HYSTART, "flows": TWO_FLOWS}, "geo-server and geo-other share one kernel"),
        ({"sender": HYSTART, "receiver": {"tcp_cubic.beta": 700}}, "can change tcp_cubic.hystart and tcp_cubic.beta"),
        ({"flows": [VIVACES[0], {**VIVACES[1], "sender": 2}]}, "give dl_vivace different options"),
    ],
)
def test_it_is_refused_on_one_kernel_and_fine_on_several(condition: dict[str, Any], words: str) -> None:
    found = plan_on(ONE, condition)
    assert not found.is_launchable
    assert words in contested(found)[0]
    assert plan_on({}, condition).is_launchable


@pytest.mark.parametrize(
    "condition",
    [
        {"sender": HYSTART},
        {"sender": BUFFERS, "receiver": {"net.ipv4.tcp_rmem": "4096 131072 60000000"}, "flows": TWO_FLOWS},
        {"flows": [VIVACES[0], {**VIVACES[0], "sender": 2}]},
        {"sender": HYSTART, "flows": [{"sender": 2}, {"sender": 2, "start_s": 1}]},
    ],
)
def test_what_one_agent_changes_or_a_namespace_holds_is_fine_on_one_kernel(condition: dict[str, Any]) -> None:
    assert plan_on(ONE, condition).is_launchable


def test_a_control_with_options_takes_the_whole_host() -> None:
    """It is registered under one name in the kernel: another run beside it would get these options."""
    assert make_campaign({"flows": [VIVACES[0]]}).conditions[0].is_host_wide
    assert not make_campaign({"flows": [{"cc": "dl_vivace"}]}).conditions[0].is_host_wide
