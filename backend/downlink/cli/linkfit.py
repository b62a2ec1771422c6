"""`downlink links fit`: a link profile of runs, and how it compares with them."""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from downlink.cli.client import Client
from downlink.cli.files import write_text
from downlink.cli.fitted_profile import profile_name, profile_text
from downlink.cli.lookup import campaign_id, connect
from downlink.cli.output import AsJson, Column, note, print_json, print_table, say
from downlink.domain.errors import InvalidError, NotFoundError

if TYPE_CHECKING:
    from downlink.analysis.linkfit.compare import Compared
    from downlink.analysis.linkfit.fit import Fit
    from downlink.analysis.linkfit.parameters import Parameter
    from downlink.analysis.linkfit.recordings import Recorded

AGENT = "downlink-agent"
HYSTART = "tcp_cubic.hystart"
WITHOUT_HYSTART = "dl_cubic_nohs"
"""The control that is the kernel's CUBIC with HyStart off."""
PROBE = "probe"
PER_ACK = "per_ack"
"""None is said of imported flows alone: their columns decide."""

PARAMETER_COLUMNS: list[Column] = [
    ("parameter", lambda p: p["title"]),
    ("unit", lambda p: p["unit"]),
    ("value", lambda p: _number(p["value"])),
    ("± standard error", lambda p: _number(p["error"])),
    ("from", lambda p: p["source"]),
]
COMPARED_COLUMNS: list[Column] = [
    ("statistic", lambda c: c["title"]),
    ("unit", lambda c: c["unit"]),
    ("recorded", lambda c: _number(c["recorded"])),
    ("emulated", lambda c: _number(c["emulated"])),
    ("off", lambda c: None if c["off_percent"] is None else f"{c['off_percent']:+.1f} %"),
    ("KS distance", lambda c: None if c["ks"] is None else f"{c['ks']:.3f}"),
    ("n", lambda c: f"{c['n'][0]} / {c['n'][1]}"),
]


@dataclass(frozen=True)
class Material:
    """Runs of one link, opened. remarks: why a run or a flow of it takes no part."""

    link: str
    runs: list[str]
    recorded: Recorded
    remarks: list[str]


def fit_command(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN…", help="Runs over one link, by id (`downlink runs list`)")
    ] = None,
    *,
    into: Annotated[Path, typer.Option(help="Profile to write; its name is the file's: my-dish.yaml is my-dish")],
    campaign: Annotated[str | None, typer.Option(help="Add all complete runs of a campaign")] = None,
    agent: Annotated[
        Path | None,
        typer.Option(help="Path of downlink-agent for the emulation (default: found on PATH)"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Fit a link profile to measurements, and compare recorded with emulated flows."""
    from downlink.analysis.linkfit.fit import fit
    from downlink.analysis.linkfit.parameters import parameters, unknown

    name = profile_name(into.stem if into.suffix == ".yaml" else "")
    client = connect()
    material = gather(client, _wanted(client, runs or [], campaign))
    for remark in material.remarks:
        note(remark)
    note("Estimating …")
    fitted = fit(material.recorded)
    if fitted is None:
        raise InvalidError("fit_impossible", f"Nothing of these runs gives a round-trip time. {NEEDED}")
    link = _link(client, material.link)
    text = profile_text(name, link["orbit"], link["nominal_rate_bps"], fitted, material.runs, datetime.now(UTC).date())
    write_text(into, text)
    compared = _emulate(material.recorded, fitted, into, agent)
    rows = [_row(each) for each in parameters(fitted)]
    if as_json:
        print_json(
            {
                "profile": str(into),
                "parameters": rows,
                "unknown": unknown(fitted),
                "compared": compared,
                "remarks": material.remarks,
            }
        )
        return
    print_table(rows, PARAMETER_COLUMNS)
    say("\nWhat these runs do not show:")
    for sentence in unknown(fitted):
        say(f"- {sentence}")
    if compared:
        say("\nThe same flows recorded and emulated (medians where there is a KS distance):")
        print_table(compared, COMPARED_COLUMNS)
    note(f"\n{into} is written. `downlink-agent link up --name {name} --profile {_path(into)}` builds the link.")


NEEDED = (
    "A fit needs runs with probe flows alone (`flows: [{probe: {every_ms: 73}}]`), with TCP flows alone that record every ACK "
    "(`sampling: per_ack`), or best both; docs/link-profiles.md has a campaign for it."
)


def _wanted(client: Client, runs: Sequence[str], campaign: str | None) -> list[str]:
    listed = client.items(f"/campaigns/{campaign_id(client, campaign)}/runs") if campaign else []
    wanted = list(dict.fromkeys([*runs, *(run["id"] for run in listed if run["state"] == "complete")]))
    if not wanted:
        raise InvalidError(
            "no_runs",
            "Name the runs to fit a profile to, or a campaign: `downlink links fit --campaign C --into FILE`.",
        )
    return wanted


def gather(client: Client, wanted: Sequence[str]) -> Material:
    """Fetch what the runs recorded. InvalidError where they are of different links, or where none is of use."""
    from downlink.analysis.linkfit.recordings import Recorded

    runs = [client.get(f"/runs/{run}") for run in wanted]
    links = sorted({run["link"] for run in runs})
    if len(links) > 1:
        raise InvalidError(
            "several_links", f"These runs are of {', '.join(links)}: a profile is of one link. Name runs of one."
        )
    probes, flows, remarks = [], [], []
    for run in _with_progress(runs):
        for flow in run["flows"]:
            if reason := _unfit(run, flow):
                remarks.append(f"Run {run['id']}, flow {flow['flow']} takes no part: {reason}.")
            elif flow["asked_cc"] == PROBE:
                probes.append(_echoes(client, run, flow))
            elif (acks := _acks(client, run, flow)) is not None:
                flows.append(acks)
            else:
                remarks.append(
                    f"Run {run['id']}, flow {flow['flow']} takes no part: its trace has no RTT of each ACK (`sampling: per_ack`)."
                )
    if not probes and not flows:
        raise InvalidError("runs_unfit", " ".join([*remarks, NEEDED]))
    recorded = Recorded(tuple(probes), tuple(flows))
    return Material(links[0], [run["id"] for run in runs if run["id"] in recorded.runs], recorded, remarks)


def _unfit(run: dict[str, Any], flow: dict[str, Any]) -> str | None:
    """Explain why a flow cannot describe the link alone; None if it can."""
    data = [each for each in run["flows"] if each["asked_cc"] != PROBE]
    if run["state"] != "complete":
        return f"the run is {run['state']}" + (f" ({run['reason']})" if run["reason"] else "")
    if flow["traces"]["sender"]["state"] != "sealed":
        return "its sender's trace is not complete"
    if flow["asked_cc"] != PROBE and len(data) > 1:
        return f"{len(data)} TCP flows shared the link"
    if flow["asked_cc"] == PROBE and data:
        return "data went over the link beside its probes, whose RTT is then that of a queue"
    if flow["asked_cc"] != PROBE and flow["sampling"] not in (PER_ACK, None):
        return "it was sampled now and then, and not at each ACK (`sampling: per_ack`)"
    return None


def _with_progress(runs: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    if not sys.stderr.isatty():
        return _with_lines(runs)
    from rich.console import Console
    from rich.progress import track

    return track(runs, "traces", console=Console(stderr=True))


def _with_lines(runs: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for number, run in enumerate(runs, 1):
        note(f"Run {number} of {len(runs)}: {run['id']}")
        yield run


def _echoes(client: Client, run: dict[str, Any], flow: dict[str, Any]) -> Any:
    from downlink.analysis.linkfit.recordings import echoes

    is_known = flow["traces"]["receiver"]["state"] == "sealed"
    receiver = _trace(client, run, flow, "receiver") if is_known else {}
    return echoes(run["id"], _trace(client, run, flow, "sender"), receiver, is_alone=True)


def _acks(client: Client, run: dict[str, Any], flow: dict[str, Any]) -> Any:
    from downlink.analysis.linkfit.recordings import acks

    columns = _trace(client, run, flow, "sender")
    if "ack_rtt_us" not in columns or not ({"delivered_segments", "acked_bytes"} & set(columns)):
        return None
    has_hystart = all((host["settings_during"] or {}).get(HYSTART) != "0" for host in run["hosts"])
    cc = flow["actual_cc"] or flow["asked_cc"]
    if cc == WITHOUT_HYSTART:
        cc, has_hystart = "cubic", False
    return acks(run["id"], cc, columns, flow["first_byte_us"] or 0, has_hystart)


def _trace(client: Client, run: dict[str, Any], flow: dict[str, Any], point: str) -> dict[str, Any]:
    from downlink.codec.parquet import parquet_to_columns

    content = io.BytesIO()
    client.download(f"/runs/{run['id']}/traces/{flow['flow']}/{point}.parquet", content)
    return parquet_to_columns(content.getvalue())


def _link(client: Client, name: str) -> dict[str, Any]:
    return next(
        (link for link in client.items("/links") if link["name"] == name),
        {"orbit": "terrestrial", "nominal_rate_bps": 10_000_000},
    )


def _emulate(recorded: Recorded, fitted: Fit, profile: Path, agent: Path | None) -> list[dict[str, Any]]:
    """The comparison; empty, with a remark, where no agent is at hand."""
    from downlink.analysis.linkfit.compare import compare
    from downlink.analysis.linkfit.orders import emulated, orders

    program = agent or find_agent()
    if program is None:
        note(
            "No downlink-agent is found on this machine, so nothing is emulated: --agent names one (docs/operations.md)."
        )
        return []
    wanted = orders(recorded, fitted)
    note(f"Emulating {len(wanted)} flows in virtual time …")
    return [_compared_row(each) for each in compare(recorded, emulated(carry_out(program, profile, wanted)), fitted)]


def find_agent() -> Path | None:
    """Find the agent's program on the path, or as it is built in a checkout."""
    built = Path(__file__).parents[3] / "agents" / "bin" / AGENT
    on_path = shutil.which(AGENT)
    return Path(on_path) if on_path else built if os.access(built, os.X_OK) else None


def carry_out(program: Path, profile: Path, orders: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records of flows over a profile, by `downlink-agent profiles run`."""
    command = [str(program), "profiles", "run", _path(profile)]
    try:
        done = subprocess.run(
            command, input="\n".join(map(json.dumps, orders)), capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise NotFoundError("agent_unusable", f"{program} cannot be started: {error.strerror}.") from error
    if done.returncode:
        raise InvalidError("profile_refused", f"{program} refuses the profile: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def _path(profile: Path) -> str:
    """Return the profile's path in a form that the agent takes for a file, and not for the name of a profile."""
    return str(profile if "/" in str(profile) else Path(".") / profile)


def _row(each: Parameter) -> dict[str, Any]:
    return {key: _known(value) for key, value in vars(each).items()}


def _compared_row(each: Compared) -> dict[str, Any]:
    return {**{key: _known(value) for key, value in vars(each).items()}, "off_percent": _known(each.off_percent)}


def _known(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:.4g}"
