"""Names are one line without control characters, wherever they are given."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixtures.lab import Lab

UUID = "01890a5d-ac96-774b-9000-000000000001"
LINK = {"orbit": "GEO", "senders": ["server"], "receiver": "client"}


@pytest.mark.parametrize("name", ["a\nb", "a\tb", "\x1b[31m", "\x9b31m"])
def test_a_name_with_controls_is_refused(lab: Lab, name: str) -> None:
    asked: list[tuple[str, dict[str, Any]]] = [
        ("/links", {**LINK, "name": name}),
        ("/tokens", {"name": name}),
        (f"/campaigns/{UUID}/shares", {"name": name}),
        ("/channels", {"name": name, "kind": "webhook", "url": "https://hooks.example/", "topics": ["failed"]}),
    ]
    for path, body in asked:
        said = lab.call("POST", path, body, expect=422)
        assert "control characters" in str(said), path
