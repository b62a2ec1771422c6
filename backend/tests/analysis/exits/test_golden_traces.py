"""HyStart replayed over real flows, held against what the kernel that carried them did (tests/data/exits/README.md)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from downlink.analysis.exits.capacity import LinkRate
from downlink.analysis.exits.flow import judge_flow, plot_curves
from downlink.analysis.exits.hystart import HyStart, Kernel, judge_hystart
from downlink.analysis.exits.observation import judge_first_loss, judge_observed_exit
from downlink.analysis.exits.outcomes import Timing
from downlink.analysis.exits.trace import AckTrace, trace_from_fields
from downlink.analysis.series import sender_series
from downlink.codec.parquet import Columns, parquet_to_columns

DATA = Path(__file__).parents[2] / "data" / "exits"
LINKS = ("geo-viasat", "leo-starlink", "terrestrial")


@cache
def columns(link: str, hystart: str) -> Columns:
    return parquet_to_columns((DATA / f"{link}-{hystart}.parquet").read_bytes())


def recorded(link: str, hystart: str) -> AckTrace:
    return trace_from_fields(columns(link, hystart), is_per_ack=True, congestion_control="cubic")


@pytest.mark.parametrize(("link", "signal"), zip(LINKS, ("delay", "train", "train"), strict=True))
def test_the_replay_leaves_slow_start_at_the_ack_at_which_the_kernel_did(link: str, signal: str) -> None:
    trace = recorded(link, "on")
    observed, replayed = judge_observed_exit(trace), judge_hystart(trace, HyStart(Kernel.V6))
    assert observed.exit_us is not None
    assert (replayed.exit_us, replayed.cwnd_segments) == (observed.exit_us, observed.cwnd_segments)
    assert observed.quantities["ssthresh_segments"] == observed.cwnd_segments, "HyStart stops growth where it is"
    assert (replayed.quantities["signal"], replayed.cwnd_source) == (signal, "recorded")
    loss = judge_first_loss(trace).exit_us
    assert loss is None or loss > observed.exit_us


def test_hystart_over_geo_left_a_link_that_was_mostly_empty() -> None:
    """With 649 segments in a link that holds 144 Mb/s x 0.56 s, which the curve of SEARCH 1.0 calls full before that."""
    judged = judge_flow(recorded("geo-viasat", "on"), LinkRate(144e6, is_emulated=True))
    observed = judged.verdicts[0]
    assert (observed.detector, observed.cwnd_segments) == ("observed_exit", 649)
    assert judged.timing(observed) is Timing.EARLY
    assert judged.times is not None
    assert judged.times.cg_us is not None
    assert observed.exit_us is not None
    assert judged.times.cg_us <= observed.exit_us


@pytest.mark.parametrize("link", LINKS)
def test_without_hystart_nothing_but_a_loss_ends_slow_start(link: str) -> None:
    trace = recorded(link, "off")
    assert judge_observed_exit(trace).exit_us == judge_first_loss(trace).exit_us
    would_have = judge_hystart(trace, HyStart(Kernel.V6)).exit_us
    assert would_have is not None
    assert would_have < trace.time_us[-1] if trace.loss_row is None else would_have < trace.time_us[trace.loss_row]


def test_these_flows_tell_kernels_and_paced_sockets_apart() -> None:
    by_delay, by_train = recorded("geo-viasat", "on"), recorded("leo-starlink", "on")
    assert judge_hystart(by_delay, HyStart(Kernel.V5_10)).exit_us != judge_observed_exit(by_delay).exit_us
    assert judge_hystart(by_train, HyStart(is_paced=True)).exit_us != judge_observed_exit(by_train).exit_us


def test_curves_are_thinned_to_the_points_asked_for_and_absent_where_nobody_knows_what_was_sent() -> None:
    trace = recorded("geo-viasat", "on")
    last_us = int(trace.time_us[-1])
    curves = plot_curves(trace, 0, last_us, 5)
    assert curves is not None
    assert (len(curves.time_us), curves.window_us) == (5, 10 * curves.bin_us)
    whole = plot_curves(trace, 0, last_us, 10**6)
    assert whole is not None
    assert (whole.time_us[0], whole.time_us[-1]) == (curves.time_us[0], curves.time_us[-1])
    assert plot_curves(replace(trace, snd_nxt_bytes=None), 0, last_us, 5) is None


@pytest.mark.parametrize("link", LINKS)
def test_an_agents_per_ack_trace_is_judged_by_every_detector(link: str) -> None:
    judged = judge_flow(recorded(link, "on"))
    assert [verdict.detector for verdict in judged.verdicts if not verdict.is_decidable] == []
    assert judged.times is not None


def test_an_agents_per_ack_trace_makes_a_series() -> None:
    held = columns("geo-viasat", "on")
    first_byte_us = int(held["elapsed_us"][0])
    series = sender_series(held, first_byte_us)
    assert series.bins == 5, "from the first ACK to the last, of a flow of 6 s"
    throughput_bps = series.column("throughput_bps")
    end = first_byte_us + series.bins * 1_000_000
    delivered = np.interp([first_byte_us, end], held["elapsed_us"], held["delivered_segments"] * held["snd_mss_bytes"])
    assert throughput_bps.sum() == pytest.approx(8 * (delivered[1] - delivered[0]))
    is_measured = (held["elapsed_us"] < first_byte_us + 1_000_000) & (held["ack_rtt_us"] > 0)
    times_us, rtts_us = held["elapsed_us"][is_measured], held["ack_rtt_us"][is_measured]
    lasting_us = np.diff(times_us, append=first_byte_us + 1_000_000)
    assert series.column("rtt_ms")[0] == pytest.approx((rtts_us * lasting_us).sum() / lasting_us.sum() / 1e3)
