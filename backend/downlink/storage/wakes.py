"""Notifications of the database after a commit, sent by triggers (migrations/…_towards_0_2_0.py)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import psycopg
from sqlalchemy import Engine

from downlink.domain.errors import UnavailableError

AGENTS, LOG = "downlink_agents", "downlink_log"
# A server that vanishes without a word is noticed within half a minute.
_KEPT_ALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "connect_timeout": 5}


@dataclass(frozen=True, slots=True)
class Notice:
    """channel: AGENTS, whose payload is an agent's name, or LOG, which has none."""

    channel: str
    payload: str


async def listen(engine: Engine) -> AsyncGenerator[Notice | None]:
    """Notices from now on; the first is None and says that none is missed from here. UnavailableError when the connection ends."""
    _, options = engine.dialect.create_connect_args(engine.url)
    try:
        connection = await psycopg.AsyncConnection.connect(**{**options, **_KEPT_ALIVE}, autocommit=True)
        async with connection:
            for channel in (AGENTS, LOG):
                await connection.execute(f"LISTEN {channel}")
            yield None
            async for notice in connection.notifies():
                yield Notice(notice.channel, notice.payload)
    except psycopg.OperationalError as error:
        raise UnavailableError("database_away", "The database does not answer; try again in some seconds.") from error
