"""Series in an archive have a row for each second (docs/data-format.md, section 4); the database keeps them as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from downlink.analysis.intervals import plain
from downlink.codec.series import pack_seconds, unpack_series
from downlink.domain.results.metric import LIMITS, QUANTITIES

Row = dict[str, Any]
Owner = tuple[Any, Any]


def spread(member: str, rows: Sequence[Row]) -> list[Row]:
    """The rows of a member as an archive has them."""
    if member == "series":
        return [second for row in rows for second in _seconds(row, row["quantities"], row["packed"])]
    if member == "limit_bins":
        return [second for row in rows for second in _seconds(row, LIMITS, row["seconds"])]
    return list(rows)


def _seconds(row: Row, names: Sequence[str], packed: bytes) -> Iterable[Row]:
    own = {"run_id": row["run_id"], "flow": row["flow"]}
    for bin_s, values in enumerate(plain(unpack_series(packed, names, names).T)):
        yield {**own, "bin_s": bin_s, **dict(zip(names, values, strict=True))}


def gather(members: Mapping[str, Sequence[Row]]) -> dict[str, Sequence[Row]]:
    """The members as the database keeps them. ValueError for seconds that do not follow each other, or hold anything else."""
    gathered = {name: rows for name, rows in members.items() if name != "limit_bins"}
    if "series" in members:
        gathered["series"] = [
            {"run_id": run, "flow": flow, "bins": bins, "quantities": list(QUANTITIES), "packed": packed}
            for (run, flow), (bins, packed) in _arrays(members["series"], QUANTITIES).items()
        ]
    if "limits" in members:
        held = _arrays(members.get("limit_bins", ()), LIMITS)
        gathered["limits"] = [
            {**row, "seconds": held.get((row["run_id"], row["flow"]), (0, b""))[1]} for row in members["limits"]
        ]
    return gathered


def _arrays(rows: Sequence[Row], names: Sequence[str]) -> dict[Owner, tuple[int, bytes]]:
    """Number of bins and packed values by run and flow."""
    by_owner: dict[Owner, list[Row]] = {}
    for row in rows:
        if unknown := set(row) - {"run_id", "flow", "bin_s", *names}:
            raise ValueError(f"seconds have no columns {', '.join(sorted(unknown))}")
        by_owner.setdefault((row["run_id"], row["flow"]), []).append(row)
    return {owner: (len(own), _packed(own, names)) for owner, own in by_owner.items()}


def _packed(rows: list[Row], names: Sequence[str]) -> bytes:
    rows.sort(key=lambda row: row["bin_s"])
    if [row["bin_s"] for row in rows] != list(range(len(rows))):
        raise ValueError("the seconds of a flow do not follow each other from 0")
    return pack_seconds([[row.get(name) for name in names] for row in rows])
