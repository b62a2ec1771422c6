"""One notice to one channel, by the means of its kind."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from downlink.courier.sender import Courier
from downlink.domain.notices.delivery import Message
from tests.fixtures.receivers import LOOPBACK, WebReceiver

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
MESSAGE = Message("7", "test", NOW.isoformat(), "A test", "It works.", "https://downlink.example/", {})


def test_a_channel_of_an_unknown_kind_is_refused_and_nothing_is_posted() -> None:
    with WebReceiver() as receiver:
        courier = Courier("https://downlink.example", LOOPBACK)
        refused = courier.send(cast("Any", "pager"), receiver.url(), None, MESSAGE, NOW)
        assert courier.send("chat", receiver.url(), None, MESSAGE, NOW).is_sent
    assert (refused.is_sent, refused.is_final) == (False, True)
    assert refused.detail == "This server has no channels of the kind pager."
    assert len(receiver.got) == 1
