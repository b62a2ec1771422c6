"""The queue goes away in the worst moment, while a tick or a job is under way, and comes back: all goes on by itself."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from kombu import Connection, Consumer, Message
from kombu.simple import SimpleQueue
from pydantic import SecretStr
from sqlalchemy import text

from downlink.process.settings import Settings
from downlink.stack.process import Program, Supervisor, wait_until
from downlink.stack.servers import start_valkey, valkey_server
from downlink.storage.unit import UnitFactory
from tests.fixtures.lab import Lab
from tests.jobs.test_processes import ONE, Processes, act, carry, pair, pulse

pytestmark = pytest.mark.timeout(120)


class Queue:
    """A Valkey of the test's own, to be killed and started again at the same place."""

    def __init__(self, home: Path) -> None:
        self._supervisor = Supervisor(home)
        self._data = home / "valkey"
        self.url = start_valkey(self._supervisor, self._data)

    def kill(self) -> None:
        os.kill(self._supervisor.pid("valkey"), signal.SIGKILL)
        self._supervisor.stop("valkey")

    def start(self) -> None:
        self._supervisor.start(Program("valkey", [valkey_server(), str(self._data / "valkey.conf")]))

    def stop(self) -> None:
        self._supervisor.stop_all()


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    opened = Queue(tmp_path / "queue")
    yield opened
    opened.stop()


@pytest.fixture
def processes(tmp_path: Path, settings: Settings, queue: Queue) -> Iterator[Processes]:
    own = settings.model_copy(update={"redis_url": SecretStr(queue.url)})
    with Supervisor(tmp_path / "processes") as supervisor:
        yield Processes(supervisor, own)


@contextmanager
def held(units: UnitFactory, table: str, meanwhile: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Nobody else reads or writes this table; inside, somebody waits for it already."""

    def is_waited_for() -> bool:
        meanwhile()
        return _is_waited_for(units, table)

    with units.engine.connect() as connection, connection.begin():
        connection.execute(text(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"))
        assert wait_until(is_waited_for, 40, step_s=0.1), f"nobody asked for {table}"
        yield


def _is_waited_for(units: UnitFactory, table: str) -> bool:
    with units() as unit:
        query = text("SELECT count(*) FROM pg_locks WHERE relation = CAST(:name AS regclass) AND NOT granted")
        return bool(unit.session.execute(query, {"name": table}).scalar_one())


def has_run(lab: Lab, campaign: str, state: str) -> bool:
    return any(run["state"] == state for run in lab.runs(campaign))


@pytest.mark.verify("faults")
def test_a_queue_that_dies_within_a_tick_does_not_keep_the_next_run_waiting(
    lab: Lab, processes: Processes, queue: Queue
) -> None:
    agents = pair(lab)
    processes.start("conductor")
    with held(lab.units, "wakes"):
        queue.kill()
    released_at = datetime.now(UTC)
    assert wait_until(lambda: pulse(lab) > released_at, 10), "no tick without the queue"
    queue.start()
    campaign = lab.launch(**ONE)

    def is_leased() -> bool:
        act(lab, agents)
        return not has_run(lab, campaign, "planned")

    assert wait_until(is_leased, 10, step_s=0.1), lab.runs(campaign)


@pytest.mark.verify("faults")
def test_a_queue_that_dies_within_a_job_leaves_the_worker_able_to_work(
    lab: Lab, processes: Processes, queue: Queue
) -> None:
    agents = pair(lab)
    processes.start("conductor", "worker")
    campaign = lab.launch(**ONE)
    with held(lab.units, "traces", lambda: act(lab, agents)):
        queue.kill()
    assert wait_until(lambda: "task_done" in processes.log("worker"), 30), "the job did not end"
    queue.start()
    carry(lab, campaign, agents, 45)


def test_an_acknowledgement_that_fails_takes_no_place_in_the_worker(queue: Queue) -> None:
    with Connection(queue.url, transport="downlink.jobs.queue:Transport") as connection:
        channel = connection.default_channel
        channel.basic_qos(0, 1, False)
        taken: list[Message] = []
        with SimpleQueue(channel, "jobs") as jobs, Consumer(channel, jobs.queue, on_message=taken.append):
            jobs.put("one")
            connection.drain_events(timeout=60)
            assert not channel.qos.can_consume()
            queue.kill()
            with pytest.raises(connection.connection_errors):
                taken[0].ack()
            assert channel.qos.can_consume()
            queue.start()
