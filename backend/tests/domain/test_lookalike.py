"""User names that people take for one another are one name."""

from __future__ import annotations

import pytest

from downlink.domain.people.lookalike import likeness


@pytest.mark.parametrize(
    "twin",
    ["Admin", "\u0430dmin", "\uff41dmin", "\u0430\u0501m\u0456n", "ad\u200bmin", "adm\u0131n", " admin"],
)
def test_twins_of_a_name_are_alike(twin: str) -> None:
    assert likeness(twin) == likeness("admin")


@pytest.mark.parametrize(
    ("name", "other"), [("admin", "admin2"), ("anna", "hanna"), ("\u0434\u0438\u043c\u0430", "dima"), ("o", "0")]
)
def test_other_names_stay_others(name: str, other: str) -> None:
    assert likeness(name) != likeness(other)
