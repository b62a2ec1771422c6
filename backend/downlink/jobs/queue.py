"""Celery's transport over Redis, without its one trap: an acknowledgement that fails takes a place in the worker for ever.

kombu forgets a message after its acknowledgement has reached the queue. When the queue is away at that moment the message
is counted as under way for the rest of the worker's life, and with as many of them as it has places it takes no other.
"""

from __future__ import annotations

from typing import Any

from kombu.transport import redis, virtual


class QoS(redis.QoS):
    """Counts what the worker may still take."""

    def ack(self, delivery_tag: Any) -> None:
        try:
            super().ack(delivery_tag)
        finally:
            virtual.QoS.ack(self, delivery_tag)

    def reject(self, delivery_tag: Any, requeue: bool = False) -> None:
        try:
            super().reject(delivery_tag, requeue=requeue)
        finally:
            virtual.QoS.ack(self, delivery_tag)


class Channel(redis.Channel):
    QoS = QoS


class Transport(redis.Transport):
    Channel = Channel
