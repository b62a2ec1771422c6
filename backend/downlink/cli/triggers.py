"""The trigger of a campaign: `downlink campaigns trigger`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from downlink.cli.campaign_results import Which
from downlink.cli.lookup import campaign_id, connect
from downlink.cli.output import AsJson, Column, moment, note, print_json, say, show

NewSecret = Annotated[
    bool,
    typer.Option(
        "--new-secret",
        help="Create a new secret for signed calls and print it (shown only once); the old one stops working",
    ),
]
FIRINGS: list[Column] = [
    ("firing", lambda f: f["number"]),
    ("at", lambda f: moment(f["at"])),
    ("cause", lambda f: f["cause"]["name"]),
    ("value", lambda f: "" if f["cause"]["value"] is None else f"{f['cause']['value']:g} {f['cause']['unit']}".strip()),
    ("first cycle", lambda f: f["first_cycle"]),
    ("runs", lambda f: f["runs"]),
]


def trigger(campaign: Which, is_new: NewSecret = False, as_json: AsJson = False) -> None:
    """Show what triggers a campaign, when it last fired, and why it did not."""
    client = connect()
    path = f"/campaigns/{campaign_id(client, campaign)}/trigger"
    if is_new:
        made = client.post(f"{path}/secret")
        if as_json:
            print_json(made)
        else:
            say(made["secret"])
            note("It is shown only once. Calls are signed with it: docs/campaign-file.md, Triggers.")
        return
    state = client.get(path)
    if as_json:
        print_json(state)
        return
    _say_state(state)
    show(state["firings"], FIRINGS, as_json, "Nothing was fired yet.")


def _say_state(state: dict[str, Any]) -> None:
    verb = "Waits" if state["is_waiting"] else "Does not wait"
    say(f"{verb} for {state['waiting_for']}. Fired {state['fired']} of {state['most']} times.")
    if state["waits"]:
        say(f"Now: {state['waits']}")
    if state["free_at"]:
        say(f"May fire again at {moment(state['free_at'])}.")
    if state["refusal"]:
        say(f"Did not fire at {moment(state['refused_at'])}: {state['refusal']}")
    if state["takes_calls"] and not state["has_secret"]:
        note("Nobody can call it yet: `downlink campaigns trigger C --new-secret` makes the secret.")
