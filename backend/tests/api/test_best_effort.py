"""Hosts that cannot set everything, as in a plain container: the cause is named, and by the campaign's leave they measure all the same."""

from __future__ import annotations

from typing import Any

from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent

SAVE = "net.ipv4.tcp_no_metrics_save"
READ_ONLY = "the file system of /proc/sys/net/ipv4 is read-only for this process, as in a plain container"
ONE: dict[str, Any] = {"conditions": [{"name": "plain"}], "timetable": {"cycles": 1}}


def contained(lab: Lab, **facts: Any) -> list[ScriptedAgent]:
    """A receiver, and a sender that can set nothing."""
    agents = [lab.join("client"), lab.join("server")]
    agents[1].host |= {"settings_writable": [], "settings_refused": {SAVE: READ_ONLY}, **facts}
    agents[1].is_new = True
    agents[1].poll()
    lab.link()
    return agents


def conflicts(lab: Lab, **changes: Any) -> dict[str, dict[str, Any]]:
    body = {"campaign": {"name": "x", "links": ["geo"], "stop": {"seconds": 5}, **ONE, **changes}}
    return {each["code"]: each for each in lab.call("POST", "/campaigns/preview", body)["conflicts"]}


def test_the_cause_is_the_read_only_file_system_and_the_way_out_is_told(lab: Lab) -> None:
    contained(lab)
    found = conflicts(lab)["setting_unwritable"]
    assert found["is_blocking"] is True
    for part in (READ_ONLY, "settings: best_effort"):
        assert part in found["message"]
    assert "as root" not in found["message"]


def test_by_the_campaigns_leave_it_measures_and_the_record_says_what_was_in_force(lab: Lab) -> None:
    agents = contained(lab)
    found = conflicts(lab, settings="best_effort")["setting_unset"]
    assert found["is_blocking"] is False
    campaign = lab.launch(**ONE, settings="best_effort")
    lab.tick()
    order = agents[1].poll()
    assert order is not None
    assert order["leaves_unset"] is True
    agents[1]._on_prepare(order)
    (run,) = lab.drive(campaign, agents)
    assert run["state"] == "complete"
    assert lab.call("GET", f"/campaigns/{campaign}")["spec"]["settings"] == "best_effort"
    wrong = {"campaign": {"name": "x", "links": ["geo"], "stop": {"seconds": 5}, **ONE, "settings": "some"}}
    assert "strict, best_effort" in lab.call("POST", "/campaigns/preview", wrong, expect=422)["message"]


def test_a_quick_test_tries_such_a_host_too(lab: Lab) -> None:
    agents = contained(lab)
    link = lab.call("GET", "/links")["items"][0]
    lab.call("POST", f"/links/{link['id']}/quick-test")
    lab.tick()
    order = agents[1].poll()
    assert order is not None
    assert order["leaves_unset"] is True


def test_acks_that_cannot_be_recorded_prevent_the_launch(lab: Lab) -> None:
    contained(lab, settings_writable=[SAVE], per_ack_refused="this kernel has no type information (BTF)")
    found = conflicts(lab, sampling="per_ack")["per_ack_refused"]
    assert (found["is_blocking"], "no type information" in found["message"]) == (True, True)
    assert "per_ack_refused" not in conflicts(lab)


def test_a_control_that_cannot_run_prevents_the_launch_unless_another_program_holds_it(lab: Lab) -> None:
    agents = contained(lab, settings_writable=[SAVE], control_options={})
    for reason, is_blocking in (
        ("this process may not use it: tcp_allowed_congestion_control", True),
        ("a control of this name is registered already", False),
    ):
        agents[1].host["controls_unavailable"] = {"bbr": reason}
        agents[1].is_new = True
        agents[1].poll()
        found = conflicts(lab, conditions=[{"name": "a", "flows": [{"cc": "bbr"}]}])["control_unfit"]
        assert (found["is_blocking"], reason in found["message"]) == (is_blocking, True)
