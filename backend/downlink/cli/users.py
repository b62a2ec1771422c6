"""`downlink users`: who has an account, and who is invited."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from downlink.cli.client import Client
from downlink.cli.lookup import connect, pick
from downlink.cli.output import AsJson, Column, moment, note, print_json, say, show

app = typer.Typer(
    help="Accounts: list, invite, change a role, remove. Needs a token with the scope `admin`.",
    no_args_is_help=True,
)
User = Annotated[str, typer.Argument(help="User name or id")]
ROLES = "viewer, operator or admin"

ACCOUNTS: list[Column] = [
    ("user name", lambda a: a["username"]),
    ("role", lambda a: a["role"]),
    ("signed in", lambda a: moment(a["signed_in_at"])),
    ("since", lambda a: moment(a["created_at"])),
]
INVITATIONS: list[Column] = [
    ("invitation", lambda i: i["id"]),
    ("for", lambda i: i["name"]),
    ("to", lambda i: "a new password" if i["user_id"] else f"an account as {i['role']}"),
    ("made by", lambda i: i["created_by"]),
    ("expires", lambda i: moment(i["expires_at"])),
]


def _account(client: Client, wanted: str) -> dict[str, Any]:
    return pick([{**each, "name": each["username"]} for each in client.get("/accounts")["items"]], wanted, "user")


@app.command("list")
def list_users(
    of_invitations: Annotated[bool, typer.Option("--invitations", help="List the invitations that still work")] = False,
    as_json: AsJson = False,
) -> None:
    """List accounts with role and last sign-in."""
    client = connect()
    if of_invitations:
        show(client.get("/invitations")["items"], INVITATIONS, as_json, "No open invitations.")
    else:
        show(
            client.get("/accounts")["items"],
            ACCOUNTS,
            as_json,
            "No accounts yet: `downlink setup-link` makes the first.",
        )


@app.command()
def invite(
    name: Annotated[str, typer.Argument(help="Label: whom it is for")],
    role: Annotated[str, typer.Option(help=f"What the account may do: {ROLES}")] = "operator",
    as_json: AsJson = False,
) -> None:
    """Create an invitation link for one account, valid for seven days, and print it (shown only once). Nothing is sent."""
    made = connect().post("/invitations", {"name": name, "role": role})
    if as_json:
        print_json(made)
        return
    say(made["link"])
    note(f"Give it to {name}: it makes one account as {made['role']}, until {moment(made['expires_at'])}.")


@app.command()
def withdraw(invitation: Annotated[str, typer.Argument(help="Id, as `users list --invitations` shows it")]) -> None:
    """Withdraw an invitation: its link stops working."""
    connect().delete(f"/invitations/{invitation}")
    say("Withdrawn.")


@app.command()
def role(user: User, to: Annotated[str, typer.Argument(help=f"{ROLES}", metavar="ROLE")]) -> None:
    """Give an account another role, from its next request on."""
    client = connect()
    changed = client.patch(f"/accounts/{_account(client, user)['id']}", {"role": to})
    say(f"{changed['username']} is {changed['role']}.")


@app.command()
def password(user: User) -> None:
    """Create a link for setting a new password, and print it (shown only once)."""
    client = connect()
    made = client.post(f"/accounts/{_account(client, user)['id']}/password")
    say(made["link"])
    note(f"Give it to {made['name']}: it works once, until {moment(made['expires_at'])}.")


@app.command()
def remove(user: User) -> None:
    """Remove an account; its sessions and tokens end at once. Its campaigns and links stay."""
    client = connect()
    account = _account(client, user)
    client.delete(f"/accounts/{account['id']}")
    say(f"{account['username']} is removed.")
