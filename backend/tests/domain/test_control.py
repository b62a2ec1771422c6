"""What a host's controls take, judged as the agent will judge it when a run prepares."""

from __future__ import annotations

from dataclasses import replace

import pytest

from downlink.domain.campaigns.flow_plan import Probe, Scalar, Tcp
from downlink.domain.fleet.control import ControlFault, ControlOption, HostControls, read_host_controls

VERSION = ControlOption(("1.0", "3.1", "4.0"), 0, 0)
SWITCH = ControlOption(("off", "on"), 0, 0)
RTT0 = ControlOption((), 1, 10_000)
HOST = HostControls({"dl_vivace": "its kernel is too old"}, {"dl_hybla": {"rtt0_ms": RTT0}, "dl_vivace": {}})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        (VERSION, "4.0"), (VERSION, 4.0), (VERSION, 4), (VERSION, 3.1), (SWITCH, "on"), (SWITCH, True), (SWITCH, False),
        (SWITCH, "true"), (RTT0, 1), (RTT0, 10_000), (RTT0, "25"), (RTT0, 25.0),
    ],
)  # fmt: skip
def test_a_value_may_be_spelled_as_files_spell_it(option: ControlOption, value: Scalar) -> None:
    assert option.accepts(value)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        (VERSION, "2"), (VERSION, 3), (VERSION, ""), (SWITCH, 1), (SWITCH, "On"), (RTT0, 0), (RTT0, 10_001), (RTT0, -5),
        (RTT0, 2.5), (RTT0, 1e300), (RTT0, "1_000"), (RTT0, "²"), (RTT0, True), (RTT0, ""), (RTT0, "9" * 5000),
    ],
)  # fmt: skip
def test_any_other_value_is_refused(option: ControlOption, value: Scalar) -> None:
    assert not option.accepts(value)


@pytest.mark.parametrize(
    ("transport", "fault"),
    [
        (Tcp("dl_vivce"), "Its agent does not have the control dl_vivce; it has dl_hybla, dl_vivace."),
        (Tcp("cubic", options={"beta": 1}), "cubic is the kernel's and takes no options."),
        (Tcp("dl_hybla", options={"rtt": 1}), "dl_hybla has no option rtt; it has rtt0_ms."),
        (Tcp("dl_hybla", options={"rtt0_ms": 0}), "rtt0_ms of dl_hybla must be a whole number from 1 to 10000, not 0."),
    ],
)  # fmt: skip
def test_a_fault_is_a_sentence_that_says_what_to_do(transport: Tcp, fault: str) -> None:
    assert list(HOST.faults(transport)) == [ControlFault(fault)]


def test_what_a_host_cannot_run_is_certain_unless_another_program_holds_it() -> None:
    (fault,) = HOST.faults(Tcp("dl_vivace"))
    assert fault == ControlFault("dl_vivace cannot run there: its kernel is too old.")
    held = replace(HOST, refused={"dl_vivace": "a control of this name is registered already"})
    (fault,) = held.faults(Tcp("dl_vivace"))
    assert fault.is_certain is False


@pytest.mark.parametrize("transport", [Tcp(), Tcp("westwood"), Tcp("dl_hybla", options={"rtt0_ms": 100})])
def test_what_only_a_run_can_tell_is_no_fault(transport: Tcp) -> None:
    assert list(HOST.faults(transport)) == []


def test_a_probe_flow_needs_an_agent_that_says_it_carries_them() -> None:
    (fault,) = HOST.faults(Probe())
    assert "install" in fault.sentence
    told = {"controls_unavailable": {}, "control_options": {}, "transports": ["probe", "tcp"]}
    carries = read_host_controls(told)
    assert carries is not None
    assert list(carries.faults(Probe())) == []


def test_the_facts_of_an_agent_are_read() -> None:
    told = {
        "controls_unavailable": {"dl_vivace": "its kernel is too old"},
        "control_options": {"dl_hybla": {"rtt0_ms": {"choices": [], "min": 1, "max": 10_000}}, "dl_vivace": {}},
    }
    assert read_host_controls(told) == HOST
    assert read_host_controls({"controls_unavailable": {}}) is None
    assert read_host_controls({"control_options": None}) is None
