"""The drawing of the rooms is of the imports as they are."""

from __future__ import annotations

from graphlib import CycleError

import pytest

from tools import house


def test_the_drawing_is_current() -> None:
    assert house.DRAWING.read_text() == house.drawing(), f"write it again: {house.COMMAND}"


def test_no_room_of_the_backend_imports_one_above_or_beside_it() -> None:
    floor = {room: at for at, rooms in enumerate(house.backend_floors()) for room in rooms}
    arrows = house.backend_arrows()
    assert set(floor) == set(arrows)
    assert {(room, below) for room in arrows for below in arrows[room] if floor[below] <= floor[room]} == set()


def test_the_agent_measures_without_the_laboratory() -> None:
    arrows = house.agent_arrows()
    assert "lab" in arrows["cmd"]
    assert not {"lab", "study", "cmd"} & arrows["agent"]
    assert house.floors_of(arrows)[-1] == ["bpf", "host"]


def test_a_circle_is_refused() -> None:
    with pytest.raises(CycleError):
        house.floors_of({"a": {"b"}, "b": {"a"}})
    assert house.floors_of({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == [["a"], ["b"], ["c"]]
