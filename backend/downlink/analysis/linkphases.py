"""Activity of an emulated link in each phase of a run, by its log: queueing, utilisation and losses by cause; and its losses of each
flow.

All of the way to the receiver: on the way back there are acknowledgements alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.intervals import plain
from downlink.analysis.linklog import HopLog, Ints, hop_log, waits_ms
from downlink.domain.campaigns.campaign import Phases
from downlink.domain.results.metric import LINKED, LOST
from downlink.domain.runs.outcome import LinkLoss

WAY = "down"
CONGESTION = ("queue_full", "early_drop")
"""Losses that a flow brings about by filling the hop's queue."""
OTHER = ("random_loss", "outage", "handover")
"""Causes of loss that come whatever is sent."""
MOVING = "path_change"
"""One more of these, on links along a path trace alone; it counts in the sum of them and has no value of its own."""
SLACK_S = 0.1
"""A log that ends so much before a phase does covers it all the same: what leaves the sender last is on its way then."""

Floats = NDArray[np.float64]
Window = tuple[float, float]


def phase_windows(phases: Phases, together_s: float, end_s: float) -> dict[str, Window]:
    """Return the beginning and end of each phase in a run, in seconds. together_s: when the first of its flows ends, from which
    steady state is counted back; end_s: when the last one does."""
    ends = ((0.0, phases.startup_s), (together_s - phases.steady_s, together_s), (0.0, end_s))
    named = {window.name: (float(window.from_s), float(window.to_s)) for window in phases.windows}
    own = dict(zip(phases.names, ends, strict=False))
    return {name: (max(0.0, low), min(high, end_s)) for name, (low, high) in (own | named).items()}


def link_phases(
    columns: Mapping[str, Ints], windows: Mapping[str, Window], zero_us: int = 0
) -> dict[str, dict[str, float | None]]:
    """The quantities of `LINKED` over each window, None where missing: all of those that the log does not cover.

    columns: those of `link-fields.csv`, a row each 10 ms. zero_us: what the windows' seconds count from, on the log's clock.
    """
    if len(columns["elapsed_us"]) < 2:
        return {name: dict.fromkeys(LINKED) for name in windows}
    hop = hop_log(columns, zero_us)
    waiting = columns[f"{WAY}_waiting_bytes"]
    waits = waits_ms(hop, waiting)
    return {name: _phase(columns, hop, waiting, waits, window) for name, window in windows.items()}


def _phase(
    columns: Mapping[str, Ints], hop: HopLog, waiting: Ints, waits: Floats, window: Window
) -> dict[str, float | None]:
    if not _is_covered(hop, window):
        return dict.fromkeys(LINKED)
    inside = _inside(hop, window)
    known = [
        cause for cause in (*CONGESTION, *OTHER, MOVING) if f"{WAY}_{cause}_bytes" in columns
    ]  # an old log lacks new causes
    lost = {cause: _rise(hop, columns[f"{WAY}_{cause}_bytes"], window) for cause in known}
    arrived = _rise(hop, columns[f"{WAY}_received_bytes"], window)
    values = {
        **_levels("queueing", "ms", waits[inside]),
        **_levels("waiting", "bytes", waiting[inside].astype(np.float64)),
        "offered_bytes": arrived,
        "served_ratio": _share(_rise(hop, hop.sent_bytes, window), _rise(hop, hop.room_bytes, window)),
        **{f"{name}_s": _rise(hop, columns[f"{WAY}_{name}_us"], window) / 1e6 for name in ("gap", "outage")},
        "congestion_loss_percent": 100 * _share(sum(lost[cause] for cause in CONGESTION), arrived),
        "link_loss_percent": 100 * _share(sum(lost.get(cause, 0.0) for cause in (*OTHER, MOVING)), arrived),
        **{f"{cause}_percent": 100 * _share(amount, arrived) for cause, amount in lost.items()},
        **{f"{cause}_bytes": amount for cause, amount in lost.items()},
    }
    return {name: plain(values[name]) for name in LINKED}


def _is_covered(hop: HopLog, window: Window) -> bool:
    return bool(
        window[0] < window[1]
        and hop.time_us[0] <= (window[0] + SLACK_S) * 1e6
        and hop.time_us[-1] >= (window[1] - SLACK_S) * 1e6
    )


def _inside(hop: HopLog, window: Window) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = (hop.time_us >= window[0] * 1e6) & (hop.time_us < window[1] * 1e6)
    return inside


def _rise(hop: HopLog, counter: Ints | Floats, window: Window) -> float:
    """Return by how much a counter rose in a window. Between two rows it rises evenly, so that adjacent windows add up."""
    low, high = np.interp([window[0] * 1e6, window[1] * 1e6], hop.time_us, counter)
    return float(high - low)


def _levels(name: str, unit: str, values: Floats) -> dict[str, float]:
    """Mean, 95th percentile and most of what is known."""
    known = values[~np.isnan(values)]
    levels = (known.mean(), np.percentile(known, 95), known.max()) if len(known) else (np.nan,) * 3
    return dict(zip((f"{name}_{unit}", f"{name}_p95_{unit}", f"{name}_most_{unit}"), map(float, levels), strict=True))


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else np.nan


def flow_losses(
    lost: Iterable[LinkLoss], flows: Iterable[int], counted: Collection[int]
) -> dict[int, dict[str, float | None]]:
    """The quantities of `LOST` for each flow. lost: packets by `flow`, `way` and `cause`, as the link counted them; thinned
    acknowledgements are no loss. counted: the flows that it counted; one of them that is not in `lost` lost nothing, and of all
    others everything is None.
    """
    packets = {flow: dict.fromkeys((*CONGESTION, *OTHER, MOVING), 0) for flow in flows}
    for each in lost:
        if each.way == WAY and each.flow in packets and each.cause in packets[each.flow]:
            packets[each.flow][each.cause] += each.packets
    return {
        flow: _flow_loss(by_cause) if flow in counted else dict.fromkeys(LOST) for flow, by_cause in packets.items()
    }


def _flow_loss(by_cause: Mapping[str, int]) -> dict[str, float | None]:
    total = sum(by_cause.values())
    values = {
        "lost_packets": total,
        "congestion_share_percent": 100 * _share(sum(by_cause[cause] for cause in CONGESTION), total),
        **{f"{cause}_packets": amount for cause, amount in by_cause.items()},
    }
    return {name: plain(float(values[name])) for name in LOST}
