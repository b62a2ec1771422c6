"""All detectors with their usual parameters, side by side on one trace."""

from __future__ import annotations

from collections.abc import Iterator

from downlink.analysis.exits.best import judge_best
from downlink.analysis.exits.hystart import DELAY, TRAIN, HyStart, Kernel, judge_hystart
from downlink.analysis.exits.hystartpp import judge_hystartpp
from downlink.analysis.exits.meansd import judge_meansd
from downlink.analysis.exits.observation import judge_first_loss, judge_observed_exit
from downlink.analysis.exits.search import judge_search_31, judge_search_40
from downlink.analysis.exits.sliding import SlidingCurves, judge_search_10
from downlink.analysis.exits.trace import AckTrace
from downlink.analysis.exits.verdict import Verdict


def judge_all(trace: AckTrace, curves: SlidingCurves | None = None) -> Iterator[Verdict]:
    """Yield what happened, then the decision of each detector. Every detector has a verdict.

    curves: SEARCH 1.0's, where they are known already.
    """
    yield judge_observed_exit(trace)
    yield judge_first_loss(trace)
    yield judge_search_10(trace, curves=curves)
    yield judge_search_31(trace)
    yield judge_search_40(trace)
    for kernel in (Kernel.V6, Kernel.V5_10, Kernel.UP_TO_5_4):
        for detect in (TRAIN | DELAY, TRAIN, DELAY):
            yield judge_hystart(trace, HyStart(kernel, detect))
    yield judge_hystartpp(trace)
    yield judge_meansd(trace)
    yield judge_best(trace)
