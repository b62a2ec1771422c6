"""What people watch of a running flow."""

from __future__ import annotations

from typing import Any

from downlink.domain.runs.live import LEAST_APART_S, live_flows, shown

OWN = frozenset({1, 2})


def look(flow: int, acked_bytes: int) -> dict[str, Any]:
    return {"flow": flow, "acked_bytes": acked_bytes, "rtt_us": 612_345, "cwnd_bytes": 6_000_000}


def test_a_rate_is_that_since_the_look_before() -> None:
    first = live_flows({}, 1.0, [look(1, 1_000_000)], OWN)
    assert first["1"]["throughput_bps"] is None, "one look says nothing of a rate"
    second = live_flows(first, 3.0, [look(1, 3_500_000)], OWN)
    assert second["1"] == {
        "flow": 1, "elapsed_s": 3.0, "acked_bytes": 3_500_000, "throughput_bps": 1e7, "rtt_ms": 612.345, "cwnd_bytes": 6_000_000,
        "heard_s": 3.0, "has_ended": False,
    }  # fmt: skip


def test_each_sender_speaks_of_its_own_flows_alone() -> None:
    first = live_flows({}, 1.0, [look(1, 5), look(3, 5)], OWN)
    both = live_flows(first, 1.1, [look(3, 7)], frozenset({3}))
    assert sorted(first) == ["1"]
    assert (both["1"], both["3"]["acked_bytes"]) == (first["1"], 7)


def test_what_comes_too_soon_is_passed_over_and_no_rate_is_negative() -> None:
    first = live_flows({}, 1.0, [look(1, 100)], OWN)
    soon = 1.0 + LEAST_APART_S / 2
    assert live_flows(first, soon, [look(1, 900)], OWN) == {"1": {**first["1"], "heard_s": soon}}
    assert live_flows(first, 1.0 + LEAST_APART_S, [look(1, 50)], OWN)["1"]["throughput_bps"] == 0


def test_pages_get_flows_in_order_without_the_counts() -> None:
    found = live_flows({}, 1.0, [look(10, 5), look(2, 7)], frozenset({2, 10}))
    assert [flow["flow"] for flow in shown(found)] == [2, 10]
    assert all("acked_bytes" not in flow and flow["rtt_ms"] == 612.345 for flow in shown(found))
