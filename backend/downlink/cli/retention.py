"""How long campaigns keep their data: `downlink storage`, `campaigns keep`, `campaigns remove-data`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from downlink.cli.campaign_results import Which
from downlink.cli.lookup import campaign_id, connect
from downlink.cli.output import AsJson, Column, megabytes, moment, note, print_json, say, show
from downlink.domain.errors import InvalidError
from downlink.domain.retention import PARTS, Part

Days = Annotated[int | None, typer.Option(help="Days after the campaign's end; 0: for good")]
PARTS_SAID = {
    "traces": "the raw traces",
    "series": "the raw traces and the one-second series",
    "all": "the campaign with everything it has",
}


def _next(campaign: Any) -> str:
    if campaign["going"]:
        return f"{campaign['going']}: being removed now"
    if campaign["is_pinned"]:
        return "nothing: pinned"
    found = campaign["next"]
    return f"{found['part']} at {moment(found['due_at'])}" if found else ""


CAMPAIGNS: list[Column] = [
    ("campaign", lambda c: c["name"]),
    ("state", lambda c: c["state"]),
    ("raw traces", lambda c: megabytes(c["size"]["traces_bytes"])),
    ("series", lambda c: megabytes(c["size"]["series_bytes"])),
    ("goes next", _next),
]
PARTS_SHOWN: list[Column] = [
    ("part", lambda p: p["part"]),
    ("would go", lambda p: PARTS_SAID[p["part"]]),
    ("runs", lambda p: p["runs"]),
    ("size", lambda p: megabytes(p["bytes"])),
    ("goes at", lambda p: moment(p["due_at"]) or "never by rule"),
]


def storage_command(as_json: AsJson = False) -> None:
    """What each campaign takes, the largest first, and what of it goes when."""
    found = connect().get("/retention")
    if as_json:
        print_json(found)
        return
    show(found["items"], CAMPAIGNS, as_json, "No campaigns yet: nothing takes room.")
    note(
        f"Raw traces {megabytes(found['traces_bytes'])}, series {megabytes(found['series_bytes'])}; "
        f"the database as a whole has {megabytes(found['database_bytes'])}."
    )


def keep(
    campaign: Which,
    traces_days: Days = None,
    series_days: Days = None,
    all_days: Days = None,
    pin: Annotated[bool | None, typer.Option(help="Whether nothing of it may be removed")] = None,
    is_preview: Annotated[bool, typer.Option("--preview", help="Change nothing; show what would go")] = False,
    as_json: AsJson = False,
) -> None:
    """Say how long the campaign's data is kept after its end; without options show what is kept and what would go."""
    client = connect()
    path = f"/campaigns/{campaign_id(client, campaign)}/retention"
    found = client.get(path)
    asked = {"traces_days": traces_days, "series_days": series_days, "all_days": all_days}
    if pin is not None or any(days is not None for days in asked.values()):
        rule = {name: found[name] if days is None else days or None for name, days in asked.items()}
        body = {**rule, "is_pinned": found["is_pinned"] if pin is None else pin}
        found = client.post(f"{path}/preview", body) if is_preview else client.put(path, body)
    if as_json:
        print_json(found)
        return
    show(found["parts"], PARTS_SHOWN, as_json, "")
    _remarks(found)


def _remarks(found: Any) -> None:
    if found["is_pinned"]:
        note("It is pinned: nothing is removed.")
    if found["going"]:
        note(f"Being removed now: {PARTS_SAID[found['going']]}.")
    if count := found["removed"]["traces_runs"]:
        since = moment(found["removed"]["traces_at"])
        note(f"The raw traces of {count} runs were removed from {since} on: their numbers cannot be computed again.")


def remove_data(
    campaign: Which,
    part: Annotated[str, typer.Argument(help="traces, series or all", metavar="PART")],
    is_sure: Annotated[bool, typer.Option("--yes", help="Do not ask")] = False,
) -> None:
    """Remove a part of an ended campaign's data now, for good: traces; series (with the traces); all."""
    if part not in PARTS:
        raise InvalidError("part_unknown", f"There is no part {part!r}: type traces, series or all.")
    client = connect()
    found_id = campaign_id(client, campaign)
    (found,) = [each for each in client.get(f"/campaigns/{found_id}/retention")["parts"] if each["part"] == part]
    note(f"This removes {PARTS_SAID[part]}: {found['runs']} runs, {megabytes(found['bytes'])}. It cannot be undone.")
    if Part(part) is not Part.ALL:
        note("What was computed stays, and cannot be computed again.")
    if not is_sure:
        typer.confirm("Remove it?", abort=True, err=True)
    client.post(f"/campaigns/{found_id}/removal", {"part": part})
    say("The server removes it; `downlink campaigns keep` shows how far it is.")


COMMANDS: Mapping[str, Callable[..., None]] = {"keep": keep, "remove-data": remove_data}
