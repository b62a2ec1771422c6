"""Numbers that no host can have seen are refused with field, value and bound, and none of them overflows on the way."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from downlink.analysis.series import sender_series
from downlink.domain.errors import InvalidError
from downlink.domain.traces.sample import fields
from downlink.importers.files import import_file, traces_in
from downlink.importers.model import UnreadableError
from downlink.importers.value_checks import checked_columns

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def iperf3(**changes: Any) -> bytes:
    stream = {"socket": 5, "start": 0, "end": 1.0, "bytes": 1_000, "sender": True, "snd_cwnd": 14_480, "rtt": 5}
    start = {"timestamp": {"timesecs": changes.pop("timesecs", 1_700_000_000)}, "test_start": {"protocol": "TCP"}}
    start["tcp_mss_default"] = changes.pop("mss", 1_448)
    stream["bytes"] = changes.pop("first_bytes", 1_000)
    later = {**stream, "bytes": 1_000, "start": 1.0, "end": 2.0} | changes
    return json.dumps({"start": start, "intervals": [{"streams": [stream]}, {"streams": [later]}], "end": {}}).encode()


def ndt7(**changes: Any) -> bytes:
    infos = [{"TCPInfo": {"ElapsedTime": at, "BytesAcked": at, "SndMSS": 1_000} | changes} for at in (500, 1_000)]
    return json.dumps({"StartTime": "2024-05-01T10:00:00Z", "Download": {"ServerMeasurements": infos}}).encode()


def acks(**changes: Any) -> bytes:
    row = {
        "now_us": 9,
        "bytes_acked": 2_000,
        "mss": 1_000,
        "rtt_us": 5,
        "snd_nxt": 9,
        "sk_pacing_rate": 5,
        "snd_cwnd": 9,
    }
    lines = [row | {"now_us": 0, "bytes_acked": 1_000}, row | changes]
    return "\n".join([",".join(row), *(",".join(map(str, line.values())) for line in lines)]).encode()


def tcp_info(offset: int, packed: bytes) -> bytes:
    raw = bytearray(232)
    raw[offset : offset + len(packed)] = packed
    encoded = base64.b64encode(bytes(raw)).decode()
    return b"\n".join(
        json.dumps({"Timestamp": f"2026-01-01T00:00:0{n}Z", "RawIDM": "", "Attributes": [None, None, encoded]}).encode()
        for n in (1, 2)
    )


def flent(val: float, t: float = 1_001.0) -> bytes:
    raw = {"TCP upload": [{"t": 1_000.0, "val": 1.0, "dur": 1.0}, {"t": t, "val": val, "dur": 1.0}]}
    return json.dumps({"x_values": [], "results": {}, "metadata": {}, "raw_values": raw}).encode()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (iperf3(bytes=10**15), "app_bytes rises by 1000000000000000 within 1 s at sample 2; .*more than 125000000000 in a second"),
        (iperf3(first_bytes=10**15), "app_bytes rises by 1000000000000000 within 1 s at sample 1; .*more than 125000000000 in a second"),
        (ndt7(BytesAcked=10**15), "acked_bytes rises by 1000000000000000 within 0.0005 s at sample 1"),
        (iperf3(bytes=2**60), "app_bytes is 1152921504606847976 at sample 2; it must lie between 0 and 100000000000000000"),
        (iperf3(bytes=2**61), "values of bytes add up to more than can be counted"),
        (iperf3(mss=2**40), "snd_mss_bytes is 1099511627776 at sample 1; it must lie between 0 and 65535"),
        (iperf3(snd_cwnd=-14_480), "cwnd_segments is -10 at sample 2; it must lie between 0 and 2147483647"),
        (iperf3(rtt=10**14), "rtt_us is 100000000000000 at sample 2; it must lie between 0 and 600000000"),
        (iperf3(end=2**60), "spans more than a week"),
        (iperf3(end=10**7), "spans more than a week"),
        (ndt7(SndMSS=2**40), "snd_mss_bytes is 1099511627776 at sample 1; it must lie between 0 and 65535"),
        (ndt7(SndMSS=-1), "snd_mss_bytes is -1 at sample 1"),
        (ndt7(PacingRate=2**61), "pacing_rate_bps is 4611686018427387904 at sample 1; .* -1 and 1000000000000000"),
        (ndt7(SndCwnd=-3), "cwnd_segments is -3 at sample 1"),
        (acks(mss=2**40), "snd_mss_bytes is 1099511627776 at sample 2; it must lie between 0 and 65535"),
        (acks(mss=2**61), "snd_mss_bytes is 2305843009213693952 at sample 2"),
        (acks(bytes_acked=10**15), "acked_bytes rises by 999999999999000 within 9e-06 s at sample 2"),
        (acks(rtt_us=700_000_000), "ack_rtt_us is 700000000 at sample 2; it must lie between -1 and 600000000"),
        (acks(now_us=2**61), "elapsed_us is 2305843009213693952 at sample 2"),
        (tcp_info(16, struct.pack("<I", 2**31)), "snd_mss_bytes is 2147483648 at sample 1"),
        (tcp_info(120, struct.pack("<q", -(2**62))), "acked_bytes is -4611686018427387904 at sample 1"),
        (flent(1e10), "app_bytes rises by"),
        (flent(2.0**61), "val of TCP upload add up to more than can be counted"),
        (flent(1.0, t=2.0**60), "spans more than a week"),
    ],
)  # fmt: skip
def test_a_number_beyond_its_bound_is_refused_with_field_value_and_bound(content: bytes, why: str) -> None:
    with pytest.raises(InvalidError, match=why) as caught:
        import_file("odd", content)
    assert caught.value.code == "import_refused"


def test_numbers_in_their_bounds_are_read() -> None:
    assert import_file("x", iperf3(bytes=125_000_000_000)).flows[0].columns["app_bytes"][-1] == 125_000_001_000
    assert import_file("x", acks(mss=65_535, rtt_us=600_000_000)).flows[0].samples == 2


@pytest.mark.parametrize(
    ("seconds", "is_unknown"),
    [
        (datetime(2000, 1, 1, tzinfo=UTC).timestamp(), False),
        ((NOW + timedelta(days=1)).timestamp(), False),
        ((NOW + timedelta(days=1, seconds=1)).timestamp(), True),
        (2**32, True),
    ],
)
def test_a_start_that_lies_further_ahead_than_a_day_is_unknown_and_named(seconds: float, is_unknown: bool) -> None:
    trace = import_file("x", iperf3(timesecs=seconds), NOW)
    said = [str(each) for each in trace.content.left_out if each.place == "its start"]
    if is_unknown:
        assert trace.started_at is None
        assert re.match(r"its start: 2.* UTC; it must lie between 2000-01-01 and 2026-03-02", said[0])
        assert said[0].endswith("; say with --start when the test began")
    else:
        assert (trace.started_at, said) == (datetime.fromtimestamp(seconds, UTC), [])


@pytest.mark.parametrize("seconds", [73, 1, datetime(1999, 12, 31, tzinfo=UTC).timestamp()])
def test_the_start_by_a_clock_that_was_never_set_is_unknown(seconds: float) -> None:
    """A router or a single-board computer before NTP counts from 1970."""
    assert import_file("x", iperf3(timesecs=seconds), NOW).started_at is None


@pytest.mark.parametrize("seconds", [-5, 0, 99_999_999_999_999, 1e300, "x", True, [1]])
def test_a_start_that_is_no_moment_is_unknown_and_named(seconds: Any) -> None:
    trace = import_file("x", iperf3(timesecs=seconds), NOW)
    assert trace.started_at is None
    (said,) = (str(each) for each in trace.content.left_out if each.place == "its start")
    assert said.startswith("its start: start.timestamp.timesecs is ")
    assert said.endswith("; say with --start when the test began")
    (refusal,) = traces_in("x", iperf3(timesecs=seconds), NOW, is_strict=True)
    assert isinstance(refusal, InvalidError)


def test_a_test_that_does_not_say_when_it_started_is_read() -> None:
    assert import_file("x", iperf3(timesecs=None), NOW).started_at is None


BOUNDED = [field for field in fields().values() if field.most is not None and field.name != "elapsed_us"]


@pytest.mark.parametrize("field", BOUNDED, ids=lambda field: field.name)
def test_each_field_is_bounded_on_both_sides(field: Any) -> None:
    def read(value: int) -> Callable[[], object]:
        column = np.array([value, value], np.int64)
        return lambda: checked_columns({"elapsed_us": np.array([0, 1_000_000]), field.name: column})

    read(field.least)()
    read(field.most)()
    for beyond in (field.least - 1, field.most + 1):
        with pytest.raises(UnreadableError, match=f"{field.name} is {beyond} at sample 1"):
            read(beyond)()


def test_the_largest_windows_and_segments_make_no_negative_rate() -> None:
    most = {name: fields()[name].most or 0 for name in ("snd_mss_bytes", "delivered_segments", "cwnd_segments")}
    columns = {name: np.array([0, value], np.int64) for name, value in most.items()}
    columns["snd_mss_bytes"][:] = (1, most["snd_mss_bytes"])
    values = sender_series({"elapsed_us": np.array([0, 1_000_000]), **columns}, 0).values
    assert np.nanmin(values) >= 0
    assert np.nanmax(values) > 1e15


def test_only_bounds_that_can_be_met_are_listed() -> None:
    for field in fields().values():
        assert (field.least is None) == (field.most is None)
        assert field.most_per_s is None or field.kind == "counter"
