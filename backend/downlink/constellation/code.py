"""Constellation codes: `D:1150:53.0:1600/32/5`, after draft-piraux-space-constellation-code of the IRTF."""

from __future__ import annotations

import re
from dataclasses import dataclass

from downlink.domain.links.pathtrace import MAX_SATELLITES, check_range, wrong

PATTERN = re.compile(
    r"(?P<kind>[A-Za-z]+):(?P<km>[0-9.]+):(?P<deg>[0-9.]+):(?P<total>\d+)/(?P<planes>\d+)/(?P<phase>\d+)"
)
EXAMPLE = "Write it as D:1150:53.0:1600/32/5: Walker delta (or S, star), km, degrees, satellites/planes/phase."
SPREAD_DEG = {"D": 360.0, "S": 180.0}


@dataclass(frozen=True, slots=True)
class Walker:
    """spread_deg: over which right ascensions its planes are spread; phase: in satellites/total of a turn per plane."""

    spread_deg: float
    height_km: float
    inclination_deg: float
    satellites: int
    planes: int
    phase: int

    @property
    def per_plane(self) -> int:
        return self.satellites // self.planes

    @property
    def is_closed(self) -> bool:
        """True if the last plane is a neighbour of the first one. In a star they pass each other head-on."""
        return self.spread_deg == SPREAD_DEG["D"]


def parse_code(code: str) -> Walker:
    """Raises InvalidError `path_invalid` that says which part is wrong."""
    match = PATTERN.fullmatch(code.strip())
    if not match:
        raise wrong("constellation", f"{code!r} is no constellation code", EXAMPLE)
    if match["kind"] not in SPREAD_DEG:
        raise wrong("constellation, kind", f"{match['kind']!r} is not known", "Take D (Walker delta) or S (star).")
    height_km, inclination_deg = _number(match["km"], "height"), _number(match["deg"], "inclination")
    check_range("constellation, height", height_km, 160, 50_000, "km")
    check_range("constellation, inclination", inclination_deg, 0, 180, "degrees")
    total, planes, phase = int(match["total"]), int(match["planes"]), int(match["phase"])
    check_range("constellation, satellites", total, 1, MAX_SATELLITES)
    check_range("constellation, planes", planes, 1, total)
    if total % planes:
        reason = f"{total} satellites do not divide by {planes} planes"
        raise wrong(
            "constellation", reason, f"Take {total // planes * planes} or {(total // planes + 1) * planes} satellites."
        )
    if phase >= planes:
        raise wrong("constellation, phase", f"{phase} is not below the {planes} planes", "Take 0 to planes - 1.")
    return Walker(SPREAD_DEG[match["kind"]], height_km, inclination_deg, total, planes, phase)


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise wrong(f"constellation, {what}", f"{text!r} is no number", EXAMPLE) from error
