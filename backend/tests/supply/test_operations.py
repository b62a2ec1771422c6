"""The runbooks name commands, options, files and variables that exist."""

from __future__ import annotations

import re
import shlex
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import typer

from downlink.codec.campaign_file import parse_campaign
from downlink.main import app

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGE = (DOCS / "operations.md").read_text()
AGENT = ROOT / "agents" / "bin" / "downlink-agent"


def typed(program: str) -> list[list[str]]:
    """The command lines of the page's blocks and sentences that call this program, as words."""
    fence = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
    lines = [line for language, block in fence.findall(PAGE) if not language for line in block.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", fence.sub("", PAGE))
    call = re.compile(rf"^\s*(?:sudo )?(?:docker compose exec api )?(?:\S+/bin/)?{program} ([a-z].*)$")
    return [
        words
        for line in lines
        if (found := call.match(re.sub(r"^[\d* ]+  ", "", line))) and (words := _words(found[1]))
    ]


def _words(line: str) -> list[str]:
    """Up to a comment, a pipe or another command."""
    line = re.split(r"\s#|\s&&|\s\||…", line.replace("\\%", "%"))[0]
    try:
        return shlex.split(line)
    except ValueError:
        return []


def test_every_command_of_the_server_exists_with_its_options() -> None:
    lines, whole = typed("downlink"), typer.main.get_command(app)
    assert len(lines) > 25
    for words in lines:
        found: Any = whole
        rest = list(words)
        while rest and hasattr(found, "commands"):
            assert rest[0] in found.commands, words
            found = found.commands[rest.pop(0)]
        options = {name for each in found.params for name in each.opts}
        assert {word for word in rest if word.startswith("--")} <= options | {"--help"}, words


@cache
def agent_help(*commands: str) -> str:
    done = subprocess.run([str(AGENT), *commands, "--help"], capture_output=True, text=True, check=True, timeout=30)
    return done.stdout


def test_every_command_of_the_agent_exists_with_its_options() -> None:
    lines = typed("downlink-agent")
    assert len(lines) > 10
    for words in lines:
        if words[0].startswith("-"):
            continue
        text = agent_help(words[0])
        for option in (word for word in words if word.startswith("--")):
            assert option.partition("=")[0] in text, words


def test_the_first_campaign_is_a_campaign_file() -> None:
    (text,) = re.findall(r"```yaml\n(   name: First look.*?)   ```", PAGE, re.DOTALL)
    campaign = parse_campaign(re.sub(r"^   ", "", text, flags=re.MULTILINE))
    assert [condition.name for condition in campaign.conditions] == ["Cubic", "BBR"]


def test_files_that_are_copied_exist() -> None:
    copied = re.findall(r"^cp /opt/downlink/(\S+) ", PAGE, re.MULTILINE)
    assert len(copied) == 2
    assert all((ROOT / each).is_file() for each in copied)
