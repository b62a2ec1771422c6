"""Results of a run's flows in its phases and windows. These lie on the run's clock, also for a later flow."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.binning import Floats, divide
from downlink.analysis.delays import FlowDelays
from downlink.analysis.intervals import plain
from downlink.analysis.series import COUNTED, FlowSeries
from downlink.domain.campaigns.campaign import Phases
from downlink.domain.results.blockdelay import PHASE_METRICS
from downlink.domain.results.metric import METRICS, QUANTITIES

RATES = {"throughput_bps": "delivered_bytes", "goodput_bps": "acked_bytes"}


def stack_values(values: Sequence[Floats]) -> Floats:
    """Tables (rows, bins) of several flows as one array (flows, rows, bins); shorter ones are missing at their end."""
    longest = max((each.shape[1] for each in values), default=0)
    rows = values[0].shape[0] if values else 0
    stacked = np.full((len(values), rows, longest), np.nan)
    for index, each in enumerate(values):
        stacked[index, :, : each.shape[1]] = each
    return stacked


def run_metrics(
    series: Sequence[FlowSeries],
    start_s: Sequence[float],
    phases: Phases,
    nominal_rate_bps: float,
    delays: Sequence[FlowDelays | None] | None = None,
) -> list[dict[str, dict[str, float | None]]]:
    """The metrics of one run, to keep: for each flow {phase: {metric: value}}, null where missing.

    start_s: each flow's offset from the run's zero. delays: of each flow its blocks', where it kept a delivery table.
    """
    together_s = shared_end_s(series, start_s)
    metrics = []
    for one, start, blocks in zip(series, start_s, delays or [None] * len(series), strict=True):
        inside = _phase_bins(one, start, together_s, phases)
        rows = [_metrics(one, each, nominal_rate_bps, blocks) for each in inside]
        metrics.append(
            {phase: dict(zip(METRICS, plain(row), strict=True)) for phase, row in zip(phases.names, rows, strict=True)}
        )
    return metrics


def shared_end_s(series: Sequence[FlowSeries], start_s: Sequence[float]) -> float:
    """Return when the first of a run's flows ends, in seconds from the run's zero: steady state is counted back from there, so that
    it covers the same seconds for all. If a flow begins later than that, the flows never met, and the run's end counts."""
    ends = [start + one.bins for one, start in zip(series, start_s, strict=True)]
    if not ends:
        return 0.0
    return min(ends) if min(ends) > max(start_s) else max(ends)


def _phase_bins(one: FlowSeries, start_s: float, together_s: float, phases: Phases) -> Sequence[NDArray[np.bool_]]:
    """Return a mask of bins for each phase: those whose middle lies in it."""
    middle_s = start_s + np.arange(one.bins) + 0.5
    is_steady = (middle_s >= together_s - phases.steady_s) & (middle_s < together_s)
    windows = [(middle_s >= window.from_s) & (middle_s < window.to_s) for window in phases.windows]
    return middle_s < phases.startup_s, is_steady, np.ones(one.bins, bool), *windows


def _metrics(
    one: FlowSeries, inside: NDArray[np.bool_], nominal_rate_bps: float, blocks: FlowDelays | None
) -> list[float]:
    """Rates and shares are of what was counted in the phase; the rest are means of its seconds, missing ones left out."""
    counted = dict(zip(COUNTED, one.counted[:, inside], strict=True))
    values = {name: _mean(one.column(name)[inside]) for name in QUANTITIES}
    values |= {name: _rate_bps(counted[source], one.length_s[inside]) for name, source in RATES.items()}
    sent, again = counted["sent_bytes"], counted["retransmitted_bytes"]
    values["retransmission_percent"] = 100 * float(divide(_sum(again), _sum(sent)))
    values["probe_loss_percent"] = 100 * float(divide(_sum(counted["probes_lost"]), _sum(counted["probes_sent"])))
    values["probe_rtt_p95_ms"] = _percentile_95(one, inside)
    values |= dict.fromkeys(PHASE_METRICS, math.nan) if blocks is None else blocks.of_phase(inside)
    values["utilisation_ratio"] = values["throughput_bps"] / nominal_rate_bps
    return [values[name] for name in METRICS]


def _percentile_95(one: FlowSeries, inside: NDArray[np.bool_]) -> float:
    """Return the 95th percentile, in ms, of the round-trip times that began in the phase's seconds."""
    if one.rtts is None:
        return math.nan
    places = one.rtts.at_s.astype(np.intp)
    rtts_ms = one.rtts.rtt_ms[np.isin(places, np.flatnonzero(inside))]
    return float(np.percentile(rtts_ms, 95)) if len(rtts_ms) else math.nan


def _mean(values: Floats) -> float:
    present = values[~np.isnan(values)]
    return float(present.mean()) if len(present) else math.nan


def _sum(values: Floats) -> Floats:
    """The sum of what is known; missing when nothing is."""
    is_known = ~np.isnan(values)
    return np.asarray(values[is_known].sum() if is_known.any() else np.nan)


def _rate_bps(rise_bytes: Floats, length_s: Floats) -> float:
    is_known = ~np.isnan(rise_bytes)
    return 8 * float(divide(_sum(rise_bytes), np.asarray(length_s[is_known].sum())))


def rate_or_nan(nominal_rate_bps: float | None) -> float:
    """A rate to divide by; of a link that nobody knows it makes the utilisation missing."""
    return math.nan if nominal_rate_bps is None else float(nominal_rate_bps)
