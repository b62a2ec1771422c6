"""The command `downlink`: the server's processes, the launcher, and the client.

Each command imports what it needs when it runs, so that `downlink --help` and the client start fast.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from downlink import services
from downlink.cli import agents, annotating, campaigns, links, notify, paths, runs, users, weather
from downlink.cli.client import read_stack_file
from downlink.cli.compare import compare_command
from downlink.cli.exits import exits_command, read_file
from downlink.cli.imports import import_command
from downlink.cli.output import note, print_json, say
from downlink.cli.quick import quick_command
from downlink.cli.retention import storage_command
from downlink.domain.errors import InvalidError, UnavailableError
from downlink.services import read_settings
from downlink.stack import commands as stack_commands

if TYPE_CHECKING:
    from downlink.process.settings import Settings
    from downlink.storage.unit import UnitFactory

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Plans TCP download experiments over satellite links, runs them, and shows what happened.",
)
app.add_typer(campaigns.app, name="campaigns", rich_help_panel="Client")
app.add_typer(runs.app, name="runs", rich_help_panel="Client")
app.add_typer(agents.app, name="agents", rich_help_panel="Client")
app.add_typer(links.app, name="links", rich_help_panel="Client")
app.add_typer(annotating.app, name="annotations", rich_help_panel="Client")
app.add_typer(weather.app, name="weather", rich_help_panel="Client")
app.add_typer(users.app, name="users", rich_help_panel="Client")
app.add_typer(notify.app, name="notify", rich_help_panel="Client")
app.add_typer(paths.app, name="paths", rich_help_panel="Paths")
app.command("quick", rich_help_panel="Client")(quick_command)
app.command("storage", rich_help_panel="Client")(storage_command)
app.command("compare", rich_help_panel="Client")(compare_command)
app.command("exits", rich_help_panel="Traces")(exits_command)
app.command("import", rich_help_panel="Traces")(import_command)
app.add_typer(stack_commands.app, name="stack", rich_help_panel="Server")
tokens = typer.Typer(help="API tokens, made on the server itself.", no_args_is_help=True)
app.add_typer(tokens, name="token", rich_help_panel="Server")


def _settings_here() -> Settings:
    """Return the settings of the environment or, where it names no database, of the stack that the launcher runs from this folder."""
    variables = {} if "DOWNLINK_DATABASE_URL" in os.environ else read_stack_file(Path.cwd())
    named = {"database_url": variables.get("DOWNLINK_DATABASE_URL"), "base_url": variables.get("DOWNLINK_BASE_URL")}
    return read_settings(**{name: value for name, value in named.items() if value})


@contextmanager
def _named_database() -> Iterator[None]:
    """Name the database, and the way to choose another, if it does not answer."""
    try:
        yield
    except UnavailableError as error:
        if error.code != "database_away":
            raise
        raise UnavailableError(error.code, _which_database(), error.details) from error


def _which_database() -> str:
    if "DOWNLINK_DATABASE_URL" in os.environ:
        return "The database that DOWNLINK_DATABASE_URL names does not answer; try again in some seconds."
    if read_stack_file(Path.cwd()):
        return "The stack of this folder does not run; start it with `make up` or `make demo`."
    return "No database is named: set DOWNLINK_DATABASE_URL, or type this in the folder where `make up` or `make demo` runs."


@contextmanager
def _units() -> Iterator[UnitFactory]:
    """Units of work on the server's database."""
    from downlink.storage.traces.objects import TraceStore
    from downlink.storage.unit import open_units

    settings = _settings_here()
    units = open_units(settings.database, pool_size=1, store=TraceStore.of(settings))
    try:
        with _named_database():
            yield units
    finally:
        units.close()


@app.command(rich_help_panel="Server")
def api() -> None:
    """Serve the REST API and the dashboard."""
    services.api()


@app.command(rich_help_panel="Server")
def worker(concurrency: Annotated[int, typer.Option(min=1, help="Concurrent jobs")] = 2) -> None:
    """Carry out due jobs: seal, analyse, report, sweep. Several workers share the work."""
    services.worker(concurrency)


@app.command(rich_help_panel="Server")
def conductor() -> None:
    """Lease due runs, watch deadlines and send jobs, once a second. One conductor is active; others wait to take over."""
    services.conductor()


@app.command(rich_help_panel="Server")
def migrate() -> None:
    """Migrate the database to this version."""
    from downlink.storage.migrate import upgrade

    upgrade(read_settings())


@app.command(hidden=True)
def prepare(
    needs_token: Annotated[bool, typer.Option("--token", help="Create an API token for the launcher")] = False,
) -> None:
    """Prepare a database for the launcher: migrate it, and print the set-up link (while there is no admin) and a token as JSON."""
    from downlink.actions.people import access
    from downlink.storage.migrate import upgrade

    settings = read_settings()
    upgrade(settings)
    scopes = ("read", "write", "admin")
    token = access.create_token(settings, "launcher", scopes, days=365) if needs_token else None
    print_json({"setup_link": access.setup_link(settings), "token": token})


@app.command(rich_help_panel="Server")
def openapi() -> None:
    """Print the API's OpenAPI document."""
    from downlink.api.app import openapi_document

    print_json(openapi_document())


@app.command(rich_help_panel="Server")
def seed(archive: Annotated[Path, typer.Argument(help="Archive of `downlink campaigns export --archive`")]) -> None:
    """Load a recorded campaign; an existing one is left unchanged."""
    from downlink.actions.campaigns.archive_read import load_archive

    content = read_file(archive)
    with _units() as units, units() as unit:
        campaign, is_new = load_archive(unit, content)
    note(f"{campaign} {'is loaded' if is_new else 'already exists'}.")


@app.command(rich_help_panel="Server")
def analyse(
    campaign: Annotated[str, typer.Argument(help="Id of a campaign whose report is not current")],
) -> None:
    """Recompute a campaign's numbers from its traces, with the analysis of this version."""
    from downlink.actions.results.reanalysis import analyse_again

    try:
        wanted = UUID(campaign)
    except ValueError:
        message = (
            f"{campaign!r} is no whole id of a campaign; copy it from its page, or from `downlink campaigns list`."
        )
        raise InvalidError("campaign_unknown", message) from None
    with _units() as units, units() as unit:
        runs = analyse_again(unit, wanted, datetime.now(UTC))
    note(f"{runs} runs are analysed.")


@app.command("move-traces", rich_help_panel="Server")
def move_traces() -> None:
    """Move sealed traces to the store that DOWNLINK_TRACE_STORE names. Safe to interrupt and rerun."""
    from downlink.actions.traces.folders import move_traces

    with _units() as units:
        chunks = move_traces(units)
    note(f"{chunks} chunks are moved.")


Tools = Annotated[
    Path | None, typer.Option(help="Folder of pg_dump and pg_restore (default: the embedded ones, or those on PATH)")
]


def _tools(named: Path | None) -> Path | None:
    """Return the named folder of tools, or the embedded server's if installed: they are never older than a server that the launcher
    runs."""
    from downlink.stack.servers import embedded_tools

    return named or embedded_tools()


@app.command(rich_help_panel="Server")
def backup(into: Annotated[Path, typer.Argument(help="Folder to create")], tools: Tools = None) -> None:
    """Back up the database and the traces of an S3 store into a new folder, while the server runs."""
    from downlink.actions.backup import back_up

    with _units() as units:
        made = back_up(units, _settings_here().database, into, datetime.now(UTC), _tools(tools))
    note(f"{into}: the database ({made.database_bytes} bytes) and {made.objects} objects of the trace store.")
    if made.lost:
        note(f"{len(made.lost)} objects are missing in the store; {into}/manifest.json names them.")


@app.command(rich_help_panel="Server")
def restore(
    folder: Annotated[Path, typer.Argument(help="Folder that `downlink backup` created")], tools: Tools = None
) -> None:
    """Restore a backup into the empty database that DOWNLINK_DATABASE_URL names, and migrate it to this version."""
    from downlink.actions.backup import restore_backup
    from downlink.storage.migrate import upgrade

    settings = _settings_here()
    with _units() as units:
        restored = restore_backup(units, settings.database, folder, _tools(tools))
    upgrade(settings)
    note(
        f"The state of {restored.made_at} is restored, with {restored.objects} objects. Start api, conductor and worker."
    )


@app.command("setup-link", rich_help_panel="Server")
def setup_link() -> None:
    """Print the one-time link that creates the admin account; print nothing when an admin exists."""
    from downlink.actions.people.access import setup_link

    with _named_database():
        link = setup_link(_settings_here())
    if link:
        say(link)
    else:
        note("An admin already exists: sign in with that account.")


@tokens.command("create")
def create_token(
    name: str,
    days: Annotated[int, typer.Option(min=1, max=3650, help="Days until it expires")] = 90,
    is_admin: Annotated[
        bool, typer.Option("--admin", help="Also allow creating and revoking tokens, and enrolling agents.")
    ] = False,
) -> None:
    """Create an API token with read and write access, and print its secret (shown only once)."""
    from downlink.actions.people.access import create_token

    scopes = ("read", "write", "admin") if is_admin else ("read", "write")
    with _named_database():
        say(create_token(_settings_here(), name, scopes, days))


def run() -> None:
    """Run the command line."""
    services.run(app)


if __name__ == "__main__":
    run()
