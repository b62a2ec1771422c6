"""Work that one process does at a time, however many stand by.

The right to it is an advisory lock, and the connection that holds the lock is the one that does the work. Who loses the
connection has lost both: nothing can be written by a process whose turn is over.
"""

from __future__ import annotations

import select as descriptors
import time
from collections.abc import Callable
from typing import Any

import psycopg
import structlog
from sqlalchemy import create_engine, event, func, select

from downlink.storage.unit import SendJobs, Unit, UnitFactory, leave_values_out

# A process that hangs or whose host is gone loses its connection, and with it its turn, within half a minute.
_OPTIONS = (
    "-c timezone=UTC -c lock_timeout=5s -c idle_session_timeout=30s -c idle_in_transaction_session_timeout=30s"
    " -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"
)
_KEEPALIVE = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
WAIT_S = 1.0
ORDERS = "downlink_orders"
log = structlog.get_logger()


class StoppedError(Exception):
    """The process was asked to stop while it waited for its turn."""


def open_units_in_turn(url: str, name: str, send: SendJobs, pause: Callable[[float], bool]) -> UnitFactory:
    """Units over one connection, which is made when this process gets the named lock, and again when it was lost.

    pause waits for so many seconds, and answers whether the process is to stop: StoppedError then.
    """
    engine = create_engine(url, pool_size=1, max_overflow=0, connect_args={**_KEEPALIVE, "options": _OPTIONS},
                           hide_parameters=True)  # fmt: skip

    event.listen(engine, "handle_error", leave_values_out)

    @event.listens_for(engine, "do_connect")
    def connect_in_turn(dialect: Any, _record: Any, arguments: Any, parameters: Any) -> Any:
        connection = dialect.connect(*arguments, **parameters)
        try:
            _wait_for_turn(connection, name, pause)
            connection.execute(f"LISTEN {ORDERS}")
            connection.commit()
        except BaseException:
            connection.close()
            raise
        return connection

    return UnitFactory(engine, send)


def take_turn(units: UnitFactory) -> None:
    """Have the connection, and with it the turn; wait for both where they are not there."""
    with units() as unit:
        unit.session.connection()


def order_work(unit: Unit) -> None:
    """End the wait of the turn's holder as soon as this unit is committed: somebody waits for what it wrote."""
    unit.session.execute(select(func.pg_notify(ORDERS, "")))


def wait_for_order(units: UnitFactory, seconds: float, stop: int) -> None:
    """Wait until work is ordered, for so many seconds at most. stop: a descriptor that can be read once the process is to stop.

    UnavailableError at once when the connection cannot be had. One that ends in the meantime is made again by the next unit.
    """
    until = time.monotonic() + seconds
    with units() as unit:
        connection: Any = unit.session.connection().connection.driver_connection
        try:
            while not any(True for _ in connection.notifies(timeout=0, stop_after=1)):
                left = until - time.monotonic()
                readable, _, _ = descriptors.select([connection, stop], [], [], max(0, left))
                if stop in readable or left <= 0:
                    return
        except psycopg.OperationalError:
            unit.session.invalidate()


def _wait_for_turn(connection: Any, name: str, pause: Callable[[float], bool]) -> None:
    is_told = False
    while not _try_lock(connection, name):
        if not is_told:
            log.info("stands_by", lock=name)
            is_told = True
        if pause(WAIT_S):
            raise StoppedError
    log.info("has_turn", lock=name)


def _try_lock(connection: Any, name: str) -> bool:
    row = connection.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", (name,)).fetchone()
    connection.commit()
    return bool(row[0])
