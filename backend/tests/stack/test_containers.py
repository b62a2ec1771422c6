"""The compose file and the images use commands, variables and files that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from downlink.main import app
from downlink.settings import Settings
from downlink.stack.launcher import SERVICES

ROOT = Path(__file__).resolve().parents[3]
COMMANDS = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
VARIABLES = {f"DOWNLINK_{name.upper()}" for name in Settings.model_fields}


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    return found


def servers() -> dict[str, dict[str, Any]]:
    return {name: service for name, service in services().items() if service["image"] == "downlink/server"}


def test_every_process_of_the_launcher_is_a_service() -> None:
    assert {service["command"][0] for service in servers().values()} == {
        "migrate",
        *(command[0] for command in SERVICES.values()),
    }


def test_services_run_commands_and_set_variables_that_exist() -> None:
    for name, service in servers().items():
        assert service["command"][0] in COMMANDS, name
        assert set(service["environment"]) <= VARIABLES, name


def test_no_container_may_do_more_than_it_needs() -> None:
    for name, service in services().items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service.get("read_only") or name == "db", name


def test_secrets_are_files_that_only_their_users_see() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    assert "PASSWORD:" not in text
    users = {name for name, service in services().items() if "downlink_database_password" in service.get("secrets", ())}
    assert users == {"db", *servers()}


def test_database_and_queue_are_out_of_reach_for_others() -> None:
    assert {name for name, service in services().items() if service.get("networks") == ["inside"]} >= {"db", "redis"}
    assert all("ports" not in service for name, service in services().items() if name != "api")


@pytest.mark.parametrize("dockerfile", ["backend/Dockerfile", "agents/Dockerfile"])
def test_images_copy_files_that_exist_and_set_variables_that_exist(dockerfile: str) -> None:
    text = (ROOT / dockerfile).read_text()
    for sources in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        for source in sources.split():
            assert (ROOT / source).exists(), source
    assert set(re.findall(r"(DOWNLINK_\w+)=", text)) <= VARIABLES


def test_the_override_for_an_s3_store_names_services_variables_and_secrets_that_exist() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    (snippet,) = re.findall(r"```yaml\n(x-store.*?)```", page, re.DOTALL)
    override = yaml.safe_load(snippet)
    for name, service in override["services"].items():
        assert name in services()
        named = {*service["environment"], *(secret.upper() for secret in service["secrets"])}
        assert named <= VARIABLES
        assert set(service["secrets"]) <= set(override["secrets"])


def test_the_operations_page_knows_every_variable() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    assert {name for name in VARIABLES if f"`{name}`" not in page} == set()


def test_the_command_page_knows_every_command() -> None:
    page = (ROOT / "docs" / "cli.md").read_text()
    assert {name for name in COMMANDS if not re.search(rf"`{name}\b", page)} == set()
