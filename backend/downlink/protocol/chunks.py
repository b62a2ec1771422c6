"""Answers to uploaded chunks."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from downlink.protocol.base import Message, PointName


class ChunkStored(Message):
    stored: bool


class ChunkAnswer(Message):
    """status: what the PUT of this chunk would have answered; `stored` with 200, else `code` and `message`."""

    flow: int
    point: PointName
    sequence: int
    status: int
    stored: Annotated[bool | None, Field(exclude_if=lambda stored: stored is None)] = None
    code: Annotated[str | None, Field(exclude_if=lambda code: code is None)] = None
    message: Annotated[str | None, Field(exclude_if=lambda message: message is None)] = None


class ChunksAnswer(Message):
    chunks: list[ChunkAnswer]
