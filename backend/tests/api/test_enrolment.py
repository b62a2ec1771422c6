"""How a host joins: the line to type, the program to fetch, the service to start."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from downlink.domain.fleet.enrolment import join_command
from tests.fixtures.lab import API, Lab

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "docs" / "protocol" / "join_command.txt"
UNIT = ROOT / "agents" / "downlink-agent.service"


def with_agent_files(lab: Lab, folder: Path) -> None:
    (folder / "downlink-agent-linux-amd64").write_bytes(b"\x7fELF amd64")
    (folder / "downlink-agent.service").write_text(UNIT.read_text())
    lab.app.state.settings = lab.app.state.settings.model_copy(update={"agent_dir": folder})


def test_the_join_command_is_the_golden_line_that_the_agent_parses() -> None:
    line = GOLDEN.read_text().strip()
    words = line.split()
    token, name = words[words.index("--token") + 1], words[words.index("--name") + 1]
    assert join_command("https://downlink.example", token, name) == line


def test_an_enrolment_prints_the_whole_line_with_name_server_and_token(lab: Lab) -> None:
    made = lab.call("POST", "/agents/enrolments", {"name": "viasat-client"})
    assert made["command"] == join_command("http://testserver", made["token"], "viasat-client")
    assert "http://testserver/api/v1/agents/binaries/" in made["install_commands"]
    assert "http://testserver/api/v1/agents/unit" in made["service_commands"]


@pytest.mark.parametrize("name", ["", "a b", "-rf", "x" * 64, "a;reboot", "a\x00"])
def test_a_name_that_join_would_refuse_is_refused_when_the_token_is_made(lab: Lab, name: str) -> None:
    assert lab.call("POST", "/agents/enrolments", {"name": name}, expect=422)["code"] == "request_invalid"


def test_a_name_in_use_is_refused_when_the_token_is_made(lab: Lab) -> None:
    lab.join("client")
    assert lab.call("POST", "/agents/enrolments", {"name": "client"}, expect=409)["code"] == "agent_name_taken"


@pytest.mark.parametrize("arch", ["amd64", "x86_64"])
def test_a_host_without_a_browser_fetches_the_program_and_its_checksum_openly(
    lab: Lab, tmp_path: Path, arch: str
) -> None:
    with_agent_files(lab, tmp_path)
    program = lab.client.get(f"{API}/agents/binaries/{arch}")
    checksum = lab.client.get(f"{API}/agents/binaries/{arch}.sha256")
    assert (program.status_code, program.content) == (200, b"\x7fELF amd64")
    assert checksum.text == f"{hashlib.sha256(program.content).hexdigest()}  downlink-agent\n"


def test_a_program_that_the_server_lacks_is_a_problem_that_says_so(lab: Lab, tmp_path: Path) -> None:
    with_agent_files(lab, tmp_path)
    for path in ("arm64", "arm64.sha256"):
        answer = lab.client.get(f"{API}/agents/binaries/{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "agent_file_missing")
    for path in ("sparc", "..%2fdownlink-agent.service", "sparc.sha256"):
        assert lab.client.get(f"{API}/agents/binaries/{path}").status_code in (404, 422)


def test_which_programs_a_server_has_and_how_to_get_the_others(lab: Lab, tmp_path: Path) -> None:
    def asked() -> dict[str, Any]:
        answer: dict[str, Any] = lab.client.get(f"{API}/agents/binaries").json()
        return answer

    with_agent_files(lab, tmp_path)
    found = asked()
    assert found["items"] == [{"arch": "amd64", "is_here": True}, {"arch": "arm64", "is_here": False}]
    assert "`make install`" in found["how"]
    (tmp_path / "downlink-agent-linux-arm64").write_bytes(b"\x7fELF arm64")
    assert [item["is_here"] for item in asked()["items"]] == [True, True]
    assert asked()["how"] is None
    lab.app.state.settings = lab.app.state.settings.model_copy(update={"agent_dir": None})
    assert [item["is_here"] for item in asked()["items"]] == [False, False]


def test_the_unit_served_is_the_one_in_the_repository_and_on_the_operations_page(lab: Lab, tmp_path: Path) -> None:
    with_agent_files(lab, tmp_path)
    assert lab.client.get(f"{API}/agents/unit").text == UNIT.read_text()
    assert f"```ini\n{UNIT.read_text()}```" in (ROOT / "docs" / "operations.md").read_text()
