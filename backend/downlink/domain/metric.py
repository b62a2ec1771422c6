"""What is computed of a flow, by name, and which of it a campaign asks about."""

from __future__ import annotations

PHASES = ("startup", "steady", "overall")
QUANTITIES = (
    "throughput_bps",
    "goodput_bps",
    "rtt_ms",
    "rwnd_bytes",
    "cwnd_bytes",
    "retransmission_percent",
    "in_flight_bytes",
)
METRICS = (*QUANTITIES, "utilisation_ratio")
STEADY_TIMES = ("time_to_steady_s", "time_to_level_s")
"""Until throughput stays near the flow's own steady state, and near a level that is the same for every run."""

PRIMARY_NAMES = (*(f"{phase}.{metric}" for phase in PHASES for metric in METRICS), *STEADY_TIMES)
DEFAULT_PRIMARY = ("startup.throughput_bps", "steady.throughput_bps")

LEAST = 0.0
MOST = {"retransmission_percent": 100.0}
"""No metric is below zero; these have an end above too."""


def place_of(primary: str) -> tuple[str, str]:
    """Phase and metric of a primary metric's name."""
    phase, _, metric = primary.rpartition(".")
    return phase or "overall", metric
