"""A link's parameters, of all that was recorded over it."""

from __future__ import annotations

from dataclasses import dataclass

from downlink.analysis.linkfit.delays import Delays, delays
from downlink.analysis.linkfit.drops import Queue, split
from downlink.analysis.linkfit.estimate import Estimate
from downlink.analysis.linkfit.frames import frame_length
from downlink.analysis.linkfit.grants import Grants, grants
from downlink.analysis.linkfit.losses import Losses, down_losses, up_losses
from downlink.analysis.linkfit.rates import Handovers, Rates, handovers, rates
from downlink.analysis.linkfit.recordings import Recorded
from downlink.analysis.linkfit.usage import Usage, usage


@dataclass(frozen=True)
class Fit:
    """None: these runs do not say it. frame_ms: None where nothing comes back in frames."""

    delays: Delays
    frame_ms: Estimate | None
    coherence: float | None
    grants: Grants | None
    rates: Rates | None
    handovers: Handovers | None
    queue: Queue | None
    down: Losses | None
    up: Losses | None


def fit(recorded: Recorded) -> Fit | None:
    """None where nothing gave a round-trip time."""
    framed = frame_length(recorded)
    frame_ms = framed[0].value if framed else None
    first = delays(recorded, frame_ms, None)
    if first is None:
        return None
    used = usages(recorded, first, frame_ms)
    changes = handovers(used)
    link_rates = rates(used, changes.period_s.value if changes else None)
    events, queue = (
        split(recorded.flows, first.least_ms.value, link_rates.mean_bps.value, frame_ms) if link_rates else ([], None)
    )
    return Fit(
        delays=(changes and delays(recorded, frame_ms, changes.period_s.value)) or first,
        frame_ms=framed[0] if framed else None,
        coherence=framed[1] if framed else None,
        grants=grants(recorded.flows, frame_ms) if frame_ms else None,
        rates=link_rates,
        handovers=changes,
        queue=queue,
        down=down_losses(recorded, events),
        up=up_losses(recorded),
    )


def usages(recorded: Recorded, idle: Delays, frame_ms: float | None) -> list[Usage]:
    """Return when each flow filled the link."""
    most_ms = (
        idle.least_ms.value + (frame_ms or 0) + sum(part.quantiles[-1][1] for part in (idle.slow, idle.fast) if part)
    )
    used = (usage(flow, idle.least_ms.value, most_ms, frame_ms) for flow in recorded.flows)
    return [each for each in used if each is not None]
