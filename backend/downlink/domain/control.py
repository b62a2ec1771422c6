"""Congestion controls of a host: which it has, what they take, and what a flow asks of them in vain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from downlink.domain.campaign import PROBE, Probe, Scalar, Tcp, Transport
from downlink.domain.setting import whole_number

OWN_PREFIX = "dl_"
"""Of the controls that agents bring along; all others are the kernel's, which take no options and may load when asked for."""


@dataclass(frozen=True, slots=True)
class ControlOption:
    """One of `choices` or, where there are none, a whole number from `least` to `most`."""

    choices: tuple[str, ...]
    least: int
    most: int

    def accepts(self, value: Scalar) -> bool:
        """As the agent reads it: a file may hold true for on, and the number 4 for the choice 4.0."""
        text = _spell(value)
        if self.choices:
            return {"true": "on", "false": "off"}.get(text, text) in self.choices or f"{text}.0" in self.choices
        return whole_number(self.least, self.most)[1](text)

    @property
    def allowed(self) -> str:
        """What may be given, for people."""
        return f"one of {', '.join(self.choices)}" if self.choices else whole_number(self.least, self.most)[0]


def _spell(value: Scalar) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


@dataclass(frozen=True, slots=True)
class ControlFault:
    """A sentence on why runs fail. is_certain: they all do, whatever happens on the host meanwhile."""

    sentence: str
    is_certain: bool = True


@dataclass(frozen=True, slots=True)
class HostControls:
    """What a host said when its agent started.

    refused: controls of the agent's own that it could not run, with the reason. options: by own control and option.
    transports: the kinds of flow that its agent carries.
    """

    refused: Mapping[str, str]
    options: Mapping[str, Mapping[str, ControlOption]]
    transports: frozenset[str] = frozenset({"tcp"})

    def faults(self, transport: Transport) -> Iterator[ControlFault]:
        """What speaks against a flow over this transport; nothing where only a run can tell."""
        if not isinstance(transport, Probe):
            yield from self._tcp_faults(transport)
        elif PROBE not in self.transports:
            yield ControlFault("Its agent carries no probe flows; install the agent of this server's version there.")

    def _tcp_faults(self, transport: Tcp) -> Iterator[ControlFault]:
        own = self.options.get(transport.cc)
        if reason := self.refused.get(transport.cc):
            # Privilege may be given, or another program may hold the control, by the time of the run.
            yield ControlFault(f"{transport.cc} cannot run there: {reason.rstrip('.')}.", is_certain=False)
        if own is not None:
            yield from _option_faults(transport, own)
        elif transport.cc.startswith(OWN_PREFIX):
            yield ControlFault(
                f"Its agent does not have the control {transport.cc}; it has {', '.join(sorted(self.options))}."
            )
        elif transport.options:
            yield ControlFault(f"{transport.cc} is the kernel's and takes no options.")


def read_host_controls(host: Mapping[str, Any]) -> HostControls | None:
    """From the facts that an agent sent; None from one that does not tell what its controls take."""
    told = host.get("control_options")
    if told is None:
        return None
    options = {
        cc: {name: ControlOption(tuple(each["choices"]), each["min"], each["max"]) for name, each in known.items()}
        for cc, known in told.items()
    }
    return HostControls(host["controls_unavailable"], options, frozenset(host.get("transports") or ("tcp",)))


def _option_faults(transport: Tcp, known: Mapping[str, ControlOption]) -> Iterator[ControlFault]:
    for name, value in transport.options.items():
        option = known.get(name)
        if option is None:
            yield ControlFault(f"{transport.cc} has no option {name}; it has {', '.join(sorted(known)) or 'none'}.")
        elif not option.accepts(value):
            yield ControlFault(f"{name} of {transport.cc} must be {option.allowed}, not {value!r}.")
