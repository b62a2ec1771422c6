"""Rate and loss of a hop between ground and satellite, over its length."""

from __future__ import annotations

import math

import numpy as np

from downlink.constellation.orbits import Floats, Whole
from downlink.domain.links.pathtrace import LIGHT_M_PER_S, LossCurve, Radio

BOLTZMANN_DBW_PER_K_HZ = 10 * math.log10(1.380649e-23)
LEAST_RATE_BPS = 1_000


def snr_db(radio: Radio, length_km: Floats) -> Floats:
    """Free-space loss over the length, nothing else that varies: no weather, no pattern of the antenna."""
    free_space_db = 20 * np.log10(4 * math.pi * length_km * 1e3 * radio.frequency_ghz * 1e9 / LIGHT_M_PER_S)
    eirp_dbw_per_hz = radio.eirp_density_dbw_per_mhz - 60
    snr: Floats = (
        eirp_dbw_per_hz + radio.g_over_t_db_per_k - free_space_db - radio.other_losses_db - BOLTZMANN_DBW_PER_K_HZ
    )
    return snr


def rate_bps(radio: Radio, snr: Floats) -> Whole:
    """Shannon's capacity of the band (Shannon 1948, theorem 17)."""
    bits = radio.bandwidth_mhz * 1e6 * np.log2(1 + 10 ** (snr / 10))
    return np.maximum(bits, LEAST_RATE_BPS).astype(np.int64)


def loss_ppb(curve: LossCurve, snr: Floats) -> Whole:
    if curve.low_snr_ratio == 0:
        return np.zeros(len(snr), np.int64)
    logs = np.log10([curve.low_snr_ratio, curve.high_snr_ratio])
    return np.rint(10 ** np.interp(snr, [curve.low_snr_db, curve.high_snr_db], logs) * 1e9).astype(np.int64)
