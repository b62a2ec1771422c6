"""The server's own commands say what is wrong with a file or a database, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from downlink.domain.errors import DownlinkError, InvalidError, NotFoundError, UnavailableError
from downlink.main import app
from tests.fixtures.lab import Lab

AWAY = "postgresql+psycopg://nobody@127.0.0.1:9/nothing"


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, DownlinkError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which nothing names a server or a database."""
    monkeypatch.chdir(tmp_path)
    for name in ("DOWNLINK_SERVER", "DOWNLINK_TOKEN", "DOWNLINK_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_an_archive_that_is_not_there_is_named() -> None:
    with pytest.raises(NotFoundError, match=r"gone\.zip cannot be read: No such file or directory\."):
        run("seed", "gone.zip")


def test_a_part_of_an_id_is_no_campaign_to_analyse() -> None:
    with pytest.raises(InvalidError, match=r"'211c4ddb' is no whole id of a campaign; copy it"):
        run("analyse", "211c4ddb")


def test_a_campaign_file_that_is_not_there_is_named_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWNLINK_TOKEN", "dlk_x")
    with pytest.raises(InvalidError, match=r"^Cannot read gone\.yaml: No such file or directory\. Examples"):
        run("campaigns", "preview", "gone.yaml")


COMMANDS = (("setup-link",), ("token", "create", "scripts"), ("analyse", "01890a5d-ac96-774b-9000-000000000001"))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_database_that_is_away_is_named_by_what_named_it(
    command: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".demo").mkdir()
    (folder / ".demo" / "env").write_text(f"DOWNLINK_DATABASE_URL={AWAY}\n")
    with pytest.raises(UnavailableError, match="stack of this folder does not run; start it with `make up`"):
        run(*command)
    monkeypatch.setenv("DOWNLINK_DATABASE_URL", AWAY)
    with pytest.raises(UnavailableError, match="database that DOWNLINK_DATABASE_URL names does not answer"):
        run(*command)


def test_where_nothing_names_a_database_the_ways_to_name_one_are_said() -> None:
    with pytest.raises(UnavailableError, match=r"No database is named: set DOWNLINK_DATABASE_URL, or type this in"):
        run("setup-link")


def test_with_an_admin_there_is_no_link_and_a_sentence_says_why(
    lab: Lab, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWNLINK_DATABASE_URL", database_url)
    token = run("setup-link").stdout.strip().partition("#")[2]
    lab.call("POST", "/setup", {"token": token, "username": "ada", "password": "correct horse battery"}, expect=201)
    done = run("setup-link")
    assert done.stdout == ""
    assert "An admin already exists: sign in" in done.stderr


@pytest.mark.parametrize("url", ["bogus", "postgresql://h/x", "sqlite:///x", "postgresql+psycopg://h:hunter2/x", ""])
@pytest.mark.parametrize("command", [("setup-link",), ("backup", "copy")], ids=lambda command: command[0])
def test_an_address_that_is_none_of_a_database_is_said_in_a_sentence_without_it(
    command: tuple[str, ...], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWNLINK_DATABASE_URL", url)
    with pytest.raises(InvalidError, match=r"^DOWNLINK_DATABASE_URL must be postgresql\+psycopg://") as refused:
        run(*command)
    assert "hunter2" not in refused.value.message


def test_a_folder_that_cannot_be_made_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWNLINK_DATABASE_URL", AWAY)
    with pytest.raises(InvalidError, match=r"^/proc/x/y cannot be written: No such file or directory\. Name a folder"):
        run("backup", "/proc/x/y")


def test_a_backup_that_failed_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWNLINK_DATABASE_URL", AWAY)
    with pytest.raises(UnavailableError, match="does not answer"):
        run("backup", "new/copy")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x1b[31m", "x" * 101])
def test_a_token_has_a_name_of_one_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWNLINK_DATABASE_URL", AWAY)
    with pytest.raises(InvalidError, match="A token's name has 1 to 100 characters on one line"):
        run("token", "create", name)
