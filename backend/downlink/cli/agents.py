"""`downlink agents`: the hosts that measure."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from downlink.cli.lookup import connect, pick
from downlink.cli.output import AsJson, Column, Row, moment, note, print_json, say, show

app = typer.Typer(help="The agents: list them, let one join, revoke one.", no_args_is_help=True)


def _doing(agent: Row) -> str:
    if agent["revoked_at"]:
        return "revoked"
    if agent["is_too_old"]:
        return "too old"
    progress: dict[str, Any] = agent["progress"] or {}
    if "chunks_total" in progress:
        return f"{agent['status']} {progress['chunks_done']:g} of {progress['chunks_total']:g}"
    return str(agent["status"])


COLUMNS: list[Column] = [
    ("name", lambda a: a["name"]),
    ("status", _doing),
    ("online", lambda a: "yes" if a["is_online"] else "no"),
    ("links", lambda a: ", ".join(a["links"])),
    ("version", lambda a: a["version"]),
    ("last seen", lambda a: moment(a["last_seen_at"])),
    ("detail", lambda a: a["detail"]),
]


@app.command("list")
def list_agents(as_json: AsJson = False) -> None:
    """Agents, what each is doing, and when it was last heard."""
    show(
        connect().items("/agents"),
        COLUMNS,
        as_json,
        "No agents yet: `downlink agents enrol NAME` prints the command to type on a host.",
    )


@app.command()
def enrol(
    name: Annotated[str, typer.Argument(help="Name that people will see: letters, digits, ., _ and -")],
    minutes: Annotated[int, typer.Option(min=1, max=1440, help="How long the right to join lasts.")] = 60,
    as_json: AsJson = False,
) -> None:
    """Print the command that lets one host join, once. How to get the program and keep it running goes to standard error."""
    enrolment = connect().post("/agents/enrolments", {"name": name, "expires_in_minutes": minutes})
    if as_json:
        print_json(enrolment)
    else:
        note(f"On the host, fetch the agent:\n{enrolment['install_commands']}\n\nJoin, as root:")
        say(enrolment["command"])
        note(f"\nKeep it running:\n{enrolment['service_commands']}")


@app.command()
def revoke(name: str) -> None:
    """Take an agent's access away. It puts its host back and stops."""
    client = connect()
    agent = pick(client.items("/agents"), name, "agent")
    client.delete(f"/agents/{agent['id']}")
    say(f"{agent['name']} is revoked.")
