"""`downlink runs`: single measurements and their traces."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from downlink.cli.client import Client
from downlink.cli.files import download
from downlink.cli.lookup import campaign_id, connect
from downlink.cli.output import AsJson, Column, megabits, moment, note, print_json, print_table, say, show
from downlink.domain.results.metric import LINKED, LOST, NAMED
from downlink.domain.traces.point import Point

app = typer.Typer(help="Runs of a campaign: list, show, cancel, rerun, download a trace.", no_args_is_help=True)


def _state(run: Mapping[str, Any]) -> str:
    """Return the run's state, with remarks about its numbers."""
    remarks = {
        "partial": (run.get("import_source") or {}).get("partial"),
        "implausible": run.get("implausible"),
        "left out": (run.get("decision") or {}).get("keeps") is False,
    }
    return ", ".join([run["state"], *(name for name, holds in remarks.items() if holds)])


COLUMNS: list[Column] = [
    ("run", lambda r: r["id"]),
    ("cycle", lambda r: r["cycle"]),
    ("condition", lambda r: r["condition"]),
    ("link", lambda r: r["link"]),
    ("attempt", lambda r: r["attempt"]),
    ("state", _state),
    ("started", lambda r: moment(r["started_at"])),
    ("throughput", lambda r: megabits(r["throughput_bps"])),
    ("reason", lambda r: r["reason"]),
    ("detail", lambda r: r["detail"]),
]

FLOW_COLUMNS: list[Column] = [
    ("flow", lambda f: f["flow"]),
    ("sender", lambda f: f["sender"]),
    ("receiver", lambda f: f["receiver"]),
    ("asked", lambda f: f["asked_cc"]),
    ("actual", lambda f: f["actual_cc"]),
    ("throughput", lambda f: megabits(f["throughput_bps"])),
    ("goodput", lambda f: megabits(f["goodput_bps"])),
    ("ended", lambda f: f["ended"]),
    ("sender samples", lambda f: f["traces"]["sender"]["samples"]),
    ("receiver samples", lambda f: f["traces"]["receiver"]["samples"]),
]

HOP_COLUMNS: list[Column] = [
    ("flow", lambda h: h["flow"]),
    ("hop", lambda h: h["place"] or "last"),
    ("from", lambda h: h["begins_at"] or "site"),
    ("to", lambda h: h["ends_at"] or "site"),
    ("sent bytes", lambda h: h["totals"]["sent_bytes"]),
    ("arrived bytes", lambda h: h["totals"]["arrived_bytes"]),
    ("lost packets", lambda h: h["totals"]["lost_packets"]),
    ("repaired bytes", lambda h: h["totals"]["repaired_bytes"]),
    ("bytes from cache", lambda h: h["totals"]["hit_bytes"]),
]

SUMMARY_COLUMNS: list[Column] = [
    ("direction", lambda s: s["direction"]),
    ("sent", lambda s: megabits(s["sent_bps"])),
    ("received", lambda s: megabits(s["received_bps"])),
    ("retransmitted segments", lambda s: s["retransmitted_segments"]),
    ("seconds", lambda s: s["duration_s"]),
    ("omitted seconds", lambda s: s["omitted_s"]),
]


@app.command("list")
def list_runs(campaign: str, as_json: AsJson = False) -> None:
    """List a campaign's runs with state and reason."""
    client = connect()
    rows = client.items(f"/campaigns/{campaign_id(client, campaign)}/runs")
    show(rows, COLUMNS, as_json, "No runs yet: `downlink campaigns launch` plans them.")


@app.command("show")
def show_run(run: str, as_json: AsJson = False) -> None:
    """One run: flows, settings before, during and after, events."""
    client = connect()
    shown = client.get(f"/runs/{run}")
    if as_json:
        print_json(shown)
    else:
        _print_run(shown)
        _print_link(client, shown)


@app.command()
def cancel(run: str) -> None:
    """Cancel a run; its hosts' settings are restored."""
    connect().post(f"/runs/{run}/cancel")
    say("Cancelled; the hosts are being put back.")


Why = Annotated[str, typer.Option(help="The reason, for the record")]


@app.command("leave-out")
def leave_out(run: str, why: Why) -> None:
    """Exclude a run from all statistics over several runs; its own numbers stay."""
    connect().put(f"/runs/{run}/decision", {"keeps": False, "why": why})
    say("Left out; the report is being made again.")


@app.command()
def keep(run: str, why: Why) -> None:
    """Keep a run that is marked implausible; the decision is recorded."""
    connect().put(f"/runs/{run}/decision", {"keeps": True, "why": why})
    say("Kept.")


@app.command()
def rerun(run: str, as_json: AsJson = False) -> None:
    """Plan another attempt of a run that failed, was missed, cancelled or is incomplete; print the new run's id."""
    made = connect().post(f"/runs/{run}/rerun")
    if as_json:
        print_json(made)
    else:
        say(made["id"])
        note(
            f"Attempt {made['attempt']} of {made['condition']}, cycle {made['cycle']}, is due {moment(made['due_at'])}."
        )


def _point(text: str) -> Point:
    try:
        return Point(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


@app.command()
def trace(
    run: str,
    flow: Annotated[int, typer.Option(min=1)] = 1,
    point: Annotated[
        str,
        typer.Option(
            "--point",
            "--end",
            parser=_point,
            metavar="POINT",
            help="Measurement point: sender, receiver, link; hop-1, hop-2, … at relays; sent and delivered, the halves of a "
            "delivery table; sites, of an emulated link.",
        ),
    ] = "sender",
    form: Annotated[Literal["parquet", "csv"], typer.Option("--format")] = "parquet",
    to: Annotated[Path | None, typer.Option(help="File to write; named after the run when left out")] = None,
) -> None:
    """Download the samples of one flow at one point, or an emulated link's log."""
    if point == Point.LINK:  # an emulated link's log is its run's
        flow = 0
    file = to or Path(f"{run}-{flow}-{point}.{form}")
    size = download(connect(), f"/runs/{run}/traces/{flow}/{point}.{form}", file)
    note(f"{file}: {size:,} bytes")


@app.command()
def hops(
    run: str,
    as_json: AsJson = False,
    to: Annotated[
        Path | None, typer.Option(help="CSV file for every interval of every hop, instead of the totals")
    ] = None,
) -> None:
    """Show what each hop of a run's relayed flows sent, received, lost and repaired."""
    client = connect()
    if to:
        note(f"{to}: {download(client, f'/runs/{run}/hops.csv', to):,} bytes")
        return
    hop_courses = client.get(f"/runs/{run}/hops")
    rows = [{**flow, **hop} for flow in hop_courses["flows"] for hop in flow["hops"]]
    if as_json:
        print_json(hop_courses)
        return
    print_table(rows, HOP_COLUMNS)
    if any(flow["is_summed"] for flow in hop_courses["flows"]):
        note("The relays are sites of an emulated link, and their agent gave only the sums over all of them.")
    if shared := [str(flow["flow"]) for flow in hop_courses["flows"] if flow["is_of_content"]]:
        note(
            f"Flows {', '.join(shared)} share a content: the sender and relays counted what they did for all of these."
        )


def _print_run(run: dict[str, Any]) -> None:
    print_table([run], COLUMNS)
    for sentence in run.get("implausible") or ():
        say(f"\nImplausible: {sentence}")
    if decision := run.get("decision"):
        say(f"\n{decision['by']} {'keeps it' if decision['keeps'] else 'left it out'}: {decision['why']}")
    if way := run.get("way"):
        told = [f"{end} {way[end]}" for end in ("receiver", "sender") if way[end]]
        say(f"\nWay: {'; '.join(told)}; seen by the sender as {', '.join(way['addresses']) or 'unknown'}.")
    for each in run.get("unexpected", ()):
        say(f"\nOutside its expected range. {each['detail']}")
    say("")
    print_table(run["flows"], FLOW_COLUMNS)
    if partial := (run["import_source"] or {}).get("partial"):
        say(f"\nPartial: parts of the file are in no number. {'; '.join(partial)}.")
    if summaries := (run["import_source"] or {}).get("summaries"):
        say(f"\nThe totals of {run['import_source']['source']} itself:")
        print_table(summaries, SUMMARY_COLUMNS)
    for host in run["hosts"]:
        say(f"\n{host['agent']} ({', '.join(host['roles'])}), restored: {_yes_no(host['is_restored'])}")
        print_table(_settings(host), [(key, itemgetter(key)) for key in SETTING_KEYS])
    say("")
    print_table(
        run["events"], [("at", lambda e: e["at"]), ("event", lambda e: e["kind"]), ("detail", lambda e: e["detail"])]
    )


def _print_link(client: Client, run: dict[str, Any]) -> None:
    """Print the activity of an emulated link, by its log: a column for each phase, and its losses of each flow."""
    log = run["link_log"]
    if log is None or log["trace"]["state"] != "sealed":
        if run["link_seed"] is not None:
            say("\nThere is no log of the emulated link.")
        return
    course = client.get(f"/runs/{run['id']}/link")
    say("\nThe emulated link, by its log:")
    phases = course["phases"]
    lines = [{"name": name, **{phase: phases[phase][name] for phase in phases}} for name in LINKED]
    print_table(lines, [("to the receiver", lambda row: _titled(row["name"])), *(_shown(phase) for phase in phases)])
    print_table(
        course["flows"], [("flow", itemgetter("flow")), *((NAMED[name].title, itemgetter(name)) for name in LOST)]
    )


def _titled(name: str) -> str:
    return f"{NAMED[name].title}, {NAMED[name].shown_unit}"


def _shown(phase: str) -> Column:
    def read(row: Mapping[str, Any]) -> str | None:
        number = row[phase]
        return None if number is None else f"{number * NAMED[row['name']].shown_factor:.4g}"

    return phase, read


SETTING_KEYS = ("setting", "asked", "before", "during", "after")


def _settings(host: dict[str, Any]) -> list[dict[str, Any]]:
    columns = {key: host[f"settings_{key}"] or {} for key in SETTING_KEYS[1:]}
    names = sorted(set().union(*columns.values()))
    return [{"setting": name, **{key: values.get(name) for key, values in columns.items()}} for name in names]


def _yes_no(value: bool | None) -> str:
    return "not yet known" if value is None else "yes" if value else "NO"
