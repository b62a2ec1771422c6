"""Logs whose truth is known: what phases say of them adds up to what the log says as a whole."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.analysis.linklog import CAUSES
from downlink.analysis.linkphases import CONGESTION, MOVING, OTHER, flow_losses, link_phases, phase_windows
from downlink.domain.campaigns.campaign import Phases, Window
from downlink.domain.results.metric import LINKED, LOST
from downlink.domain.runs.outcome import LinkLoss, LinkOutcome
from downlink.domain.traces.sample import link_fields
from downlink.judging.link import counted_flows
from downlink.storage.tables import RunFlow

STEP_US = 10_000
LOSSES = tuple(f"{cause}_bytes" for cause in (*CONGESTION, *OTHER))
COUNTERS = {
    "offered_bytes": "received_bytes",
    "gap_s": "gap_us",
    "outage_s": "outage_us",
    **{name: name for name in LOSSES},
}
"""Quantities that are sums, and the log's counter of each."""


def log(rows: int, rate_bps: float = 8e6, **down: Any) -> dict[str, Any]:
    """A log of an idle link; 8 Mb/s are a byte a microsecond. down: columns of the way to the receiver."""
    flat = np.zeros(rows, dtype=np.int64)
    given = {f"down_{name}": flat + values for name, values in {"rate_bps": int(rate_bps), **down}.items()}
    elapsed_us = np.arange(rows, dtype=np.int64) * STEP_US
    return {**dict.fromkeys(link_fields(), flat), **given, "elapsed_us": elapsed_us}


def test_every_cause_is_of_one_kind() -> None:
    assert (*CONGESTION, *OTHER, MOVING, "thinned") == CAUSES


rises = st.lists(st.integers(0, 3_000), min_size=7, max_size=7)


@st.composite
def kept_logs(draw: st.DrawFn) -> dict[str, Any]:
    """A log that conserves bytes row by row: what came was lost by a cause, left, or is inside."""
    steps = np.array(draw(st.lists(rises, min_size=20, max_size=120)), dtype=np.int64)
    count = np.vstack([np.zeros(7, dtype=np.int64), np.cumsum(steps, axis=0)])
    lost = {f"{cause}_bytes": count[:, place] for place, cause in enumerate((*CONGESTION, *OTHER))}
    delivered, waiting = count[:, 5], np.concatenate(([0], steps[:, 6]))
    received = sum(lost.values()) + delivered + waiting
    gap_us = np.arange(len(count), dtype=np.int64) * draw(st.integers(0, 4_000))
    return log(
        len(count), draw(st.sampled_from((0.4e6, 8e6, 144e6))), received_bytes=received, delivered_bytes=delivered,
        queued_bytes=waiting, waiting_bytes=waiting, gap_us=gap_us, outage_us=gap_us // 2, **lost,
    )  # fmt: skip


@given(kept_logs(), st.lists(st.floats(0.0, 1.0), max_size=4))
def test_what_adjacent_windows_have_is_what_the_log_has(columns: dict[str, Any], inner: list[float]) -> None:
    end_s = columns["elapsed_us"][-1] / 1e6
    edges = sorted({0.0, end_s, *(share * end_s for share in inner)})
    windows = {f"w{place}": pair for place, pair in enumerate(pairwise(edges))}
    found = link_phases(columns, windows)
    whole = link_phases(columns, {"whole": (0.0, end_s)})["whole"]
    for name, counter in COUNTERS.items():
        column = columns[f"down_{counter}"]
        total = (column[-1] - column[0]) / (1e6 if name.endswith("_s") else 1)
        assert whole[name] == pytest.approx(total)
        assert sum(found[window][name] for window in windows) == pytest.approx(total)


@given(kept_logs())
def test_shares_of_arrivals_add_up_to_what_did_not_arrive(columns: dict[str, Any]) -> None:
    whole = link_phases(columns, {"whole": (0.0, columns["elapsed_us"][-1] / 1e6)})["whole"]
    arrived, lost = columns["down_received_bytes"][-1], sum(whole[name] for name in LOSSES)
    if not arrived:
        assert whole["congestion_loss_percent"] is None
        return
    assert whole["congestion_loss_percent"] + whole["link_loss_percent"] == pytest.approx(100 * lost / arrived)
    by_cause = sum(whole[f"{cause}_percent"] for cause in (*CONGESTION, *OTHER))
    assert by_cause == pytest.approx(100 * lost / arrived)
    assert lost + columns["down_delivered_bytes"][-1] + columns["down_queued_bytes"][-1] == pytest.approx(arrived)


@given(st.integers(0, 400_000), st.sampled_from((1e6, 8e6, 144e6)))
def test_a_constant_queue_waits_its_bytes_over_the_rate(waiting: int, rate_bps: float) -> None:
    found = link_phases(log(1_000, rate_bps, waiting_bytes=waiting), {"early": (0.0, 5.0)})["early"]
    wait_ms = 8e3 * waiting / rate_bps
    assert [found[f"waiting{level}_bytes"] for level in ("", "_p95", "_most")] == [waiting] * 3
    assert [found[f"queueing{level}_ms"] for level in ("", "_p95", "_most")] == pytest.approx([wait_ms] * 3, abs=1e-6)


def test_a_queue_at_its_largest_and_its_95th_percentile() -> None:
    waiting = np.where(np.arange(401) < 20, 100_000, np.where(np.arange(401) < 120, 10_000, 0))
    found = link_phases(log(401, waiting_bytes=waiting), {"first": (0.0, 2.0)})["first"]
    assert found["waiting_bytes"] == pytest.approx((20 * 100_000 + 100 * 10_000) / 200)
    assert (found["queueing_most_ms"], found["queueing_p95_ms"]) == (pytest.approx(100.0), pytest.approx(100.0))
    assert found["queueing_ms"] == pytest.approx(15.0)


@given(st.floats(0.0, 1.0), st.integers(0, 50))
def test_utilisation_is_what_was_sent_of_what_could_be_and_gaps_are_no_room(share: float, gap_rows: int) -> None:
    rate = np.where(np.arange(201) < gap_rows, 0, 8_000_000)
    room = np.concatenate(([0], np.cumsum(rate[:-1] * STEP_US // 8_000_000)))
    sent = np.floor(share * room).astype(np.int64)
    columns = {**log(201, received_bytes=sent, delivered_bytes=sent), "down_rate_bps": rate}
    found = link_phases(columns, {"all": (0.0, 2.0)})["all"]
    assert found["served_ratio"] == pytest.approx(share, abs=1e-5)


def test_what_the_hop_dropped_before_it_sent_is_not_served() -> None:
    arrived = np.arange(101, dtype=np.int64) * STEP_US
    columns = log(101, received_bytes=arrived, delivered_bytes=arrived // 2, queue_full_bytes=arrived // 2)
    found = link_phases(columns, {"all": (0.0, 1.0)})["all"]
    assert (found["served_ratio"], found["congestion_loss_percent"], found["link_loss_percent"]) == (0.5, 50.0, 0.0)
    assert found["offered_bytes"] == 1e6


@pytest.mark.parametrize(
    ("window", "is_known"),
    [((0.0, 1.0), True), ((0.0, 1.09), True), ((0.0, 1.2), False), ((0.5, 0.5), False), ((2.0, 3.0), False)],
)
def test_what_the_log_does_not_cover_is_missing_and_not_zero(window: tuple[float, float], *, is_known: bool) -> None:
    found = link_phases(log(101, received_bytes=np.arange(101)), {"w": window})["w"]
    assert set(found) == set(LINKED)
    assert (found["congestion_loss_percent"] == 0.0) is is_known
    if not is_known:
        assert set(found.values()) == {None}


def test_nothing_is_known_of_an_empty_log() -> None:
    assert set(link_phases(log(0), {"w": (0.0, 1.0)})["w"].values()) == {None}


def test_windows_count_from_the_flows_first_byte() -> None:
    waiting = np.where(np.arange(401) < 100, 0, 10_000)
    found = link_phases(log(401, waiting_bytes=waiting), {"first": (0.0, 1.0)}, zero_us=1_000_000)["first"]
    assert found["queueing_ms"] == pytest.approx(10.0)


def test_phases_lie_where_those_of_flows_do() -> None:
    phases = Phases(5.0, 10.0, (Window("middle", 8.0, 12.0), Window("late", 25.0, 40.0)))
    assert phase_windows(phases, 28.0, 30.0) == {
        "startup": (0.0, 5.0), "steady": (18.0, 28.0), "overall": (0.0, 30.0), "middle": (8.0, 12.0), "late": (25.0, 30.0),
    }  # fmt: skip
    assert phase_windows(Phases(5.0, 10.0), 3.0, 3.0) == {
        "startup": (0.0, 3.0),
        "steady": (0.0, 3.0),
        "overall": (0.0, 3.0),
    }


def loss(flow: int | None, cause: str, packets: int, way: str = "down") -> LinkLoss:
    return LinkLoss(flow=flow, way=way, cause=cause, packets=packets)


def test_each_flow_has_its_own_losses() -> None:
    lost = [
        loss(1, "queue_full", 30), loss(1, "early_drop", 10), loss(1, "random_loss", 10), loss(1, "thinned", 99, "up"),
        loss(2, "outage", 4), loss(2, "outage", 7, "up"), loss(None, "queue_full", 5),
    ]  # fmt: skip
    found = flow_losses(lost, [1, 2, 3], [1, 2, 3])
    assert set(found[1]) == set(LOST)
    assert (found[1]["lost_packets"], found[1]["congestion_share_percent"]) == (50.0, 80.0)
    assert (found[2]["outage_packets"], found[2]["congestion_share_percent"]) == (4.0, 0.0)
    assert (found[3]["lost_packets"], found[3]["congestion_share_percent"]) == (0.0, None)


def test_of_a_flow_that_the_link_did_not_count_nothing_is_known() -> None:
    lost = [loss(1, "queue_full", 30), loss(None, "random_loss", 4)]
    found = flow_losses(lost, [1, 2, 3, 4], [1, 3])
    assert found[2] == found[4] == dict.fromkeys(LOST)
    assert [found[flow]["lost_packets"] for flow in (1, 3)] == [30.0, 0.0]


def test_agents_from_before_counted_the_flows_to_the_first_receiver_without_relays() -> None:
    to = ((1, 1, []), (2, 2, []), (3, 1, ["relay"]), (4, 1, None))
    flows = [RunFlow(flow=flow, receiver_number=receiver, relays=relays) for flow, receiver, relays in to]
    assert list(counted_flows(LinkOutcome(), flows)) == [1, 4]
    assert list(counted_flows(LinkOutcome(counted_flows=[2]), flows)) == [2]
    assert list(counted_flows(LinkOutcome(counted_flows=[]), flows)) == []
