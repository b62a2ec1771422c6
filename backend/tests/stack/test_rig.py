"""Where no link can be built, one sentence says what is missing and what to type."""

from __future__ import annotations

import pytest

from downlink.stack.rig import missing_for_a_link


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"is_root": True, "has_tun": False, "has_namespaces": True}, "modprobe tun"),
        ({"is_root": False, "has_tun": False, "has_namespaces": False}, "modprobe tun"),
        ({"is_root": True, "has_tun": True, "has_namespaces": False}, "--privileged"),
        ({"is_root": False, "has_tun": True, "has_namespaces": False}, "sudo make demo"),
    ],
)
def test_what_is_missing_is_one_sentence_with_a_command(facts: dict[str, bool], words: str) -> None:
    sentence = missing_for_a_link(**facts)
    assert sentence
    assert words in sentence
    assert sentence.count(". ") == 0
    assert sentence.endswith(".")


@pytest.mark.parametrize("is_root", [True, False])
def test_a_fit_host_lacks_nothing(is_root: bool) -> None:
    assert missing_for_a_link(is_root=is_root, has_tun=True, has_namespaces=True) is None
