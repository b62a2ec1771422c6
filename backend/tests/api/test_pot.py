"""What many hold together: a newcomer is served, and the one who holds most makes room."""

from __future__ import annotations

import pytest

from downlink.api.http.pot import Held, Pot
from downlink.domain.errors import UnavailableError


class Requests:
    """Requests of callers, and which of them were given up."""

    def __init__(self, pot: Pot) -> None:
        self.pot = pot
        self.given_up: list[str] = []

    def ask(self, name: str, count: int, *, is_whole: bool = False) -> Held:
        """A request of the caller that its name begins with."""
        held = self.pot.open(name[0], lambda: self.given_up.append(name))
        held.grow(count)
        held.is_whole = is_whole
        return held


def test_who_holds_most_makes_room_for_a_newcomer() -> None:
    requests = Requests(Pot(in_all=100, per_caller=80, most_open=10))
    for name, count in (("a1", 40), ("a2", 40), ("b1", 20)):
        requests.ask(name, count)
    requests.ask("c1", 10)
    assert requests.given_up == ["a1"]
    assert requests.pot.total == 70


def test_strangers_of_many_addresses_do_not_shut_out_one_who_holds_little() -> None:
    requests = Requests(Pot(in_all=100, per_caller=50, most_open=10))
    for name in "abcdefghij":
        requests.ask(f"{name}1", 10)
    requests.ask("z1", 10)
    assert requests.given_up == ["a1"], "the oldest of those who hold as much"


def test_nobody_holds_more_than_a_share() -> None:
    requests = Requests(Pot(in_all=1000, per_caller=50, most_open=10))
    for number in range(4):
        requests.ask(f"a{number}", 20)
    assert requests.given_up == ["a0", "a1"]
    assert requests.pot.total == 40


def test_what_is_whole_is_at_work_and_is_not_given_up() -> None:
    requests = Requests(Pot(in_all=40, per_caller=40, most_open=10))
    for name in ("a1", "b1"):
        requests.ask(name, 20, is_whole=True)
    with pytest.raises(UnavailableError) as refused:
        requests.ask("c1", 10)
    assert (refused.value.code, requests.given_up) == ("busy", [])


def test_one_who_would_hold_most_is_refused_and_takes_nothing_from_others() -> None:
    requests = Requests(Pot(in_all=40, per_caller=40, most_open=10))
    requests.ask("a1", 10)
    requests.ask("b1", 10)
    held = requests.ask("c1", 20)
    with pytest.raises(UnavailableError):
        held.grow(10)
    assert requests.given_up == []


def test_a_caller_has_so_many_at_a_time_and_the_newest_counts() -> None:
    requests = Requests(Pot(in_all=1000, per_caller=1000, most_open=2))
    for number in range(3):
        requests.ask(f"a{number}", 1)
    assert requests.given_up == ["a0"]
    whole = Requests(Pot(in_all=1000, per_caller=1000, most_open=1))
    whole.ask("a0", 1, is_whole=True)
    with pytest.raises(UnavailableError):
        whole.ask("a1", 1)
    whole.ask("b1", 1)


def test_what_is_given_back_is_free_and_given_back_once() -> None:
    requests = Requests(Pot(in_all=30, per_caller=30, most_open=1))
    with requests.ask("a1", 30) as held:
        held.give_back()
    assert requests.pot.total == 0
    requests.ask("a2", 30)
    assert requests.given_up == []
