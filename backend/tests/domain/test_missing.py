"""Missing chunks are named, with what became of each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from downlink.domain.traces.missing import Told, is_final, missing_sentence

MISSING = {(1, "sender"): [0, 1, 2, 5], (1, "receiver"): [3]}


def test_what_nobody_speaks_of_is_listed_by_its_numbers() -> None:
    sentence = missing_sentence(MISSING, [])
    assert sentence == "Chunks are missing: flow 1 at the receiver: 3; flow 1 at the sender: 0 to 2, 5."
    assert not is_final(MISSING, [])


def test_the_fate_of_each_range_is_said() -> None:
    told = [Told("geo-server", 1, "sender", 0, 1, "too_old"), Told("geo-server", 1, "sender", 2, 9, "damaged")]
    assert missing_sentence(MISSING, told) == (
        "Chunks are missing: flow 1 at the receiver: 3; flow 1 at the sender: "
        "0 to 1 (dropped by geo-server: they waited for longer than its owner allows), "
        "2 (damaged on the disk of geo-server), 5 (damaged on the disk of geo-server)."
    )
    assert not is_final(MISSING, told), "the receiver's may come"
    assert is_final(MISSING, [*told, Told("geo-client", 1, "receiver", 3, 3, "gone")])


def test_many_ranges_are_counted() -> None:
    sentence = missing_sentence({(1, "sender"): list(range(0, 40, 2))}, [])
    assert sentence.endswith("16, 18 and 10 more.")


@given(st.sets(st.integers(0, 30), min_size=1), st.integers(0, 30), st.integers(0, 30))
def test_a_run_is_final_once_every_number_is_told(numbers: set[int], first: int, last: int) -> None:
    told = [Told("a", 1, "sender", first, last, "gone")]
    assert is_final({(1, "sender"): sorted(numbers)}, told) == all(first <= number <= last for number in numbers)
