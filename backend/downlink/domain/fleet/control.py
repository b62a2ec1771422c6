"""Congestion controls of a host: which it has, what they take, and what a flow asks of them in vain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from downlink.domain.campaigns.flow_plan import (
    INTCP,
    PROBE,
    FlowPlan,
    Intcp,
    Probe,
    Scalar,
    Split,
    Tcp,
    Transport,
    kind_of,
)
from downlink.domain.fleet.setting import whole_number

OWN_PREFIX = "dl_"
"""Prefix of the controls that agents bring along; all others are the kernel's, which take no options and may load
when asked for."""


@dataclass(frozen=True, slots=True)
class ControlOption:
    """One of `choices` or, where there are none, a whole number from `least` to `most`."""

    choices: tuple[str, ...]
    least: int
    most: int

    def accepts(self, value: Scalar) -> bool:
        """Return whether the agent would take this value: a file may write true for on, and the number 4 for the choice 4.0."""
        text = _spell(value)
        if self.choices:
            return {"true": "on", "false": "off"}.get(text, text) in self.choices or f"{text}.0" in self.choices
        return whole_number(self.least, self.most)[1](text)

    @property
    def allowed(self) -> str:
        """Describe the allowed values, for people."""
        return f"one of {', '.join(self.choices)}" if self.choices else whole_number(self.least, self.most)[0]


def _spell(value: Scalar) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


@dataclass(frozen=True, slots=True)
class ControlFault:
    """A sentence on why runs fail. is_certain: they all do, whatever happens on the host meanwhile.

    is_carrier: it is about the kind of transport, and not about what is asked of it.
    """

    sentence: str
    is_certain: bool = True
    is_carrier: bool = False


HELD = "registered already"
"""The agent's reason for a control that another program has loaded (agents/internal/flow/controls)."""


@dataclass(frozen=True, slots=True)
class HostControls:
    """Abilities of a host, as its agent reported them when it started.

    refused: controls of the agent's own that it could not run, with the reason. options: by own control and option.
    transports: the kinds of flow that its agent carries. transport_options: what these take, as far as it says. offers: bounds of
    an offer, empty where it offers no messages. mtu: of its data interface, None where it is not known. is_ipv6: its data host.
    """

    refused: Mapping[str, str]
    options: Mapping[str, Mapping[str, ControlOption]]
    transports: frozenset[str] = frozenset({"tcp"})
    transport_options: Mapping[str, Mapping[str, ControlOption]] = field(default_factory=dict)
    offers: Mapping[str, ControlOption] = field(default_factory=dict)
    mtu: int | None = None
    is_ipv6: bool = False

    def part_faults(self, flow: FlowPlan, part: str) -> Iterator[ControlFault]:
        """Yield the faults of a flow in which this host is the sender, the receiver or a relay."""
        transport = flow.transport
        if part == "sender":
            yield from self.faults(transport)
            yield from self._offer_faults(flow)
            yield from self._content_faults(flow)
        elif flow.passes_relays:
            yield from self._carrier_faults(transport, part)
            yield from self._content_faults(flow)
            if part == "relay" and isinstance(transport, Split):
                yield from self._tcp_faults(Tcp(transport.relay_cc))

    def _carrier_faults(self, transport: Transport, part: str) -> Iterator[ControlFault]:
        kind = kind_of(transport)
        if isinstance(transport, Split) and kind not in self.transports and INTCP in self.transports:
            yield ControlFault(
                "It speaks for the relays of an emulated link, which carry INTCP alone: for split TCP name relays on hosts of "
                "their own instead.",
                is_carrier=True,
            )
        elif kind not in self.transports:
            sentence = f"Its agent carries no {kind} flows; install the agent of this server's version there."
            yield ControlFault(sentence, is_carrier=True)
        elif isinstance(transport, Intcp):
            asked = asdict(transport)
            if part != "relay":  # an end has no buffer of a relay, though its agent says what one of its host may have
                del asked["buffer_bytes"]
            yield from _option_faults(INTCP, asked, self.transport_options.get(INTCP))
            least = MTU_OF_IPV6 if self.is_ipv6 else MTU_OF_IPV4
            if self.mtu is not None and self.mtu < least:
                yield ControlFault(
                    f"INTCP sends packets of {least:,} bytes, and the interface of its data host takes {self.mtu:,}: "
                    "raise its MTU, or let the data host be another address."
                )

    def _content_faults(self, flow: FlowPlan) -> Iterator[ControlFault]:
        if flow.content is not None and "content" not in self.transport_options.get(INTCP, {}):
            yield ControlFault(
                "Its agent knows of no content that flows share; install the agent of this server's version there."
            )

    def _offer_faults(self, flow: FlowPlan) -> Iterator[ControlFault]:
        if flow.offer is None:
            return
        if not self.offers:
            yield ControlFault(
                "Its agent sends no messages at a fixed rate; install the agent of this server's version there."
            )
        yield from _option_faults("an offer", asdict(flow.offer), self.offers or None)

    def faults(self, transport: Transport) -> Iterator[ControlFault]:
        """Yield the faults of a flow over this transport; nothing where only a run can tell."""
        if isinstance(transport, Split | Intcp):
            yield from self._carrier_faults(transport, "sender")
        if isinstance(transport, Tcp):
            yield from self._tcp_faults(transport)
        elif isinstance(transport, Probe) and PROBE not in self.transports:
            yield ControlFault("Its agent carries no probe flows; install the agent of this server's version there.")

    def _tcp_faults(self, transport: Tcp) -> Iterator[ControlFault]:
        own = self.options.get(transport.cc)
        if reason := self.refused.get(transport.cc):
            # What another program holds may be free by the time of the run; a kernel or a right does not change by itself.
            sentence = f"{transport.cc} cannot run there: {reason.rstrip('.')}."
            yield ControlFault(sentence, is_certain=HELD not in reason)
        if own is not None:
            yield from _option_faults(transport.cc, transport.options, own)
        elif transport.cc.startswith(OWN_PREFIX):
            yield ControlFault(
                f"Its agent does not have the control {transport.cc}; it has {', '.join(sorted(self.options))}."
            )
        elif transport.options:
            yield ControlFault(f"{transport.cc} is the kernel's and takes no options.")


def read_host_controls(host: Mapping[str, Any]) -> HostControls | None:
    """Read the abilities from an agent's facts; None if it does not report what its controls take."""
    told = host.get("control_options")
    if told is None:
        return None
    return HostControls(
        host["controls_unavailable"],
        {cc: _options(known) for cc, known in told.items()},
        frozenset(host.get("transports") or ("tcp",)),
        {kind: _options(known) for kind, known in (host.get("transport_options") or {}).items()},
        _options(host.get("offers") or {}),
        host.get("data_mtu"),
        ":" in str(host.get("data_host", "")),
    )


MTU_OF_IPV4, MTU_OF_IPV6 = 1_480, 1_500
"""MTU behind INTCP's longest packet: 1,452 bytes after the headers of UDP and IP."""


def _options(known: Mapping[str, Any]) -> dict[str, ControlOption]:
    return {name: ControlOption(tuple(each["choices"]), each["min"], each["max"]) for name, each in known.items()}


def _option_faults(
    of: str, asked: Mapping[str, Scalar], known: Mapping[str, ControlOption] | None
) -> Iterator[ControlFault]:
    """known: None where the agent does not say, and nothing is judged."""
    for name, value in asked.items() if known is not None else ():
        option = (known or {}).get(name)
        if option is None:
            yield ControlFault(f"{of} has no option {name}; it has {', '.join(sorted(known or {})) or 'none'}.")
        elif not option.accepts(value):
            yield ControlFault(f"{name} of {of} must be {option.allowed}, not {value!r}.")
