"""The precision of a campaign's means, and the forecast of a preview: sentences and a table for terminals."""

from __future__ import annotations

from typing import Any

from downlink.cli.output import Column, moment, print_table, say
from downlink.domain.results.metric import NAMED

ENDED = {
    "precise_enough": "It ended because every condition is that narrow.",
    "most_cycles": "It ended with its last cycle.",
}


def asked_text(until: dict[str, Any]) -> str:
    """`RTT (steady, flow 1) within ± 5 %, at most 30 cycles`."""
    flow = f", flow {until['flow']}" if until["flow"] > 1 else ""
    title = NAMED[until["metric"]].title
    return f"{title} ({until['phase']}{flow}) within ± {until['half_width_percent']:g} %, at most {until['most_cycles']} cycles"


def print_precision(precision: dict[str, Any]) -> None:
    """Print for a launched campaign with `until`: the wanted precision, the current one, and why it ended."""
    asked = precision["asked"]
    ended = f" {ENDED[precision['ended']]}" if precision["ended"] else ""
    say(f"\nUntil {asked_text(asked)}: {precision['cycles']} have begun.{ended}")
    quantity = NAMED[asked["metric"]]
    columns: list[Column] = [
        ("link", lambda w: w["link"]),
        ("condition", lambda w: w["condition"]),
        ("runs", lambda w: w["runs"]),
        (
            f"mean, {quantity.shown_unit}".rstrip(", "),
            lambda w: "" if w["mean"] is None else f"{w['mean'] * quantity.shown_factor:.4g}",
        ),
        ("±, %", lambda w: "" if w["half_width_percent"] is None else f"{w['half_width_percent']:.2f}"),
        ("narrow", lambda w: "yes" if w["is_narrow"] else "not yet"),
    ]
    print_table(precision["widths"], columns)


def say_forecast(forecast: dict[str, Any]) -> None:
    """Print how many cycles a preview expects."""
    most = forecast["most_cycles"]
    if forecast["cycles"] is None:
        say(
            f"At most {most} cycles, for which this is. No complete campaign with these conditions on these links "
            "says how many to expect."
        )
        return
    width = forecast["half_width_percent"]
    then = f", ± {width:.2g} % then" if width is not None else ""
    say(
        f"At most {most} cycles, for which this is; expected {forecast['cycles']}{then}, "
        f"by campaign {forecast['pilot']} of {moment(forecast['pilot_ended_at'])}."
    )
