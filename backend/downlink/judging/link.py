"""Activity of an emulated link in each phase of a run, and its losses of each flow; nothing for a run without a log of its link."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from downlink.analysis.linkphases import Window, flow_losses, link_phases, phase_windows
from downlink.analysis.phases import shared_end_s
from downlink.domain.results.metric import LINKED, LOST
from downlink.domain.runs.outcome import LinkOutcome
from downlink.judging.judge import Cells, Judge, Own, Row, Rows
from downlink.judging.traces import RunTrace
from downlink.storage.tables import FlowLoss, LinkPhase, RunFlow


def link_rows(run: RunTrace) -> Rows:
    return {LinkPhase: _phases(run), FlowLoss: _losses(run)}


def _phases(run: RunTrace) -> list[Row]:
    if not run.link:
        return []
    phases = link_phases(run.link, _windows(run), run.zero_us)
    return [{"phase": phase, **values} for phase, values in phases.items()]


def _windows(run: RunTrace) -> Mapping[str, Window]:
    """The seconds that the flows' own phases have."""
    series, starts = [each.series for each in run.judged], [each.flow.start_s for each in run.judged]
    end_s = max((start + one.bins for one, start in zip(series, starts, strict=True)), default=0.0)
    return phase_windows(run.phases, shared_end_s(series, starts), end_s)


def counted_flows(outcome: LinkOutcome, flows: Iterable[RunFlow]) -> Collection[int]:
    """Return the flows whose packets the link counted separately. Agents that do not report them counted flows to its first receiver;
    of those over relays they missed losses before the first one."""
    if outcome.counted_flows is not None:
        return outcome.counted_flows
    return [flow.flow for flow in flows if flow.receiver_number == 1 and not flow.relays]


def _losses(run: RunTrace) -> list[Row]:
    """A log that breaks off has not counted everything."""
    outcome = run.run.link_outcome
    if outcome is None or outcome.losses is None or outcome.detail:
        return []
    flows = [each.flow for each in run.flows]
    losses = flow_losses(outcome.losses, [flow.flow for flow in flows], counted_flows(outcome, flows))
    return [{"flow": flow, **values} for flow, values in losses.items()]


def run_cells(own: Own) -> Cells:
    """Every phase, or one line that says that there is no log."""
    no_losses = (None,) * len(LOST)
    for row in own[LinkPhase]:
        yield (True, row.phase, *(getattr(row, name) for name in LINKED), *no_losses)
    if not own[LinkPhase]:
        yield (False, None, *(None for _ in LINKED), *no_losses)


def flow_cells(_flow: RunFlow, own: Own) -> Cells:
    for row in own[FlowLoss]:
        yield (True, "overall", *(None for _ in LINKED), *(getattr(row, name) for name in LOST))


LINK = Judge(
    name="link",
    tables=(LinkPhase, FlowLoss),
    columns=(),
    find=link_rows,
    header=("is_logged", "phase", *LINKED, *LOST),
    cells=flow_cells,
    run_cells=run_cells,
)
