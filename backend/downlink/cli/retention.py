"""Retention of campaigns' data: `downlink storage`, `campaigns keep`, `campaigns remove-data`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from shlex import quote
from typing import Annotated, Any

import typer

from downlink.cli.campaign_results import Which
from downlink.cli.lookup import campaign_id, connect
from downlink.cli.output import AsJson, Column, counted, megabytes, moment, note, print_json, say, show
from downlink.domain.campaigns.retention import MOST_DAYS, PARTS, Part
from downlink.domain.errors import InvalidError

Days = Annotated[int | None, typer.Option(min=0, max=MOST_DAYS, help="Days after the campaign's end; 0: for ever")]
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
    removal = campaign["next"]
    return f"{removal['part']} at {moment(removal['due_at'])}" if removal else ""


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
    ("goes at", lambda p: p["goes"]),
]


def _parts(answer: Any) -> list[dict[str, Any]]:
    """The parts, each with when it goes: with the first of it and of those that take it along."""
    parts = answer["parts"]
    return [{**part, "goes": _goes(answer, parts[rank:])} for rank, part in enumerate(parts)]


def _goes(answer: Any, taking: Sequence[Any]) -> str:
    if due := [part["due_at"] for part in taking if part["due_at"]]:
        return moment(min(due))
    days = [days for part in taking if (days := answer[f"{part['part']}_days"]) is not None]
    return f"{counted(min(days), 'day')} after its end" if days and not answer["is_pinned"] else "never by rule"


def storage_command(as_json: AsJson = False) -> None:
    """List each campaign's disk use, largest first, and when its data expires."""
    storage = connect().get("/retention")
    if as_json:
        print_json(storage)
        return
    show(storage["items"], CAMPAIGNS, as_json, "No campaigns yet: nothing takes room.")
    note(
        f"Raw traces {megabytes(storage['traces_bytes'])}, series {megabytes(storage['series_bytes'])}; "
        f"the database as a whole has {megabytes(storage['database_bytes'])}."
    )


def keep(
    campaign: Which,
    traces_days: Days = None,
    series_days: Days = None,
    all_days: Days = None,
    pin: Annotated[bool | None, typer.Option(help="Whether to protect all of it from removal")] = None,
    is_preview: Annotated[bool, typer.Option("--preview", help="Change nothing; show what would be removed")] = False,
    as_json: AsJson = False,
) -> None:
    """Set how long a campaign's data is kept after its end; without options show what is kept and what expires."""
    client = connect()
    path = f"/campaigns/{campaign_id(client, campaign)}/retention"
    answer = client.get(path)
    asked = {"traces_days": traces_days, "series_days": series_days, "all_days": all_days}
    if pin is not None or any(days is not None for days in asked.values()):
        rule = {name: answer[name] if days is None else days or None for name, days in asked.items()}
        body = {**rule, "is_pinned": answer["is_pinned"] if pin is None else pin}
        answer = client.post(f"{path}/preview", body) if is_preview else client.put(path, body)
    if as_json:
        print_json(answer)
        return
    show(_parts(answer), PARTS_SHOWN, as_json, "")
    if is_preview:
        note("Nothing was changed.")
    _remarks(answer)


def _remarks(answer: Any) -> None:
    if answer["is_pinned"]:
        note("It is pinned: nothing is removed.")
    if answer["going"]:
        note(f"Being removed now: {PARTS_SAID[answer['going']]}.")
    for part, what in (("traces", "raw traces"), ("series", "one-second series")):
        if count := answer["removed"][f"{part}_runs"]:
            since = moment(answer["removed"][f"{part}_at"])
            note(f"The {what} of {counted(count, 'run')} were removed from {since} on.")
    if answer["removed"]["traces_runs"]:
        note("What was computed of them stays, and cannot be computed again.")


def remove_data(
    campaign: Which,
    part: Annotated[str, typer.Argument(help="traces, series or all", metavar="PART")],
    is_sure: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation")] = False,
) -> None:
    """Permanently remove part of an ended campaign's data: traces; series (with the traces); all."""
    if part not in PARTS:
        raise InvalidError("part_unknown", f"There is no part {part!r}: type traces, series or all.")
    client = connect()
    found_id = campaign_id(client, campaign)
    (taken,) = [each for each in client.get(f"/campaigns/{found_id}/retention")["parts"] if each["part"] == part]
    note(
        f"This removes {PARTS_SAID[part]}: {counted(taken['runs'], 'run')}, {megabytes(taken['bytes'])}. It cannot be undone."
    )
    if Part(part) is not Part.ALL:
        note("What was computed stays, and cannot be computed again.")
    if not is_sure:
        typer.confirm("Remove it?", abort=True, err=True)
    client.post(f"/campaigns/{found_id}/removal", {"part": part})
    say(f"The server removes it; `downlink campaigns keep {quote(campaign)}` shows how far it is.")


COMMANDS: Mapping[str, Callable[..., None]] = {"keep": keep, "remove-data": remove_data}
