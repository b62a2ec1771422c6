"""Flent data files: the TCP flows of a batch of tools, resampled (`results`) or as they came (`raw_values`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from downlink.domain.sample import End
from downlink.importers.model import Content, ImportedFlow, Ints, UnreadableError
from downlink.importers.reading import checked_columns, ints, listing, mapping, masked_address, moment, number

MICROSECONDS = 1_000_000
BYTES_PER_MEGABIT = 125_000
# Theirs, ours and the factor between them: flent passes on what `ss` prints, RTTs in milliseconds.
GAUGES = {
    "tcp_cwnd": ("cwnd_segments", 1),
    "tcp_ssthresh": ("ssthresh_segments", 1),
    "tcp_rtt": ("rtt_us", 1_000),
    "tcp_rtt_var": ("rttvar_us", 1_000),
}


def is_flent(document: Mapping[str, Any]) -> bool:
    return "x_values" in document and "results" in document and "metadata" in document


def read_flent(document: Mapping[str, Any]) -> Content:
    """A flow per TCP series, in the order of their names."""
    raw = document.get("raw_values")
    if isinstance(raw, Mapping) and raw:
        samples = {
            str(name): listing(values, f"raw_values of {name}") for name, values in raw.items() if _is_tcp(str(name))
        }
    else:
        samples = _resampled(document)
    flows = [
        _flow(number_, name, values)
        for number_, (name, values) in enumerate(sorted(samples.items()), start=1)
        if values
    ]
    if not flows:
        raise UnreadableError("it has no TCP flow with samples")
    told = mapping(document["metadata"], "metadata")
    names = ("NAME", "TITLE", "LENGTH", "STEP_SIZE", "KERNEL_RELEASE")
    metadata = {name.lower(): told.get(name) for name in names} | {"host": masked_address(told.get("HOST"))}
    return Content(tuple(flows), moment(told.get("TIME")), metadata | {"version": document.get("version")})


def _is_tcp(name: str) -> bool:
    return (
        name.upper().startswith("TCP") and "::" not in name and name.rsplit(" ", 1)[-1] not in {"avg", "sum", "totals"}
    )


def _resampled(document: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """The plotted series as samples; gaps are left out."""
    xs = listing(document["x_values"], "x_values")
    found: dict[str, Sequence[Any]] = {}
    for name, series in mapping(document["results"], "results").items():
        if _is_tcp(str(name)):
            values = listing(series, f"results of {name}")
            if len(values) != len(xs):
                raise UnreadableError(f"{name} has {len(values)} values for {len(xs)} times")
            found[str(name)] = [
                {"t": x, "val": value} for x, value in zip(xs, values, strict=True) if value is not None
            ]
    return found


def _flow(flow: int, name: str, samples: Sequence[Any]) -> ImportedFlow:
    """Values are megabits per second since the sample before; written bytes are their sum."""
    records = [mapping(sample, f"a sample of {name}") for sample in samples]
    times_s = np.array([number(record.get("t"), f"t of {name}") for record in records])
    elapsed_us = np.rint((times_s - times_s[0]) * MICROSECONDS).astype(np.int64)
    is_tool_value = all(record.get("val") is not None for record in records)
    columns: dict[str, Ints] = {"elapsed_us": elapsed_us}
    if is_tool_value:
        rates = np.array([number(record["val"], f"val of {name}") for record in records])
        spans_s = np.array(
            [number(r.get("dur", span), f"dur of {name}") for r, span in zip(records, _spans(times_s), strict=True)]
        )
        columns["app_bytes"] = np.cumsum(np.rint(rates * spans_s * BYTES_PER_MEGABIT)).astype(np.int64)
    for theirs, (ours, factor) in GAUGES.items():
        if all(record.get(theirs) is not None for record in records):
            columns[ours] = ints([round(number(record[theirs], theirs) * factor) for record in records])
    # Kernel gauges come from the host that runs flent, so that a flow with them is one it sends.
    end = End.SENDER if "cwnd_segments" in columns else End.RECEIVER
    return ImportedFlow(flow, end, checked_columns(columns), metadata={"series": name})


def _spans(times_s: np.ndarray[Any, np.dtype[np.float64]]) -> list[float]:
    """Time since the sample before; the first one's is taken from the second."""
    steps = np.diff(times_s)
    first = float(steps[0]) if steps.size else 0.0
    return [first, *steps.tolist()]
