"""The distribution of a rate over the seconds of many flows: exact, of the seconds themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from downlink.analysis.binning import Floats
from downlink.domain.doc import Doc
from downlink.domain.results.blockdelay import Rate


@dataclass(frozen=True)
class RateSeconds:
    """One rate over all whole seconds of the runs that have it. Quantiles are the seconds' own."""

    metric: Rate
    runs: Annotated[int, Doc("Those that have it")]
    n: Annotated[int, Doc("Their whole seconds; one in which nothing came counts as 0")]
    unknown: Annotated[
        int, Doc("Seconds of which it is not known (gaps in the telemetry, files of other tools), which are left out")
    ]
    mean_bps: float | None
    p5_bps: float | None
    median_bps: float | None
    p95_bps: float | None
    quantiles_bps: Annotated[list[float], Doc("At each of shares; empty where no second is known")]


def rate_seconds(metric: Rate, series: Sequence[Floats], shares: Sequence[float]) -> RateSeconds:
    """series: of each flow, its seconds (bins,), NaN where unknown. shares: from 0 to 1."""
    known = [each[~np.isnan(each)] for each in series]
    pooled = np.sort(np.concatenate([*known, np.zeros(0)]))
    unknown = sum(map(len, series)) - len(pooled)
    if not len(pooled):
        return RateSeconds(metric, 0, 0, unknown, None, None, None, None, [])
    p5, median, p95 = _quantiles(pooled, (0.05, 0.5, 0.95))
    return RateSeconds(
        metric=metric,
        runs=sum(len(each) > 0 for each in known),
        n=len(pooled),
        unknown=unknown,
        mean_bps=float(pooled.mean()),
        p5_bps=p5,
        median_bps=median,
        p95_bps=p95,
        quantiles_bps=_quantiles(pooled, shares),
    )


def _quantiles(values: Floats, shares: Sequence[float]) -> list[float]:
    """The smallest value that so many are not above: one that was measured."""
    return [float(each) for each in np.quantile(values, shares, method="inverted_cdf")]
