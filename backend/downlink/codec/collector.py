"""A file that is handed on while it is written: what writes files writes here, and nothing is kept longer than needed."""

from __future__ import annotations

import io


class Collector(io.RawIOBase):
    """Takes what is written, until it is taken away. It knows its place, and cannot go back."""

    def __init__(self) -> None:
        super().__init__()
        self._held = bytearray()
        self._taken = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object, /) -> int:
        view = memoryview(data)  # type: ignore[arg-type]
        self._held += view
        return view.nbytes

    def tell(self) -> int:
        return self._taken + len(self._held)

    def take(self) -> bytes:
        """Return the bytes that were written since the last call."""
        taken, self._held = bytes(self._held), bytearray()
        self._taken += len(taken)
        return taken
