"""`downlink campaigns`: from a file to a report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from downlink.cli import campaign_results as results
from downlink.cli import retention, shares, triggers
from downlink.cli.campaign_results import Which
from downlink.cli.client import Client, placed
from downlink.cli.lookup import campaign_id, connect
from downlink.cli.output import (
    AsJson,
    Column,
    counted,
    duration,
    local_moment,
    megabytes,
    moment,
    note,
    print_json,
    print_table,
    say,
    show,
)
from downlink.cli.precision import print_precision, say_forecast
from downlink.cli.preflight import print_hosts
from downlink.domain.errors import InvalidError

app = typer.Typer(help="Campaigns: preview, create, launch, watch, export.", no_args_is_help=True)

KINDS = {"recorded": "recorded example", "imported": "imported"}
COLUMNS: list[Column] = [
    ("campaign", lambda c: c["id"]),
    ("name", lambda c: c["name"]),
    ("state", lambda c: c["state"]),
    ("complete", lambda c: f"{c['counts']['complete']} of {c['runs_total']}"),
    ("links", lambda c: ", ".join(c["links"])),
    ("tags", lambda c: ", ".join(c["tags"])),
    ("launched", lambda c: moment(c["launched_at"])),
    ("kind", lambda c: KINDS.get(c["origin"], "")),
]


File = Annotated[
    Path, typer.Argument(help="Campaign file, YAML or JSON (docs/campaign-file.md); - reads standard input")
]
EvenIfOffline = Annotated[
    bool, typer.Option("--even-if-offline", help="Launch even if agents are offline now; they must be back in time.")
]


def _read(file: Path) -> str:
    if str(file) == "-":
        return sys.stdin.read()
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidError("file_unreadable", f"Cannot read {file}: {why}. Examples are in docs/examples/.") from error


@app.command("list")
def list_campaigns(
    words: Annotated[str, typer.Option("--search", help="Words in the name, notes, tags, links or conditions")] = "",
    state: Annotated[str | None, typer.Option(help="draft, running, paused, complete or cancelled")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="With this tag; repeat for several")] = None,
    link: Annotated[str | None, typer.Option(help="Using this link")] = None,
    sort: Annotated[
        str, typer.Option(help="created_at, launched_at, ended_at, name or state; prefix with - to reverse the order")
    ] = "-created_at",
    as_json: AsJson = False,
) -> None:
    """List campaigns with state and progress; filters are combined (AND)."""
    asked = {"q": words, "state": state, "tag": tag, "link": link, "sort": sort}
    given = {key: value for key, value in asked.items() if value}
    nothing = (
        "No campaign fits."
        if any((words, state, tag, link))
        else "No campaigns yet: `downlink campaigns create FILE` makes one."
    )
    show(connect().items("/campaigns", **given), COLUMNS, as_json, nothing)


@app.command()
def describe(
    campaign: Which,
    notes: Annotated[str | None, typer.Option(help="New notes")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="Add this tag; repeat for several")] = None,
    untag: Annotated[list[str] | None, typer.Option(help="Remove this tag; repeat for several")] = None,
    by_address: Annotated[
        bool | None,
        typer.Option(
            "--by-address/--by-link", help="Whether to group runs by the public address that their senders saw"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change a campaign's notes, tags and grouping, in any state."""
    client = connect()
    path = f"/campaigns/{campaign_id(client, campaign)}"
    gone = {name.casefold() for name in untag or ()}
    body: dict[str, Any] = {} if notes is None else {"notes": notes}
    if tag or untag:
        kept = [name for name in client.get(path)["tags"] if name.casefold() not in gone]
        body["tags"] = [*kept, *(tag or ())]
    if by_address is not None:
        body["splits_by_address"] = by_address
    if not body:
        raise InvalidError("nothing_to_change", "Give --notes, --tag, --untag, --by-address or --by-link.")
    described = client.patch(path, body)
    if as_json:
        print_json(described)
    else:
        say(f"{described['name']}: {', '.join(described['tags']) or 'no tags'}.")


@app.command("schema")
def show_schema() -> None:
    """Print the JSON Schema of campaign files, for completion and checks in editors."""
    print_json(connect().get("/campaigns/schema"))


@app.command("show")
def show_campaign(campaign: Which, as_json: AsJson = False) -> None:
    """Show one campaign."""
    client = connect()
    shown = client.get(f"/campaigns/{campaign_id(client, campaign)}")
    if as_json:
        print_json(shown)
        return
    print_table([shown], COLUMNS)
    if shown.get("being_removed") == "all":
        say(f"It is being deleted: {sum(shown['counts'].values()):,} of its runs are left.")
    _say_next(client, campaign)
    if shown["precision"]:
        print_precision(shown["precision"])
    say(f"\n{shown['source'].rstrip()}")


@app.command()
def preview(file: File, as_json: AsJson = False) -> None:
    """Show what a campaign file would do, without saving it. Exit status 1 when conflicts prevent a launch."""
    plan = connect().post("/campaigns/preview", {"source": _read(file)})
    if as_json:
        print_json(plan)
    else:
        _print_preview(plan)
    if any(each["is_blocking"] for each in plan["conflicts"]):
        raise typer.Exit(1)


@app.command()
def create(
    file: File,
    is_launched: Annotated[bool, typer.Option("--launch", help="Launch it at once.")] = False,
    is_watched: Annotated[bool, typer.Option("--watch", help="Launch it and follow it to its end.")] = False,
    even_if_offline: EvenIfOffline = False,
    as_json: AsJson = False,
) -> None:
    """Save a campaign file as a draft; print its id."""
    client = connect()
    made = client.post("/campaigns", {"source": _read(file)})
    if not as_json:
        say(made["id"])  # the draft stays where its launch is refused
    if is_launched or is_watched:
        made = client.post(f"/campaigns/{made['id']}/launch", {"even_if_offline": even_if_offline}) or made
    if as_json:
        print_json(made)
    if is_watched:
        _follow(client, made["id"], is_plain=as_json)


@app.command()
def duplicate(
    campaign: Which,
    name: Annotated[str | None, typer.Option(help="Name of the new draft (default: the old name with (copy))")] = None,
    as_json: AsJson = False,
) -> None:
    """Create a new draft from a campaign's file; print its id."""
    client = connect()
    made = client.post(f"/campaigns/{campaign_id(client, campaign)}/duplicate", {"name": name})
    if as_json:
        print_json(made)
    else:
        say(made["id"])


@app.command()
def launch(campaign: Which, even_if_offline: EvenIfOffline = False) -> None:
    """Launch a campaign: its runs get their due times."""
    _change(campaign, "launch", "is launched", {"even_if_offline": even_if_offline})
    _say_next(connect(), campaign)


@app.command()
def pause(campaign: Which) -> None:
    """Pause a campaign: start no further run. The current run continues to its end."""
    _change(campaign, "pause", "is paused")


@app.command()
def resume(campaign: Which) -> None:
    """Resume a paused campaign."""
    _change(campaign, "resume", "is resumed")


@app.command()
def cancel(campaign: Which) -> None:
    """Cancel a campaign now. Measured data stays."""
    _change(campaign, "cancel", "is cancelled")


@app.command()
def rerun(campaign: Which, as_json: AsJson = False) -> None:
    """Rerun what failed, was missed or is incomplete, each in its slot of the plan. A complete campaign resumes."""
    client = connect()
    made = client.post(f"/campaigns/{campaign_id(client, campaign)}/rerun")
    if as_json:
        print_json(made)
    else:
        say(f"{counted(made['runs'], 'run')} will be repeated.")


@app.command()
def delete(campaign: Which) -> None:
    """Delete a draft or an ended campaign with all its data."""
    client = connect()
    identity = campaign_id(client, campaign)
    left = client.delete(f"/campaigns/{identity}")
    if left:
        say(
            f"Its {left['runs_left']:,} runs are being deleted; `downlink campaigns show {identity}` says how many are left."
        )
    else:
        say("Deleted.")


@app.command()
def watch(
    campaign: Which,
    is_plain: Annotated[bool, typer.Option("--plain", help="Print lines instead of a progress bar.")] = False,
) -> None:
    """Follow a campaign to its end. Exit status 0 only if every planned run is complete."""
    client = connect()
    _follow(client, campaign_id(client, campaign), is_plain)


def _change(campaign: str, verb: str, done: str, body: dict[str, Any] | None = None) -> None:
    client = connect()
    identity = campaign_id(client, campaign)
    client.post(f"/campaigns/{identity}/{verb}", body)
    say(f"Campaign {identity} {done}.")


def _say_next(client: Client, campaign: str) -> None:
    """Print when the next run is due, for a campaign that follows a clock: in its start's zone, else in UTC."""
    shown = client.get(f"/campaigns/{campaign_id(client, campaign)}")
    timetable = shown["spec"]["timetable"]
    start = timetable["start_at"]
    for each in client.get(f"/campaigns/{shown['id']}/now").get("waits", []):
        say(f"Its next run waits: {each['waits_for']}")
    if shown["next_due_at"] and (start or timetable["opening_hours"]):
        say(f"Its next run is due {local_moment(shown['next_due_at'], start.split()[-1] if start else None)}.")


def _follow(client: Client, identity: str, is_plain: bool) -> None:
    from downlink.cli.watch import all_complete, follow

    if not all_complete(follow(client, identity, is_plain)):
        raise typer.Exit(1)


def _print_preview(plan: dict[str, Any]) -> None:
    estimate = plan["estimate"]
    print_table(
        plan["runs"],
        [
            ("due", lambda r: f"+{duration(r['due_s'])}"),
            ("at", lambda r: local_moment(r["due_at"], plan["time_zones"].get(r["link"]))),
            ("link", lambda r: r["link"]),
            ("cycle", lambda r: r["cycle"]),
            ("condition", lambda r: r["condition"]),
        ],
    )
    if estimate["runs"] > len(plan["runs"]):
        note(f"These are the first {len(plan['runs'])}.")
    say(
        f"\n{counted(estimate['runs'], 'run')}, up to {megabytes(estimate['bytes'])}, about {duration(estimate['duration_s'])}"
    )
    if plan["campaign"].get("trigger"):
        say(f"This is one firing; there are {plan['campaign']['trigger']['most']} at most.")
    if plan["forecast"]:
        say_forecast(plan["forecast"])
    for sharing in plan["sharing"]:
        others = ", ".join(f"{other['name']} (weight {other['weight']})" for other in sharing["others"])
        say(f"{sharing['link']}: {sharing['share']:.0%} of its time while these want it too: {others}")
    print_hosts(plan["hosts"])
    for conflict in plan["conflicts"]:
        note(f"{'conflict' if conflict['is_blocking'] else 'warning'}: {placed(conflict)}")


app.command()(triggers.trigger)
for _command in (*results.COMMANDS, *shares.COMMANDS):
    app.command()(_command)
for _name, _named in retention.COMMANDS.items():
    app.command(_name)(_named)
