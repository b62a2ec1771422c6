"""Per-ACK CSV: columns by header, clocks and sequence numbers of 32 bits."""

from __future__ import annotations

import gzip
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.analysis.exits.panel import judge_all
from downlink.analysis.exits.trace import AckTrace, trace_from_fields
from downlink.domain.errors import InvalidError
from downlink.importers import ack_table
from downlink.importers.ack_csv import unwrapped
from downlink.importers.files import import_file
from downlink.importers.model import ImportedFlow, SourceKind
from tests.fixtures.exit_traces import random_trace

WRAP = 2**32


def csv_of(rows: dict[str, Any]) -> bytes:
    lines = [",".join(rows), *(",".join(str(value) for value in row) for row in zip(*rows.values(), strict=True))]
    return "\n".join(lines).encode() + b"\n"


def table(**changes: Any) -> dict[str, Any]:
    rows = {
        "now_us": [0, 100, 250],
        "bytes_acked": [1_000, 2_000, 4_000],
        "mss": [1_000] * 3,
        "rtt_us": [50_000, 50_100, 50_200],
        "tp_delivered": [2, 3, 5],
        "lost_pkt": [0, 0, 1],
        "total_retrans_pkt": [0, 0, 1],
        "snd_nxt": [11_000, 13_000, 15_000],
        "snd_una": [2_000, 3_000, 5_000],
        "sk_pacing_rate": [125, 250, WRAP - 1],
    }
    return {name: value for name, value in (rows | changes).items() if value is not None}


def flow_of(rows: dict[str, Any]) -> ImportedFlow:
    return import_file("x.csv", csv_of(rows)).flows[0]


def test_columns_are_found_by_name_whatever_their_order() -> None:
    straight, turned = flow_of(table()), flow_of(dict(reversed(table().items())))
    assert straight.is_per_ack
    for name, column in straight.columns.items():
        assert turned.columns[name].tolist() == column.tolist()
    assert straight.columns["pacing_rate_bps"].tolist() == [1_000, 2_000, -1]
    assert straight.columns["lost_total_segments"].tolist() == [0, 0, 1]
    assert next(iter(straight.columns)) == "elapsed_us"


def test_sent_bytes_count_from_the_flow_s_first_byte() -> None:
    # snd_una 2,000 with 1,000 acknowledged: the flow began at 1,000.
    assert flow_of(table()).columns["snd_nxt_bytes"].tolist() == [10_000, 12_000, 14_000]
    # Without snd_una ten segments are taken to be out at the first ACK.
    assert flow_of(table(snd_una=None)).columns["snd_nxt_bytes"].tolist() == [10_000, 12_000, 14_000]
    assert "snd_nxt_bytes" not in flow_of(table(snd_nxt=None)).columns


def test_a_further_column_with_holes_is_left_out_and_named() -> None:
    rows = table(snd_cwnd=["", 11, ""], lost_pkt=["", "", ""], tp_delivered=["nan", 1, 2])
    trace = import_file("x.csv", csv_of(rows).replace(b"\n", b"\r\n"))
    assert "cwnd_segments" not in trace.flows[0].columns
    assert trace.metadata["left_out"] == ["tp_delivered", "lost_pkt", "snd_cwnd"]
    assert trace.flows[0].columns["acked_bytes"].tolist() == [1_000, 2_000, 4_000]


def test_an_unsigned_minus_one_is_no_rtt_sample() -> None:
    assert flow_of(table(rtt_us=[50_000, WRAP - 1, -1])).columns["ack_rtt_us"].tolist() == [50_000, -1, -1]


def test_windows_may_be_written_as_decimals() -> None:
    assert flow_of(table(snd_cwnd=["10.0", "11.000000", "1.2e1"])).columns["cwnd_segments"].tolist() == [10, 11, 12]


@given(st.lists(st.integers(0, 2**30), min_size=1, max_size=30), st.integers(0, WRAP - 1))
def test_unwrapping_gives_back_what_grew(steps: list[int], start: int) -> None:
    grown = np.concatenate(([0], np.cumsum(np.array(steps, dtype=np.int64))))
    assert unwrapped((start + grown) % WRAP).tolist() == grown.tolist()


def as_csv(trace: AckTrace, clock_start: int, first_sequence: int) -> bytes:
    assert trace.snd_nxt_bytes is not None
    assert trace.pacing_rate_bps is not None
    una = first_sequence + trace.acked_bytes
    return csv_of(
        {
            "now_us": (clock_start + trace.time_us) % WRAP,
            "bytes_acked": trace.acked_bytes,
            "mss": trace.mss_bytes,
            "rtt_us": trace.rtt_us,
            "snd_nxt": (first_sequence + trace.snd_nxt_bytes) % WRAP,
            "snd_una": una % WRAP,
            "sk_pacing_rate": trace.pacing_rate_bps // 8,
        }
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_wrap_of_clock_and_sequence_changes_no_verdict(seed: int) -> None:
    trace = random_trace(seed)
    plain = import_file("a.csv", as_csv(trace, 0, 0)).flows[0]
    wrapping = import_file(
        "b.csv", as_csv(trace, WRAP - int(trace.time_us[200]), WRAP - int(trace.acked_bytes[100]))
    ).flows[0]
    verdicts = [list(judge_all(trace_from_fields(flow.columns, is_per_ack=True))) for flow in (plain, wrapping)]
    assert verdicts[0] == verdicts[1]
    assert any(verdict.exit_us is not None for verdict in verdicts[0])


def kernel_log() -> dict[str, Any]:
    return {
        "now_us": [0, 100, 250],
        "each_delv_MB": [1_000, 1_000, 2_000],
        "lost_pkt": [0, 0, 0],
        "cwnd_MB": [0.01, 0.011, 0.012],
        "ssthresh_pkt": [2_147_483_647, 2_147_483_647, 12],
        "rtt_us": [50_000, 50_100, 50_200],
        "total_delv_B": [1_000, 2_000, 4_000],
        "total_retrans_pkt": [0, 0, 0],
        "total_sent_B": [10_000, 12_000, 14_000],
        "cwnd_pkt": [10, 11, 12],
    }


def test_a_kernel_log_tells_windows_and_the_observed_exit() -> None:
    rows = kernel_log()
    flow = flow_of(rows)
    assert flow.columns["snd_mss_bytes"].tolist() == [1_000] * 3
    assert flow.columns["snd_nxt_bytes"].tolist() == [10_000, 12_000, 14_000]
    observed = next(judge_all(trace_from_fields(flow.columns, is_per_ack=True)))
    assert (observed.exit_us, observed.cwnd_segments) == (250, 12)
    with pytest.raises(InvalidError, match="mss"):
        flow_of(rows | {"cwnd_pkt": [0, 11, 12]})


def test_a_kernel_log_without_windows_in_segments_gives_the_same_windows_and_exits() -> None:
    trace = random_trace(3)
    assert trace.snd_nxt_bytes is not None
    mss = int(trace.mss_bytes[0])
    windows = 10 + (trace.snd_nxt_bytes - trace.acked_bytes) // mss
    rows = {
        "now_us": trace.time_us,
        "each_delv_MB": np.concatenate(([mss], np.diff(trace.acked_bytes))),
        "cwnd_MB": windows * mss / 1e6,
        "ssthresh_pkt": np.full(len(trace.time_us), 2_147_483_647),
        "rtt_us": trace.rtt_us,
        "total_delv_B": trace.acked_bytes,
        "total_sent_B": trace.snd_nxt_bytes,
        "cwnd_pkt": windows,
    }
    whole = flow_of(rows)
    short = flow_of({name: column for name, column in rows.items() if name != "cwnd_pkt"})
    for name, column in whole.columns.items():
        assert short.columns[name].tolist() == column.tolist(), name
    verdicts = [list(judge_all(trace_from_fields(flow.columns, is_per_ack=True))) for flow in (whole, short)]
    assert verdicts[0] == verdicts[1]


@pytest.mark.parametrize(
    ("left_out", "why"),
    [
        (("cwnd_pkt", "each_delv_MB"), "lacks the column cwnd_pkt or each_delv_MB"),
        (("cwnd_pkt", "total_sent_B"), "lacks the column total_sent_B"),
    ],
)
def test_a_kernel_log_that_lacks_a_column_is_refused_with_its_name(left_out: tuple[str, ...], why: str) -> None:
    rows = {name: column for name, column in kernel_log().items() if name not in left_out}
    with pytest.raises(InvalidError, match=why):
        flow_of(rows)


def test_a_segment_size_that_does_not_fit_the_windows_is_refused() -> None:
    rows = {name: column for name, column in kernel_log().items() if name != "cwnd_pkt"}
    with pytest.raises(InvalidError, match="not a whole number of segments of 1300 bytes"):
        flow_of(rows | {"each_delv_MB": [1_300, 1_000, 2_000]})


def test_gzip_is_read_as_it_comes() -> None:
    packed = gzip.compress(csv_of(table()))
    trace = import_file("x.csv.gz", packed)
    assert (trace.kind, trace.flows[0].samples) == (SourceKind.ACK_CSV, 3)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"now_us": [0, 200, 100]}, "time does not increase at sample 3"),
        ({"bytes_acked": [5, 4, 6]}, "bytes_acked falls at row 3"),
        ({"mss": [1_000, 0, 1_000]}, "mss"),
        ({"rtt_us": ["nan", "", "NA"]}, "column rtt_us holds no number"),
        ({"bytes_acked": ["", "NA", 2]}, "row 2 has no usable value in column bytes_acked"),
        ({"bytes_acked": [1, 2, "1e300"]}, "bytes_acked holds a value that is not a usable number"),
        ({"rtt_us": ["fast", "slow", 2]}, "row 2 holds 'fast', which is not a number"),
        ({"rtt_us": None}, "looks like a per-ACK log, but lacks the column rtt_us"),
        ({"lost_pkt": [-1, 0, 0]}, "lost_total_segments is negative"),
    ],
)
def test_impossible_columns_are_refused_by_name_and_reason(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidError, match=why) as caught:
        import_file("odd.csv", csv_of(table(**changes)))
    assert caught.value.code == "import_refused"
    assert caught.value.message.startswith("odd.csv is not imported: ")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            csv_of(table()).replace(b",50100", b"").replace(b",50200", b""),
            "row 3 has 9 values, and the header names 10 columns",
        ),
        (csv_of(table()).split(b"\n")[0] + b"\n", "a header and no rows"),
        (csv_of(table()).split(b"\n")[0] + b"\n# nothing\n# came\n", "a header and no rows"),
        (csv_of(table()).replace(b"tp_delivered", b"mss"), "appears twice"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_damaged_tables_are_refused_in_our_words(content: bytes, why: str) -> None:
    with pytest.raises(InvalidError, match=why):
        import_file("cut.csv", content)


def test_our_own_exported_traces_are_polls() -> None:
    flow = flow_of({"elapsed_us": [0, 10_000], "cwnd_segments": [10, 20], "acked_bytes": [0, 5], "rtt_us": [9, 9]})
    assert not flow.is_per_ack
    assert flow.columns["cwnd_segments"].tolist() == [10, 20]


def test_cells_and_the_longest_row_are_bounded_before_any_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = csv_of(table())
    longest = max(map(len, text.splitlines(keepends=True)))
    monkeypatch.setattr(ack_table, "MAX_CELLS", text.count(b","))
    monkeypatch.setattr(ack_table, "MAX_ROW_BYTES", longest)
    assert import_file("x.csv", text).flows
    monkeypatch.setattr(ack_table, "MAX_ROW_BYTES", longest - 1)
    with pytest.raises(InvalidError, match=f"a row is longer than {longest - 1} bytes"):
        import_file("x.csv", text)
    monkeypatch.setattr(ack_table, "MAX_CELLS", text.count(b",") - 1)
    with pytest.raises(InvalidError, match="cells"):
        import_file("x.csv", text)
