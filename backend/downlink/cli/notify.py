"""`downlink notify`: where the server tells people what happens."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from downlink.cli.client import Client
from downlink.cli.lookup import connect
from downlink.cli.output import AsJson, Column, moment, note, print_json, say, show
from downlink.domain.errors import InvalidError, NotFoundError, UnavailableError
from downlink.domain.notices.notification import FAILURES_IN_ROW, GONE_AFTER_MIN, Topic

app = typer.Typer(
    help="Notifications: list, add, test and remove channels. Needs a token with the scope `admin`.",
    no_args_is_help=True,
)
Channel = Annotated[str, typer.Argument(help="Name or id, as `notify list` shows it")]

CHANNELS: list[Column] = [
    ("channel", lambda c: c["id"]),
    ("name", lambda c: c["name"]),
    ("kind", lambda c: c["kind"]),
    ("to", lambda c: c["target"]),
    ("of", lambda c: ", ".join(c["topics"])),
    ("on", lambda c: "yes" if c["is_enabled"] else "no"),
    ("last", lambda c: f"{c['last']['state']} {moment(c['last']['tried_at'])}" if c["last"] else ""),
]
SENT: list[Column] = [
    ("when", lambda n: moment(n["created_at"])),
    ("what", lambda n: n["title"]),
    ("state", lambda n: n["state"]),
    ("tries", lambda n: n["tries"]),
    ("detail", lambda n: n["detail"]),
]


def _channel(client: Client, wanted: str) -> dict[str, Any]:
    channels = [each for each in client.get("/channels")["items"] if wanted in (each["name"], each["id"])]
    if not channels:
        raise NotFoundError(
            "channel_not_found", f"There is no channel {wanted!r}; `downlink notify list` shows them all."
        )
    if len(channels) > 1:
        ids = ", ".join(each["id"] for each in channels)
        raise InvalidError("channel_ambiguous", f"{wanted!r} names {len(channels)} channels; use one of the ids: {ids}")
    chosen: dict[str, Any] = channels[0]
    return chosen


@app.command("list")
def list_channels(as_json: AsJson = False) -> None:
    """List channels with the result of the last notification of each."""
    show(connect().get("/channels")["items"], CHANNELS, as_json, "No channels: `downlink notify add` makes one.")


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="Name of the channel")],
    target: Annotated[str, typer.Argument(help="https://… of a webhook or chat, or one mail address")],
    kind: Annotated[
        str, typer.Option(help="webhook (signed JSON), chat (Slack, Mattermost, a Matrix bridge) or email")
    ],
    of: Annotated[list[str] | None, typer.Option(help=f"{', '.join(Topic)}; repeat for several (default: all)")] = None,
    is_own_only: Annotated[bool, typer.Option("--own", help="Your own campaigns and links only")] = False,
    failures_in_row: Annotated[int, typer.Option(help="Failed runs in a row before a notification")] = FAILURES_IN_ROW,
    gone_after_min: Annotated[
        int, typer.Option(help="Minutes of silence after which an agent counts as gone")
    ] = GONE_AFTER_MIN,
    as_json: AsJson = False,
) -> None:
    """Create a channel; for a webhook, print the secret that signs its posts (shown only once)."""
    body = {
        "name": name, "kind": kind, "target": target, "is_own_only": is_own_only,
        "failures_in_row": failures_in_row, "gone_after_min": gone_after_min, **({"topics": of} if of else {}),
    }  # fmt: skip
    made = connect().post("/channels", body)
    if as_json:
        print_json(made)
        return
    if made["secret"]:
        say(made["secret"])
    note(f"The channel {made['name']} is made; `downlink notify test` sends something to it.")


@app.command()
def test(channel: Channel) -> None:
    """Send a test notification and report the result. Exit status 6 if it did not arrive."""
    client = connect()
    outcome = client.post(f"/channels/{_channel(client, channel)['id']}/test")
    if not outcome["is_sent"]:
        raise UnavailableError("test_not_sent", f"The test did not arrive: {outcome['detail']}")
    say(outcome["detail"])


@app.command()
def sent(channel: Channel, as_json: AsJson = False) -> None:
    """List the last 50 notifications of a channel: sent, pending, or given up."""
    client = connect()
    notifications = client.get(f"/channels/{_channel(client, channel)['id']}/notifications")["items"]
    show(notifications, SENT, as_json, "Nothing was sent yet.")


@app.command()
def remove(channel: Channel) -> None:
    """Remove a channel; pending notifications are dropped."""
    client = connect()
    client.delete(f"/channels/{_channel(client, channel)['id']}")
    say("Removed.")
