"""`downlink import`: files of other tools become runs on the server, or are only checked, which needs none."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from downlink.cli.client import Access, Client, find_access
from downlink.cli.exits import read_file
from downlink.cli.lookup import campaign_id
from downlink.cli.output import AsJson, Column, note, print_json, print_table
from downlink.domain.errors import DeniedError, DownlinkError, InvalidError, NotFoundError, UnavailableError
from downlink.domain.partial import told

if TYPE_CHECKING:
    from downlink.importers.model import ImportedFlow, ImportedTrace

Sent = Callable[[int], None]

FLOW_COLUMNS: list[Column] = [
    ("file", lambda f: f["file"]),
    ("source", lambda f: f["source"]),
    ("flow", lambda f: f["flow"]),
    ("end", lambda f: f["end"]),
    ("direction", lambda f: f["direction"]),
    ("control", lambda f: f["congestion_control"]),
    ("samples", lambda f: f["samples"]),
    ("duration", lambda f: None if f["duration_s"] is None else f"{f['duration_s']:.1f} s"),
    ("per ACK", lambda f: "yes" if f["is_per_ack"] else "no"),
    ("failed", lambda f: f["failure"]),
]
RUN_COLUMNS: list[Column] = [
    ("run", lambda r: r["run_id"]),
    ("file", lambda r: r["file"]),
    ("source", lambda r: r["source"]),
    ("flows", lambda r: r["flows"]),
    ("condition", lambda r: r["condition"]),
    ("failed", lambda r: r["failure"]),
]
WHERE_TO = "To keep them, set DOWNLINK_SERVER and DOWNLINK_TOKEN, or type this in a folder where `make demo` or `make up` runs."


def import_command(
    files: Annotated[list[Path], typer.Argument(help="Files of iperf3, ndt7, tcp-info, flent, or per-ACK CSV")],
    campaign: Annotated[str | None, typer.Option(help="Name of the new campaign that the runs belong to")] = None,
    add_to: Annotated[str | None, typer.Option(help="Existing imported campaign: id or name")] = None,
    condition: Annotated[
        str | None,
        typer.Option(help="Condition of all these files; by default each file's test, control and direction"),
    ] = None,
    skip_refused: Annotated[
        bool, typer.Option("--skip-refused", help="Leave out and name refused files, and import the rest")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a test if a part of it (a flow, a row) cannot be used")
    ] = False,
    start: Annotated[
        str | None, typer.Option(help="Start of a test whose file does not tell it: 2026-11-20T10:00Z")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only check the files, without a server")] = False,
    as_json: AsJson = False,
) -> None:
    """Import files and archives of other tools as runs: all, or none if one is refused. Without a server they are only checked."""
    access = None if check else _access()
    if access is None:
        _check(files, campaign, as_json, "" if check else WHERE_TO, is_skipping=skip_refused, is_strict=strict)
        return
    if campaign and add_to:
        raise InvalidError(
            "two_campaigns", "Give either --campaign (a new one) or --add-to (an existing one), not both."
        )
    fields = {
        "campaign": campaign,
        "condition": condition,
        "skip_refused": "true" if skip_refused else None,
        "strict": "true" if strict else None,
        "started_at": start,
    }
    answer = _upload(Client(access), files, fields, add_to)
    _note_refused([f"{each['file']}: {each['reason']}" for each in answer["refused"]])
    _note_partial([(each["file"], each.get("partial") or []) for each in answer["runs"]])
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


def _check(
    files: list[Path], campaign: str | None, as_json: bool, advice: str, *, is_skipping: bool, is_strict: bool
) -> None:
    traces, refusals = _load_all(files, is_strict=is_strict)
    if refusals and not (is_skipping and traces):
        raise InvalidError("import_refused", "\n".join([*refusals, "Nothing was imported."]), {"refused": refusals})
    rows = [row for trace in traces for row in _rows(trace, campaign)]
    if as_json:
        print_json(rows)
    else:
        print_table(rows, FLOW_COLUMNS)
    _note_refused(refusals)
    _note_partial([(trace.name, told(trace.content.left_out)) for trace in traces])
    all_of_them = "The others can be imported" if refusals else "All can be imported"
    note(f"Files: {len(files)}, tests: {len(traces)}. {all_of_them}; nothing was stored. {advice}".rstrip())


def _note_refused(refusals: list[str]) -> None:
    if refusals:
        note("\n".join([f"Left out: {len(refusals)}.", *refusals]))


def _note_partial(tests: list[tuple[str, list[str]]]) -> None:
    """Tests of which a part is left out, and which part."""
    for name, parts in tests:
        if parts:
            note(f"{name} is partial. Left out: {'; '.join(parts)}.")


def _upload(client: Client, files: list[Path], fields: dict[str, str | None], add_to: str | None) -> dict[str, Any]:
    """The server's answer; its refusals and its absence as the errors they are."""
    try:
        fields = fields | {"campaign_id": campaign_id(client, add_to) if add_to else None}
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
    except InvalidError as error:
        if error.code != "import_refused" or fields["skip_refused"] or not _has_others(files, error):
            raise
        hint = "With --skip-refused the other files are imported."
        raise InvalidError(error.code, f"{error.message} {hint}", error.details) from error


def _has_others(files: list[Path], error: InvalidError) -> bool:
    """Return whether something in these files was not refused: another file, or another test of the same one."""
    names = {each["file"] for each in error.details.get("refused", [])}
    return any(file.name not in names for file in files)


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


def _load_all(files: list[Path], *, is_strict: bool) -> tuple[list[ImportedTrace], list[str]]:
    """Every test that can be read, and a sentence for each refusal."""
    from downlink.importers.duplicates import TakenTests

    taken = TakenTests({})
    loaded: list[ImportedTrace] = []
    refusals: list[str] = []
    for file in files:
        taken.begin_file()
        for result in _tests_in(file, is_strict=is_strict):
            try:
                if isinstance(result, DownlinkError):
                    raise result
                taken.check(result)
            except DownlinkError as error:
                refusals.append(error.message)
            else:
                taken.take(result)
                loaded.append(result)
    return loaded, refusals


def _tests_in(file: Path, *, is_strict: bool) -> Iterator[ImportedTrace | DownlinkError]:
    from downlink.importers.files import traces_in

    try:
        yield from traces_in(file.name, read_file(file), datetime.now(UTC), is_strict=is_strict)
    except NotFoundError as error:
        yield error


def _rows(trace: ImportedTrace, campaign: str | None) -> Iterator[dict[str, Any]]:
    """A row for each flow; one for a failed test without flows."""
    own = {
        "file": trace.name,
        "sha256": trace.sha256,
        "source": trace.kind.value,
        "campaign": campaign,
        "started_at": None if trace.started_at is None else trace.started_at.isoformat(),
        "test": trace.test,
        "failure": trace.failure,
        "summaries": [asdict(each) for each in trace.content.summaries],
        "partial": told(trace.content.left_out),
        "metadata": dict(trace.metadata),
    }
    for flow in trace.flows or (None,):
        yield own | _flow_row(flow)


def _flow_row(flow: ImportedFlow | None) -> dict[str, Any]:
    return {
        "flow": flow and flow.flow,
        "end": flow and flow.point,
        "direction": flow and flow.direction and flow.direction.value,
        "congestion_control": flow and flow.congestion_control,
        "samples": flow.samples if flow else 0,
        "duration_s": flow and flow.duration_s,
        "is_per_ack": flow is not None and flow.is_per_ack,
        "fields": list(flow.columns) if flow else [],
    }
