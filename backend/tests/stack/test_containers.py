"""The compose file and the images use commands, variables and files that exist."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from downlink.main import app
from downlink.process.settings import Settings
from downlink.stack.launcher import SERVICES

ROOT = Path(__file__).resolve().parents[3]
COMMANDS = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
VARIABLES = {f"DOWNLINK_{name.upper()}" for name in Settings.model_fields}


def whole() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return found


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = whole()["services"]
    return found


def servers() -> dict[str, dict[str, Any]]:
    return {name: service for name, service in services().items() if service["image"] == "downlink/server"}


def test_every_process_of_the_launcher_is_a_service() -> None:
    assert {service["command"][0] for service in servers().values()} == {
        "migrate",
        *SERVICES,
    }


def test_services_run_commands_and_set_variables_that_exist() -> None:
    for name, service in servers().items():
        assert service["command"][0] in COMMANDS, name
        assert {variable.removesuffix("_FILE") for variable in service["environment"]} <= VARIABLES, name


def test_no_container_may_do_more_than_it_needs() -> None:
    for name, service in services().items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["read_only"], name


def test_no_container_may_take_the_whole_machine_or_fill_its_disk_with_logs() -> None:
    for name, service in services().items():
        assert service["mem_limit"], name
        assert service["cpus"], name
        assert service["pids_limit"], name
        assert service["logging"]["options"]["max-size"], name


def test_secrets_are_files_that_only_their_users_see() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    assert "PASSWORD:" not in text
    users = {
        secret: {name for name, service in services().items() if f"downlink_{secret}" in service.get("secrets", ())}
        for secret in ("database_password", "redis_password")
    }
    assert users == {"database_password": {"db", *servers()}, "redis_password": {"redis", *servers()}}
    for service in servers().values():
        files = {value for name, value in service["environment"].items() if name.endswith("_FILE")}
        assert files == {f"/run/secrets/{secret}" for secret in service["secrets"]}


def test_only_the_proxy_is_reached_from_outside_and_the_api_believes_it_alone() -> None:
    assert {name for name, service in services().items() if service.get("networks") == ["inside"]} >= {"db", "redis"}
    assert [name for name, service in services().items() if "ports" in service] == ["caddy"]
    networks = whole()["networks"]
    assert networks["inside"]["internal"]
    address = services()["caddy"]["networks"]["front"]["ipv4_address"]
    (pool,) = networks["front"]["ipam"]["config"]
    assert ip_address(address) in ip_network(pool["subnet"])
    assert services()["api"]["environment"]["DOWNLINK_FORWARDED_ALLOW_IPS"] == address


def test_what_others_wait_for_says_when_it_is_healthy() -> None:
    for name, service in services().items():
        for needed, when in service.get("depends_on", {}).items():
            assert when["condition"] in ("service_healthy", "service_completed_successfully")
            assert when["condition"] != "service_healthy" or services()[needed]["healthcheck"]["test"], (name, needed)


def test_the_proxy_reads_the_file_and_the_variables_that_exist() -> None:
    caddy = services()["caddy"]
    mounted = [volume.split(":") for volume in caddy["volumes"]]
    assert [(ROOT / source).is_file() for source, target, *_ in mounted if target == "/etc/caddy/Caddyfile"] == [True]
    text = (ROOT / "docs" / "deploy" / "Caddyfile").read_text()
    assert set(caddy["environment"]) <= set(re.findall(r"\{\$(\w+)", text))


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
