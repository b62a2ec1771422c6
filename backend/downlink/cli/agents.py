"""`downlink agents`: the hosts that measure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from downlink.cli.lookup import connect, pick
from downlink.cli.output import AsJson, Column, Row, moment, note, print_json, say, show

app = typer.Typer(help="Agents: list, enrol, pause, resume, revoke.", no_args_is_help=True)


def _doing(agent: Row) -> str:
    if agent["revoked_at"]:
        return "revoked"
    if agent["is_too_old"]:
        return "too old"
    if agent["pause"] and agent["status"] == "idle":
        return "paused"
    progress: dict[str, Any] = agent["progress"] or {}
    if "chunks_total" in progress:
        return f"{agent['status']} {progress['chunks_done']:g} of {progress['chunks_total']:g}"
    return str(agent["status"])


def _detail(agent: Row) -> str | None:
    pause = agent["pause"]
    if not pause:
        return agent["detail"] and str(agent["detail"])
    until = f" until {moment(pause['until'])}" if pause["until"] else ""
    return f"paused by {pause['by']}{until}" + (f" ({pause['why']})" if pause["why"] else "")


COLUMNS: list[Column] = [
    ("name", lambda a: a["name"]),
    ("status", _doing),
    ("online", lambda a: "yes" if a["is_online"] else "no"),
    ("links", lambda a: ", ".join(a["links"])),
    ("version", lambda a: a["version"]),
    ("last seen", lambda a: moment(a["last_seen_at"])),
    ("detail", _detail),
]


@app.command("list")
def list_agents(as_json: AsJson = False) -> None:
    """List agents, what each is doing, and when it last called."""
    show(
        connect().items("/agents"),
        COLUMNS,
        as_json,
        "No agents yet: `downlink agents enrol NAME` prints the command to type on a host.",
    )


@app.command()
def enrol(
    name: Annotated[str, typer.Argument(help="Display name: letters, digits, ., _ and -")],
    minutes: Annotated[int, typer.Option(min=1, max=1440, help="Minutes until the command expires")] = 60,
    as_json: AsJson = False,
) -> None:
    """Print the one-time command that joins a host. Instructions for installing and running the agent go to standard error."""
    enrolment = connect().post("/agents/enrolments", {"name": name, "expires_in_minutes": minutes})
    if as_json:
        print_json(enrolment)
    else:
        note(f"On the host, fetch the agent:\n{enrolment['install_commands']}\n\nJoin, as root:")
        say(enrolment["command"])
        note(f"\nKeep it running:\n{enrolment['service_commands']}")


@app.command()
def revoke(name: str) -> None:
    """Revoke an agent's access. It restores its host's settings and stops."""
    client = connect()
    agent = pick(client.items("/agents"), name, "agent")
    client.delete(f"/agents/{agent['id']}")
    say(f"{agent['name']} is revoked.")


@app.command()
def pause(
    name: str,
    hours: Annotated[
        float | None, typer.Option(min=0.01, max=8784, help="Hours to pause; without it until `resume`")
    ] = None,
    why: Annotated[str | None, typer.Option(help="Reason, shown to other users")] = None,
) -> None:
    """Stop new runs on an agent. A run under way ends as planned."""
    client = connect()
    agent = pick(client.items("/agents"), name, "agent")
    until = None if hours is None else (datetime.now(UTC) + timedelta(hours=hours)).isoformat()
    client.put(f"/agents/{agent['id']}/pause", {"until": until, "why": why})
    say(
        f"{agent['name']} is paused{f' until {moment(until)}' if until else ''}. `downlink agents resume {agent['name']}` ends it."
    )


@app.command()
def resume(name: str) -> None:
    """End a pause set on the server. A pause set by the host's owner ends on the host alone, with `downlink-agent resume`."""
    client = connect()
    agent = pick(client.items("/agents"), name, "agent")
    client.delete(f"/agents/{agent['id']}/pause")
    say(f"{agent['name']} takes runs again.")
