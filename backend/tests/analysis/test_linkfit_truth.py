"""A profile fitted to runs over a known profile has that profile's parameters, within the errors that it states. In virtual time,
over the emulator's own nodes: no link is built."""

from __future__ import annotations

import math
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from downlink.analysis.linkfit.compare import compare
from downlink.analysis.linkfit.fit import Fit, fit
from downlink.analysis.linkfit.grants import Grants, grants
from downlink.analysis.linkfit.orders import emulated, orders
from downlink.analysis.linkfit.parameters import parameters, unknown
from downlink.analysis.linkfit.recordings import Recorded
from downlink.cli.fitted_profile import profile_text
from downlink.cli.linkfit import carry_out

pytestmark = pytest.mark.sampled("faults")

ROOT = Path(__file__).resolve().parents[3]
AGENT = ROOT / "agents" / "bin" / "downlink-agent"
PROFILES = ROOT / "agents" / "internal" / "lab" / "emulate" / "profiles"
SEEDS = (100, 300)
WINDOWS = {"geo-viasat": 18_000_000, "leo-starlink": 1_200_000, "geo-generic": 5_500_000, "terrestrial": 300_000}
"""In flight of flows that fill the link and overflow, if at all, its queue only."""
MANY = 3.0
"""Standard errors within which the truth must lie: of some sixty parameters, chance alone leaves less than one outside in five tries."""


def runs(seed: int, window_bytes: int, cubic_s: float) -> list[dict[str, Any]]:
    """What a campaign of an hour measures: the idle link, the beginnings of CUBIC flows, and the full link."""
    probes = [{"kind": "probe", "seconds": 120, "every_ms": 73, "seed": seed + i} for i in range(8)]
    starts = [
        {
            "kind": "cubic",
            "seconds": cubic_s,
            "window_bytes": 30_000_000,
            "has_hystart": i % 2 == 1,
            "seed": seed + 20 + i,
        }
        for i in range(2)
    ]
    full = [{"kind": "full", "seconds": 60, "window_bytes": window_bytes, "seed": seed + 30 + i} for i in range(5)]
    return [*probes, *starts, *full]


@cache
def recorded(name: str, seed: int) -> Recorded:
    return emulated(carry_out(AGENT, PROFILES / f"{name}.yaml", runs(seed, WINDOWS[name], 15)))


@cache
def fitted(name: str, seed: int) -> Fit:
    found = fit(recorded(name, seed))
    assert found is not None
    return found


def values(name: str, seed: int) -> dict[tuple[str, str], tuple[float, float]]:
    return {(each.key, each.title): (each.value, each.error) for each in parameters(fitted(name, seed))}


def check(name: str, seed: int, truth: dict[str, tuple[float, float]]) -> None:
    """truth by the beginning of a title: the value, and what it may be off besides the stated error."""
    for begin, (value, slack) in truth.items():
        ((found, error),) = (each for (_, title), each in values(name, seed).items() if title.startswith(begin))
        room = MANY * (0 if math.isnan(error) else error) + slack
        assert found == pytest.approx(value, abs=room), (begin, found, error)
        assert not value or math.isnan(error) or error < abs(value), f"{begin}: {error} says nothing of {value}"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_framed_geo_link_is_found_again(seed: int) -> None:
    check("geo-viasat", seed, {
        "RTT, least": (559.3, 0.3),
        "frame of the return channel": (40.0, 0.005),
        "ACKs of 52 bytes a frame": (1, 0),
        "delay of grants": (16, 0),
        "frames of a request": (22, 0),
        "hold before": (0, 0),
        "between ACKs": (41.6, 0.1),
        "rate, mean": (124.6, 0.5),
        "rate, standard deviation": (0.093, 0.01),  # of the clipped factor
        "loss by packet, down": (0.001, 0),
        "outages, down: mean length": (50, 0),
        "outages, down: mean spacing": (100, 0),
        "RTT, slow part: range": (26, 1),
    })  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_the_leo_link_with_its_handovers_is_found_again(seed: int) -> None:
    check("leo-starlink", seed, {
        "RTT, least": (40, 0.6),
        "rate, mean": (65, 0),
        "rate, standard deviation": (0.18, 0.01),
        "rate, memory": (0.1, 0.02),
        "slots' means": (0.178, 0.02),  # uniform from 45 to 85 Mb/s
        "period of handovers": (15, 0),
        "handover, median": (75, 2),
        "loss by packet, down": (0.01, 0.001),
        "outages, down: mean length": (8, 0.5),  # exponential: its error is in proportion to what was found
        "outages, down: mean spacing": (4, 0.1),
        "loss by packet, up": (0.3, 0),
        "RTT, slow part: range": (15, 1.5),
        "RTT, fast part: range": (6, 0.7),
    })  # fmt: skip
    found = fitted("leo-starlink", seed)
    assert found.frame_ms is None
    assert found.queue is not None
    assert not found.queue.is_full or found.queue.bytes_ == pytest.approx(
        2e6, rel=0.1
    )  # its RTT wanders by 21 ms, in which 0.2 MB pass


@pytest.mark.parametrize(("name", "rtt_ms", "queue_mb"), [("geo-generic", 600, 3.75), ("terrestrial", 20, 0.25)])
def test_a_plain_link_gets_nothing_that_it_does_not_have(name: str, rtt_ms: float, queue_mb: float) -> None:
    check(name, SEEDS[0], {"RTT, least": (rtt_ms, 0.3), "rate, mean": (50, 0.01), "queue": (queue_mb, 0.05 * queue_mb)})
    found = fitted(name, SEEDS[0])
    assert found.frame_ms is None
    assert found.handovers is None
    assert found.rates is not None
    assert found.rates.sd_ratio is None
    assert found.delays.slow is None
    assert found.delays.fast is None
    assert found.down is not None
    assert found.down.independent_ratio is None
    assert found.down.length_ms is None
    assert any(sentence.startswith("Losses on the way down: none among") for sentence in unknown(found))


@pytest.mark.parametrize("name", list(WINDOWS))
def test_the_written_profile_is_one_and_runs_over_it_are_like_those_that_it_was_made_of(
    name: str, tmp_path: Path
) -> None:
    found, measured = fitted(name, SEEDS[0]), recorded(name, SEEDS[0])
    file = tmp_path / "mine.yaml"
    file.write_text(profile_text("mine", "GEO", 50e6, found, measured.runs, date(2026, 1, 2)))
    assert yaml.safe_load(file.read_text())["name"] == "mine"
    over_it = emulated(carry_out(AGENT, file, orders(measured, found)))
    rows = {each.title: each for each in compare(measured, over_it, found)}
    assert rows["idle RTT"].ks is not None
    assert rows["idle RTT"].recorded == pytest.approx(rows["idle RTT"].emulated, rel=0.05)  # of some sixty levels
    assert rows["rate, mean"].off_percent == pytest.approx(0, abs=10)
    if name == "geo-viasat":
        assert rows["delay of grants"].emulated == pytest.approx(16, abs=3)
        assert rows["CUBIC: 1 MB after the first byte, mean"].off_percent == pytest.approx(0, abs=10)


def framed(tmp_path: Path, **frames: float) -> Grants:
    """What is found of three flows' beginnings over geo-viasat with another law of grants."""
    known = yaml.safe_load((PROFILES / "geo-viasat.yaml").read_text())
    known["up"]["frames"] = {"length_ms": 40, "base_bytes": 100, "most_bytes": 50_000, **frames}
    file = tmp_path / "other.yaml"
    file.write_text(yaml.safe_dump(known))
    starts = [{"kind": "cubic", "seconds": 12, "window_bytes": 30_000_000, "seed": seed} for seed in (7, 8, 9)]
    found = grants(emulated(carry_out(AGENT, file, starts)).flows, 40.0)
    assert found is not None
    return found


def test_where_all_that_waits_is_asked_for_no_request_frames_are_found(tmp_path: Path) -> None:
    found = framed(tmp_path, grant_delay_frames=74)
    assert found.delay_frames is not None
    assert found.hold_s is not None
    assert (found.delay_frames.value, found.request_frames, found.hold_s.value) == (74, None, 0)


@pytest.mark.parametrize(("delay", "frames"), [(8, 40), (40, 8)])
def test_a_slow_request_is_told_from_a_late_grant(delay: int, frames: int, tmp_path: Path) -> None:
    found = framed(tmp_path, grant_delay_frames=delay, request_frames=frames)
    assert found.delay_frames is not None
    assert found.request_frames is not None
    assert found.delay_frames.value == pytest.approx(delay, abs=MANY * found.delay_frames.error)
    assert found.request_frames.value == pytest.approx(frames, abs=MANY * found.request_frames.error)


def test_a_hold_is_told_from_a_delay_of_grants(tmp_path: Path) -> None:
    found = framed(tmp_path, grant_delay_frames=30, hold_s=4)
    assert found.delay_frames is not None
    assert found.hold_s is not None
    assert found.request_frames is None
    assert found.delay_frames.value == pytest.approx(30, abs=MANY * found.delay_frames.error)
    assert found.hold_s.value == pytest.approx(4, abs=0.1)
