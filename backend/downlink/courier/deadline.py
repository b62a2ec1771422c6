"""An end to waiting for what cannot be interrupted, such as the resolver."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def within(longest_s: float, do: Callable[[], T]) -> T:
    """Return or raise what `do` does; TimeoutError if it takes longer. It then continues, unheard, in a thread that keeps no process
    alive."""
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(do())
        except BaseException as error:
            result.set_exception(error)

    Thread(target=run, daemon=True).start()
    return result.result(longest_s)
