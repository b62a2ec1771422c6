"""Which paths a link profile names."""

from __future__ import annotations

from pathlib import Path

import pytest

from downlink.codec.profile_file import kept_paths

PROFILES = Path(__file__).resolve().parents[3] / "docs" / "examples" / "studies" / "profiles"


def test_the_profiles_of_figure_6_name_their_path() -> None:
    files = sorted(PROFILES.glob("intcp-loss-*.yaml"))
    assert [kept_paths(file.read_text()) for file in files] == [["beijing-new-york"]] * 7


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("path: london-new-york", ["london-new-york"]),
        ("path: {from: a, file: bent-pipe}", ["bent-pipe"]),
        ("path:\n  queue: {limit_bytes: 3000}\n  file: bent-pipe-550", ["bent-pipe-550"]),
        ("path: {file: own.dlpath}", []),
        ("path: /somewhere/bent-pipe.dlpath", []),
        ("path: 5\nhops: 7", []),
        ("hops: [{path: mine}, 3, {down: {}}]", ["mine"]),
        ("- a list", []),
        ("{", []),
        ("", []),
    ],
)
def test_paths_are_found_wherever_a_profile_may_name_one(text: str, names: list[str]) -> None:
    assert kept_paths(text) == names


@pytest.mark.parametrize("text", ["path: 2001-99-99", "path: " + "[" * 5_000, "path: \x00"])
def test_a_text_that_is_no_profile_names_no_path(text: str) -> None:
    assert kept_paths(text) == []
