"""Hops of a flow over relays: what is drawn adds up to what was counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from downlink.analysis.hops import MOST_STEPS, HopTotals, flow_hops

Ints = NDArray[np.int64]
RATE_BYTES_S = 2_500_000


def trace(seconds: float, lost_a_second: int = 0, from_s: float = 0.0, **more: Any) -> dict[str, Ints]:
    """A relay's or an end's samples each 10 ms, at a steady rate from a moment on."""
    t_us = np.arange(0, round(seconds * 1e6) + 1, 10_000, dtype=np.int64)
    flown_us = np.maximum(0, t_us - round(from_s * 1e6))
    carried = flown_us * RATE_BYTES_S // 10**6
    return {
        "elapsed_us": t_us, "arrived_bytes": carried, "sent_bytes": carried, "retransmitted_bytes": carried // 50,
        "hop_lost_packets": flown_us * lost_a_second // 10**6, "asked_rate_bps": np.full_like(t_us, 20_000_000),
        "backlog_bytes": np.full_like(t_us, 30_000), "hop_rtt_us": np.where(flown_us > 0, 40_000, 0),
        "hop_queue_us": np.full_like(t_us, 5_000), **more,
    }  # fmt: skip


def test_each_hop_is_seen_from_both_of_its_ends() -> None:
    sender = {name: values for name, values in trace(10).items() if not name.startswith(("hop_", "arrived", "asked"))}
    relay, receiver = trace(10, lost_a_second=3), trace(10, lost_a_second=7)
    found = flow_hops((sender, relay, receiver), {})
    assert found.time_s[:3] == [0.0, 0.2, 0.4]
    assert found.end_s == 10.0
    first, last = found.hops
    assert (first.place, last.place) == (1, 2)
    assert first.arrived_bps == pytest.approx([8 * RATE_BYTES_S] * 50)
    assert (first.asked_bps or [])[0] == 20e6
    assert (first.totals.lost_packets, last.totals.lost_packets) == (30, 70)
    assert sum(each or 0 for each in last.lost_packets or []) == pytest.approx(70)
    assert first.queue_ms == [5.0] * 50
    assert first.rtt_ms == [40.0] * 50
    assert last.backlog_bytes == [30_000.0] * 50
    assert first.totals.sent_bytes == 10 * RATE_BYTES_S


def test_a_round_trip_that_is_not_measured_yet_counts_for_nothing() -> None:
    found = flow_hops(({}, trace(2, from_s=1.0), trace(2)), {})
    rtt_ms = found.hops[0].rtt_ms or []
    assert rtt_ms[:5] == [None] * 5
    assert rtt_ms[-1] == 40.0


def test_what_nobody_recorded_is_none() -> None:
    """Split TCP: a relay's connection upstream has no rate that it asks for, and counts no losses."""
    split = {name: trace(5)[name] for name in ("elapsed_us", "sent_bytes", "retransmitted_bytes", "backlog_bytes")}
    split |= {"received_bytes": trace(5)["arrived_bytes"], "rtt_us": np.full(501, 60_000)}
    found = flow_hops((split, split, split), {})
    hop = found.hops[0]
    assert (hop.asked_bps, hop.lost_packets, hop.queue_ms, hop.totals.lost_packets) == (None, None, None, None)
    assert hop.rtt_ms == [60.0] * 25
    assert hop.arrived_bps == pytest.approx([8 * RATE_BYTES_S] * 25)


def test_a_relay_that_ends_early_is_unknown_from_then_on() -> None:
    found = flow_hops((trace(10), trace(4), trace(10)), {})
    arrived = found.hops[0].arrived_bps or []
    assert arrived[19] == pytest.approx(8 * RATE_BYTES_S)
    assert arrived[25] is None


@pytest.mark.parametrize(("seconds", "step_s"), [(1, 0.2), (60, 0.2), (61, 0.5), (600, 2), (86_400, 300)])
def test_a_step_is_as_short_as_the_number_of_steps_allows(seconds: float, step_s: float) -> None:
    one = {"elapsed_us": np.array([0, round(seconds * 1e6)], np.int64)}
    found = flow_hops((one, one), {})
    assert found.time_s[1] - found.time_s[0] == pytest.approx(step_s)
    assert len(found.time_s) <= MOST_STEPS


def sites(rows: list[tuple[int, int, int]], amount: int = 1_000) -> dict[str, Ints]:
    """Rows of time in us, place and node; each adds the same amount."""
    time_us, place, node = (np.array(each, np.int64) for each in zip(*rows, strict=True))
    flat = np.full(len(rows), amount, np.int64)
    return {
        "elapsed_us": time_us, "site_place": place, "site_node": node, "site_arrived_bytes": flat, "site_sent_bytes": flat * 2,
        "site_repaired_bytes": flat // 10, "site_lost_packets": place, "site_hit_bytes": flat * 0, "site_asked_bps": flat * place,
        "site_granted_bps": flat, "site_backlog_bytes": place * 10, "site_rtt_us": place * 1_000, "site_queue_us": flat,
    }  # fmt: skip


def test_satellites_are_told_apart_while_the_way_changes_its_length() -> None:
    """Two sites for a second, then three, of which the second is another satellite."""
    rows = [(100_000 * t + p, p, 10 + p) for t in range(1, 11) for p in (1, 2)]
    rows += [(100_000 * t + p, p, {1: 11, 2: 20, 3: 12}[p]) for t in range(11, 21) for p in (1, 2, 3)]
    found = flow_hops((trace(2), {}, trace(2)), sites(rows))
    assert [hop.place for hop in found.hops] == [1, 2, 3, None]
    second, third, last = found.hops[1:]
    assert (second.nodes or [])[:5] == [12] * 5
    assert (second.nodes or [])[6:10] == [20] * 4
    assert (third.nodes or [])[:5] == [None] * 5
    # The last hop begins at site 2, later at site 3; hop 3 begins at site 2 once there is a site 3.
    assert (last.backlog_bytes or [])[:5] == [20.0] * 5
    assert (last.backlog_bytes or [])[6:10] == [30.0] * 4
    assert (third.backlog_bytes or [])[6:10] == [20.0] * 4
    assert second.totals == HopTotals(
        sent_bytes=40_000, arrived_bytes=20_000, lost_packets=40, repaired_bytes=2_000, hit_bytes=0
    )
    assert third.totals.sent_bytes == 20_000
    assert last.totals.sent_bytes == 40_000


def test_the_last_row_of_a_satellite_that_has_left_counts_for_the_place_that_it_had() -> None:
    """Both sites are followed by others after a second; at the next moment there is a row of each of the four."""
    places = {t: (1, 1, 2, 2) if t == 11 else (1, 2) for t in range(1, 21)}
    rows = [
        (100_000 * t + i, p, p if t <= 10 or (t == 11 and i % 2 == 0) else 10 + p)
        for t in places
        for i, p in enumerate(places[t])
    ]
    found = flow_hops((trace(2), {}, trace(2)), sites(rows))
    assert [hop.place for hop in found.hops] == [1, 2, None]
    first, second, last = found.hops
    assert [hop.totals.arrived_bytes for hop in (first, second)] == [21_000, 21_000]
    assert (second.totals.sent_bytes, last.totals.sent_bytes) == (42_000, 42_000)
    assert (first.nodes or [])[4:7] == [1, 11, 11]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=80), st.integers(1, 10**6))
def test_what_the_sites_sent_is_what_the_hops_carried(lengths: list[int], amount: int) -> None:
    """However the way changes, each row of a site is on one hop downstream and one upstream."""
    rows = [(100_000 * t + p, p, p) for t, length in enumerate(lengths) for p in range(1, length + 1)]
    table = sites(rows, amount)
    found = flow_hops((trace(1), {}, trace(1)), table)
    inner = [hop for hop in found.hops if hop.place is not None]
    assert sum(hop.totals.arrived_bytes or 0 for hop in inner) == table["site_arrived_bytes"].sum()
    assert sum(hop.totals.sent_bytes or 0 for hop in found.hops[1:]) == table["site_sent_bytes"].sum()
    lost = [each or 0 for hop in inner for each in hop.lost_packets or []]
    assert sum(lost) == table["site_lost_packets"].sum()


def test_a_further_receivers_flow_ends_at_its_own_site_and_not_at_the_last_one() -> None:
    """A receiver at half of 14 sites: the eighth sends to it, and nothing comes to those behind."""
    table = sites([(100_000 * t + p, p, 10 + p) for t in range(1, 21) for p in range(1, 15)])
    is_behind = table["site_place"] > 8
    amounts = (
        "site_arrived_bytes",
        "site_sent_bytes",
        "site_repaired_bytes",
        "site_lost_packets",
        "site_backlog_bytes",
    )
    table |= {name: np.where(is_behind, 0, table[name]) for name in amounts}
    receiver = trace(2, lost_a_second=4)
    found = flow_hops((trace(2), {}, receiver), table, is_further=True)
    assert [hop.place for hop in found.hops] == [*range(1, 9), None]
    assert [hop.totals.arrived_bytes for hop in found.hops] == [20_000] * 8 + [2 * RATE_BYTES_S]
    last = found.hops[-1]
    assert (last.totals.lost_packets, last.totals.sent_bytes, last.backlog_bytes) == (8, None, None)
    assert (last.rtt_ms or [])[:10] == [40.0] * 10


def test_of_a_content_that_others_take_further_the_sites_behind_stay_and_the_own_hop_is_the_receivers() -> None:
    table = sites([(100_000 * t + p, p, 10 + p) for t in range(1, 21) for p in range(1, 15)])
    found = flow_hops((trace(2), {}, trace(2)), table, is_further=True)
    assert [hop.place for hop in found.hops] == [*range(1, 15), None]
    assert (found.hops[-1].totals.sent_bytes, found.hops[-1].totals.repaired_bytes) == (None, None)
