"""Jobs are sent by a thread of its own: a queue that is away, or slow, costs the tick nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Empty, Full, Queue

import structlog

from downlink.storage.unit import Job

ROOM = 1000
log = structlog.get_logger()


class Mailbox:
    """Takes jobs and returns at once. What has no room, or cannot be sent, is dropped: the tick finds it due and sends it again."""

    def __init__(self, send: Callable[[Sequence[Job]], None]) -> None:
        self._send = send
        self._waiting: Queue[Job] = Queue(ROOM)
        threading.Thread(target=self._deliver, name="mailbox", daemon=True).start()

    def __call__(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            try:
                self._waiting.put_nowait(job)
            except Full:
                log.warning("jobs_not_sent", reason="the queue is away or slow")
                return

    def _deliver(self) -> None:
        while True:
            job = self._waiting.get()
            try:
                self._send([job])
            except Exception as error:
                # The next ones would wait for the same queue as long, and be old when it is back.
                log.warning("jobs_not_sent", jobs=[job[0], *self._drop_waiting()], error=repr(error))

    def _drop_waiting(self) -> list[str]:
        dropped = []
        while True:
            try:
                dropped.append(self._waiting.get_nowait()[0])
            except Empty:
                return dropped
