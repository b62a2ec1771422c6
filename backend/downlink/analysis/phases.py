"""Means over the phases of a run: start-up, steady state, overall. Phases lie on the run's clock, also for a later flow."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from downlink.analysis.intervals import plain
from downlink.analysis.series import QUANTITIES, FlowSeries
from downlink.domain.campaign import Phases

Floats = NDArray[np.float64]

PHASES = ("startup", "steady", "overall")
METRICS = (*QUANTITIES, "utilisation_ratio")


def stack_series(series: Sequence[FlowSeries]) -> Floats:
    """The series of many runs as one array (runs, quantities, bins); shorter ones are missing at their end."""
    longest = max((one.bins for one in series), default=0)
    stacked = np.full((len(series), len(QUANTITIES), longest), np.nan)
    for index, one in enumerate(series):
        stacked[index, :, : one.bins] = one.values
    return stacked


def run_length_s(series: Sequence[FlowSeries], start_s: Sequence[float]) -> float:
    """How long a run was: the latest end of its flows."""
    return max((start + one.bins for one, start in zip(series, start_s, strict=True)), default=0.0)


def phase_metrics(
    stacked: Floats, start_s: ArrayLike, run_s: ArrayLike, phases: Phases, nominal_rate_bps: ArrayLike
) -> Floats:
    """The METRICS of many flows in the PHASES: (flows, phases, metrics), missing where a phase has no value.

    stacked: (flows, quantities, bins). start_s, run_s, nominal_rate_bps: per flow, the flow's offset, its run's length
    and its link's rate. A metric is the mean of the bins whose middle lies in the phase.
    """
    start, length = (np.asarray(each, dtype=np.float64)[:, None] for each in (start_s, run_s))
    middle_s = start + np.arange(stacked.shape[2]) + 0.5
    in_phase = np.stack(
        [middle_s < phases.startup_s, middle_s >= length - phases.steady_s, middle_s < length], axis=1
    ).astype(np.float64)
    is_there = ~np.isnan(stacked)
    sums = in_phase @ np.where(is_there, stacked, 0).transpose(0, 2, 1)
    counts = in_phase @ is_there.transpose(0, 2, 1)
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    rate_bps = np.asarray(nominal_rate_bps, dtype=np.float64)[:, None]
    utilisation = means[:, :, QUANTITIES.index("throughput_bps")] / rate_bps
    return np.concatenate([means, utilisation[:, :, None]], axis=2)


def rate_or_nan(nominal_rate_bps: float | None) -> float:
    """A rate to divide by; of a link that nobody knows it makes the utilisation missing."""
    return math.nan if nominal_rate_bps is None else float(nominal_rate_bps)


def run_metrics(
    series: Sequence[FlowSeries], start_s: Sequence[float], phases: Phases, nominal_rate_bps: float
) -> list[dict[str, dict[str, float | None]]]:
    """The metrics of one run, to keep: for each flow {phase: {metric: value}}, null where missing."""
    run_s = run_length_s(series, start_s)
    many = len(series)
    found = phase_metrics(stack_series(series), start_s, [run_s] * many, phases, [nominal_rate_bps] * many)
    return [
        {phase: dict(zip(METRICS, plain(row), strict=True)) for phase, row in zip(PHASES, flow, strict=True)}
        for flow in found
    ]
