"""The kinds of what happens: in the log, and on the stream that pages follow. OpenAPI and the dashboard take them from here."""

from __future__ import annotations

from typing import Literal

EventKind = Literal[
    "run", "progress", "campaign", "report", "reanalysis", "unexpected", "sweep", "agent", "service", "host"
]  # fmt: skip
"""`host` is in the record of a run alone; the others are streamed."""

LiveKind = Literal[
    "run", "progress", "campaign", "report", "reanalysis", "unexpected", "sweep", "agent", "service", "hello", "refetch"
]
"""`hello` opens a stream; `refetch` says that events were left out, so that everything is to be fetched again."""

FLEETING: tuple[EventKind, ...] = ("progress", "reanalysis", "sweep", "agent", "service")
"""Live views alone read these: they are in no record, and soon forgotten."""
