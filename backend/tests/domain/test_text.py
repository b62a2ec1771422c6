"""What names may hold, and how what is stored is shown."""

from __future__ import annotations

import pytest

from downlink.domain.text import is_one_line, without_controls

STEERING = ["\x1b[31mred", "a\tb", "a\nb", "a\rb", "a\x7fb", "\x9b31m", "a\u2028b", "\u202eabc"]


@pytest.mark.parametrize("text", STEERING)
def test_a_name_is_one_line_that_steers_nothing(text: str) -> None:
    assert not is_one_line(text)
    assert is_one_line(without_controls(text))
    assert len(without_controls(text)) == len(text)


@pytest.mark.parametrize("text", ["GEO 1", "Überlänge 東京 🛰", "العربية", "a\u00a0b"])
def test_words_of_any_script_are_a_name(text: str) -> None:
    assert is_one_line(text)
    assert without_controls(text) == text
