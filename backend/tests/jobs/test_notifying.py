"""The real conductor and worker: what happens reaches a receiver, though the queue is emptied on the way, and logs hold no secret."""

from __future__ import annotations

import json

import pytest
from redis import Redis
from sqlalchemy import select

from downlink.actions.notices import channels
from downlink.domain.notices.delivery import networks_of
from downlink.domain.notices.notification import Topic
from downlink.domain.people.access import COMMAND_LINE
from downlink.process.settings import Settings
from downlink.stack.process import wait_until
from downlink.storage.tables import Channel, Notification
from tests.fixtures.lab import Lab
from tests.fixtures.receivers import WebReceiver
from tests.jobs.test_processes import START_S, Processes, processes

pytestmark = pytest.mark.timeout(5 * START_S)
__all__ = ["processes"]


def channel_to(lab: Lab, url: str) -> Channel:
    wanted = channels.Wanted("ops", "webhook", url, (Topic.CAMPAIGN_ENDED,), False, 3, 5)
    with lab.units() as unit:
        return channels.make_channel(
            unit,
            wanted,
            lab.now(),
            actor=COMMAND_LINE,
            owner_id=None,
            has_mail=False,
            allowed=networks_of("127.0.0.0/8"),
        )


def is_hinted(lab: Lab) -> bool:
    with lab.units() as unit:
        return unit.session.scalar(select(Notification.hinted_at)) is not None


def test_a_notification_leaves_by_the_real_processes(
    lab: Lab, processes: Processes, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWNLINK_NOTIFY_ALLOW", "127.0.0.0/8")
    lab.join("client")
    lab.join("server")
    lab.link()
    with WebReceiver() as receiver:
        channel = channel_to(lab, receiver.url())
        campaign = lab.launch()
        lab.call("POST", f"/campaigns/{campaign}/cancel")
        processes.start("conductor")
        assert wait_until(lambda: is_hinted(lab), START_S)
        Redis.from_url(settings.redis_url.get_secret_value()).flushall()
        processes.start("worker")
        assert wait_until(lambda: bool(receiver.got), START_S), processes.log("worker")
        assert wait_until(lambda: "notification_sent" in processes.log("worker"), START_S)
    assert [json.loads(got.body)["type"] for got in receiver.got] == ["campaign.cancelled"]
    said = processes.log("worker") + processes.log("conductor")
    assert "secret-part" not in said
    assert str(channel.secret) not in said
