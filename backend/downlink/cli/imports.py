"""`downlink import`: files of other tools become runs on the server, or are only checked, which needs none."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from downlink.cli.client import Access, Client, find_access
from downlink.cli.exits import load_file
from downlink.cli.lookup import campaign_id
from downlink.cli.output import AsJson, Column, note, print_json, print_table
from downlink.domain.errors import DeniedError, InvalidError, NotFoundError, UnavailableError

if TYPE_CHECKING:
    from downlink.importers.model import ImportedTrace

Sent = Callable[[int], None]

FLOW_COLUMNS: list[Column] = [
    ("file", lambda f: f["file"]),
    ("source", lambda f: f["source"]),
    ("flow", lambda f: f["flow"]),
    ("end", lambda f: f["end"]),
    ("control", lambda f: f["congestion_control"]),
    ("samples", lambda f: f["samples"]),
    ("duration", lambda f: f"{f['duration_s']:.1f} s"),
    ("per ACK", lambda f: "yes" if f["is_per_ack"] else "no"),
]
RUN_COLUMNS: list[Column] = [
    ("run", lambda r: r["run_id"]),
    ("file", lambda r: r["file"]),
    ("source", lambda r: r["source"]),
    ("flows", lambda r: r["flows"]),
]
WHERE_TO = "To keep them, set DOWNLINK_SERVER and DOWNLINK_TOKEN, or work beside a running `make demo`."


def import_command(
    files: Annotated[list[Path], typer.Argument(help="Files of iperf3, ndt7, tcp-info, flent, or per-ACK CSV")],
    campaign: Annotated[str | None, typer.Option(help="Name of the new campaign that the runs belong to")] = None,
    add_to: Annotated[str | None, typer.Option(help="An imported campaign that is there already: id or name")] = None,
    condition: Annotated[
        str | None, typer.Option(help="Condition of all these files; by default what each file says of itself")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only check the files; no server is asked")] = False,
    as_json: AsJson = False,
) -> None:
    """Make runs of files of other tools: all of them or, when one is refused, none. Without a server they are only checked."""
    access = None if check else _access()
    if access is None:
        _check(files, campaign, as_json, "" if check else WHERE_TO)
        return
    if campaign and add_to:
        raise InvalidError("two_campaigns", "Give either --campaign (a new one) or --add-to (one that is there).")
    answer = _upload(Client(access), files, campaign, add_to, condition)
    if as_json:
        print_json(answer)
        return
    print_table(answer["runs"], RUN_COLUMNS)
    many = len(answer["runs"])
    note(
        f"{many} run{' is' if many == 1 else 's are'} being analysed: `downlink campaigns show {answer['campaign_id']}`."
    )


def _access() -> Access | None:
    """None when nothing says where a server is."""
    try:
        return find_access(Path.cwd(), os.environ)
    except DeniedError:
        return None


def _check(files: list[Path], campaign: str | None, as_json: bool, advice: str) -> None:
    rows = [row for trace in _load_all(files) for row in _flow_rows(trace, campaign)]
    if as_json:
        print_json(rows)
    else:
        print_table(rows, FLOW_COLUMNS)
    note(f"Files: {len(files)}, traces: {len(rows)}. All can be imported; nothing was stored. {advice}".rstrip())


def _upload(
    client: Client, files: list[Path], campaign: str | None, add_to: str | None, condition: str | None
) -> dict[str, Any]:
    """The server's answer; its refusals and its absence as the errors they are."""
    try:
        there = campaign_id(client, add_to) if add_to else None
        fields = {"campaign": campaign, "campaign_id": there, "condition": condition}
        with ExitStack() as stack:
            opened = [(file.name, stack.enter_context(_open(file))) for file in files]
            sent = stack.enter_context(_progress(sum(os.fstat(file.fileno()).st_size for _, file in opened)))
            for _, file in opened:
                file.sent = sent
            answer: dict[str, Any] = client.upload("/imports", opened, {k: v for k, v in fields.items() if v})
            return answer
    except UnavailableError as error:
        hint = "Nothing was stored; `--check` checks the files without a server."
        raise UnavailableError(error.code, f"{error.message} {hint}", error.details) from error


class _Counted(io.FileIO):
    """A file that tells how much of it has been read."""

    sent: Sent = staticmethod(lambda _size: None)

    def read(self, size: int | None = -1) -> bytes:
        piece = super().read(-1 if size is None else size) or b""
        self.sent(len(piece))
        return piece


def _open(file: Path) -> _Counted:
    try:
        return _Counted(file)
    except OSError as error:
        raise NotFoundError("file_unreadable", f"{file.name} cannot be read: {error.strerror}.") from error


@contextmanager
def _progress(total_bytes: int) -> Iterator[Sent]:
    """A bar on a terminal, on standard error; when all is sent, the server still has to check."""
    if not sys.stderr.isatty():
        yield lambda _size: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("sending", total=total_bytes)

        def sent(size: int) -> None:
            progress.advance(task, size)
            if progress.finished:
                progress.update(task, description="the server checks")

        yield sent


def _load_all(files: list[Path]) -> list[ImportedTrace]:
    loaded, refusals = [], []
    for file in files:
        try:
            loaded.append(load_file(file))
        except (InvalidError, NotFoundError) as error:
            refusals.append(error.message)
    if refusals:
        raise InvalidError("import_refused", "\n".join([*refusals, "Nothing was imported."]), {"refused": refusals})
    return loaded


def _flow_rows(trace: ImportedTrace, campaign: str | None) -> Iterator[dict[str, Any]]:
    for flow in trace.flows:
        yield {
            "file": trace.name,
            "sha256": trace.sha256,
            "source": trace.kind.value,
            "campaign": campaign,
            "started_at": None if trace.started_at is None else trace.started_at.isoformat(),
            "flow": flow.flow,
            "end": flow.end.value,
            "congestion_control": flow.congestion_control,
            "samples": flow.samples,
            "duration_s": flow.duration_s,
            "is_per_ack": flow.is_per_ack,
            "fields": list(flow.columns),
            "metadata": dict(trace.metadata),
        }
