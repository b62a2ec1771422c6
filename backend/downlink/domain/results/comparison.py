"""Conditions of any campaigns side by side: what somebody picks, and what they have apart besides their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, get_args
from uuid import UUID

from downlink.domain.campaigns.campaign import Campaign, Condition
from downlink.domain.campaigns.flow_plan import FlowPlan, Scalar
from downlink.domain.doc import Doc
from downlink.domain.errors import InvalidError

MAX_SIDES = 8
"""Series that can be told apart."""
MAX_RUNS = 20_000
"""Complete runs of all campaigns that are picked from: their values are about a kilobyte each."""
NOT_KNOWN, NOT_SET = "not recorded", "not set"
AspectName = Literal["analysis", "link", "hosts", "condition"]
ASPECTS: tuple[AspectName, ...] = get_args(AspectName)
Aspect = tuple[AspectName, str]
"""The aspect of a fact (`ASPECTS`), and its name."""
Facts = Mapping[Aspect, str]


@dataclass(frozen=True, slots=True)
class SideName:
    """The name of a side of a comparison. place: link and condition with a slash between them; both may contain slashes."""

    text: str
    campaign_id: UUID
    flow: int
    place: str

    def is_of(self, link: str, condition: str) -> bool:
        return self.place == f"{link}/{condition}"


def read_side(text: str) -> SideName:
    """`CAMPAIGN-ID/FLOW/LINK/CONDITION`. InvalidError for anything else."""
    parts = text.split("/", 2)
    try:
        return SideName(text, UUID(parts[0]), int(parts[1]), parts[2])
    except (ValueError, IndexError) as error:
        raise InvalidError(
            "side_invalid", f"{text!r} names no side; write CAMPAIGN-ID/FLOW/LINK/CONDITION, flows count from 1."
        ) from error


def read_sides(texts: Iterable[str]) -> list[SideName]:
    """Each once, in their order. InvalidError for too many."""
    sides = [read_side(text) for text in dict.fromkeys(texts)]
    if len(sides) > MAX_SIDES:
        raise InvalidError("too_many_sides", f"At most {MAX_SIDES} conditions are compared at once; take some away.")
    return sides


def check_runs(count: int) -> None:
    """InvalidError where the campaigns have more complete runs than are read at once."""
    if count > MAX_RUNS:
        raise InvalidError(
            "comparison_too_large",
            f"The chosen campaigns have {count:,} complete runs; at most {MAX_RUNS:,} are read at once. Choose fewer campaigns.",
        )


def check_place(name: SideName, campaign: str, places: Sequence[tuple[str, str]]) -> None:
    """InvalidError where several places, each link and condition, have this name: links and conditions may have slashes."""
    if len(places) > 1:
        offered = " and ".join(f"condition {condition!r} on link {link!r}" for link, condition in places)
        raise InvalidError(
            "side_ambiguous",
            f"{name.place!r} of campaign {campaign} names {offered}. "
            "Rename the condition or the link in a new campaign, so that each name fits one of them only.",
        )


def find_baseline(sides: Sequence[SideName], wanted: str | None) -> int:
    """Its place among the sides; without a wish the first. InvalidError for what is no side."""
    texts = [side.text for side in sides]
    if wanted is not None and wanted not in texts:
        raise InvalidError("baseline_unknown", f"The baseline {wanted!r} is none of the sides; name one of them.")
    return 0 if wanted is None else texts.index(wanted)


@dataclass(frozen=True)
class Unlike:
    """Something besides the numbers that the sides do not have in common."""

    aspect: AspectName
    name: str
    values: Annotated[Sequence[str], Doc("Of each side; several with commas where its runs differ")]


def unlike(sides: Sequence[Facts]) -> list[Unlike]:
    """Return the facts in which sides differ, by aspect, then in the order in which the sides name them."""
    named = dict.fromkeys(aspect for side in sides for aspect in side)
    names = sorted(named, key=lambda aspect: ASPECTS.index(aspect[0]))
    rows = [Unlike(*aspect, tuple(side.get(aspect, _missing(aspect)) for side in sides)) for aspect in names]
    return [row for row in rows if len(set(row.values)) > 1]


def _missing(aspect: Aspect) -> str:
    """A file leaves a setting as the host has it; a run says nothing of what nobody looked at."""
    return NOT_SET if aspect[0] == "condition" else NOT_KNOWN


def fact_text(fact: object) -> str:
    """Return a fact of a host as text: `gro on gso off` for an object of switches."""
    if not isinstance(fact, Mapping):
        return str(fact)
    switches = {True: "on", False: "off"}
    return " ".join(f"{name} {switches.get(value, value)}" for name, value in sorted(fact.items()))


def several(values: Iterable[object]) -> str:
    """Join the different values of several runs: `6.18.44, 6.19.2`."""
    texts = sorted({str(value) for value in values if value is not None})
    return ", ".join(texts) or NOT_KNOWN


def plan_facts(campaign: Campaign, condition: Condition) -> dict[Aspect, str]:
    """Return the facts that the campaign file states about a condition and the phases of its numbers, defaults merged in."""
    phases = campaign.phases
    windows = [f"{window.name} {window.from_s:g} to {window.to_s:g} s" for window in phases.windows]
    return {
        ("analysis", "Start-up"): f"first {phases.startup_s:g} s",
        ("analysis", "Steady state"): f"last {phases.steady_s:g} s",
        ("analysis", "Windows"): ", ".join(windows) or "none",
        ("condition", "Flows"): "; ".join(map(_flow_text, condition.flows)),
        ("condition", "Stops after"): _stop_text(condition),
        ("condition", "Sampling"): campaign.sampling.value.replace("_", " "),
        **{("condition", f"Sender: {name}"): value for name, value in condition.sender.items()},
        **{("condition", f"Receiver: {name}"): value for name, value in condition.receiver.items()},
        **{("condition", f"Relays: {name}"): value for name, value in condition.relay.items()},
    }


def _stop_text(condition: Condition) -> str:
    """Imported files stopped as they did."""
    stop = condition.stop
    if stop.seconds is not None:
        return f"{stop.seconds:g} s"
    return NOT_KNOWN if stop.bytes is None else f"{stop.bytes:,} bytes"


def _flow_text(flow: FlowPlan) -> str:
    start = f" from {flow.start_s:g} s" if flow.start_s else ""
    sender = f" of sender {flow.sender}" if flow.sender != 1 else ""
    if flow.tcp is None:
        return f"probe{sender}{start}"
    rate = f" paced to {flow.tcp.pacing_rate_bps:,} bit/s" if flow.tcp.pacing_rate_bps else ""
    return f"{flow.tcp.cc}{_options_text(flow.tcp.options)}{rate}{sender}{start}"


def _options_text(options: Mapping[str, Scalar]) -> str:
    return f" ({', '.join(f'{name}={value}' for name, value in sorted(options.items()))})" if options else ""
