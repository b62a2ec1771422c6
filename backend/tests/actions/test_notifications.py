"""From what happens on a server to what arrives at a channel: each notice once, whatever is lost on the way."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, text, update

from downlink.actions.notices import channels
from downlink.actions.people.accounts import change_role
from downlink.courier.sender import Courier
from downlink.domain.errors import ConflictError, InvalidError
from downlink.domain.notices.delivery import MOST_TRIES, Outcome
from downlink.domain.notices.notification import MOST_CHANNELS, Topic
from downlink.domain.people.access import COMMAND_LINE
from downlink.domain.people.permission import Role
from downlink.storage.people import access_store
from downlink.storage.tables import Campaign, Channel, Notification, User
from tests.actions.test_faults import ONE, pair
from tests.fixtures.lab import Lab
from tests.fixtures.receivers import LOOPBACK, Answer, WebReceiver

pytestmark = pytest.mark.sampled("faults")

EVERYTHING = tuple(Topic)


def make(lab: Lab, target: str, **changes: Any) -> Channel:
    owner = changes.pop("owner_id", None)
    wanted = channels.Wanted(
        **{
            "name": "ops", "kind": "webhook", "target": target, "topics": EVERYTHING, "is_own_only": False,
            "failures_in_row": 2, "gone_after_min": 5, **changes,
        }
    )  # fmt: skip
    lab.courier = Courier("https://downlink.example", LOOPBACK)
    with lab.units() as unit:
        return channels.make_channel(
            unit, wanted, lab.now(), actor=COMMAND_LINE, owner_id=owner, has_mail=False, allowed=LOOPBACK
        )


def account(lab: Lab, name: str, role: Role) -> UUID:
    with lab.units() as unit:
        return access_store.add_user(unit, name, "x", role, lab.now()).id


def tick(lab: Lab) -> None:
    lab.tick()


def deliver(lab: Lab) -> None:
    """The tick makes and sends what is due; workers do it."""
    tick(lab)
    while lab.work():
        pass


def stored(lab: Lab) -> list[Notification]:
    with lab.units() as unit:
        return list(unit.session.scalars(select(Notification).order_by(Notification.created_at)))


def kinds(receiver: WebReceiver) -> list[str]:
    return [json.loads(got.body)["type"] for got in receiver.got]


def test_the_end_of_a_campaign_arrives_once_and_signed(lab: Lab) -> None:
    agents = [*pair(lab)]
    with WebReceiver() as receiver:
        channel = make(lab, receiver.url())
        campaign = lab.launch(**ONE)
        lab.drive(campaign, agents)
        for _ in range(3):
            deliver(lab)
    (got,) = receiver.got
    body = json.loads(got.body)
    assert body["type"] == "campaign.complete"
    assert body["data"]["runs"] == {"complete": 1}
    assert body["data"]["url"] == f"https://downlink.example/campaigns/{campaign}"
    signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    key = base64.b64decode(str(channel.secret).removeprefix("whsec_"))
    mark = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert got.headers["webhook-signature"] == f"v1,{mark}"


def test_a_channel_hears_nothing_of_before_it_was_made(lab: Lab) -> None:
    agents = [*pair(lab)]
    lab.drive(lab.launch(**ONE), agents)
    with WebReceiver() as receiver:
        make(lab, receiver.url())
        deliver(lab)
    assert receiver.got == []


def test_it_is_tried_again_with_the_same_body_and_id(lab: Lab) -> None:
    lab.stop_clock()
    with WebReceiver([Answer(500), Answer(500)]) as receiver:
        make(lab, receiver.url(), topics=(Topic.CAMPAIGN_ENDED,))
        cancelled(lab)
        for pause in (0, 29, 2, 119, 2, 1000):
            lab.wait(pause)
            deliver(lab)
    assert len(receiver.got) == 3
    assert len({(got.body, got.headers["webhook-id"]) for got in receiver.got}) == 1
    (row,) = stored(lab)
    assert (row.tries, row.detail, row.gave_up_at) == (3, "Answered 200.", None)
    assert row.sent_at


def test_it_is_given_up_after_its_last_try(lab: Lab) -> None:
    lab.stop_clock()
    with WebReceiver([Answer(503)] * 20) as receiver:
        make(lab, receiver.url(), topics=(Topic.CAMPAIGN_ENDED,))
        cancelled(lab)
        for _ in range(MOST_TRIES + 3):
            deliver(lab)
            lab.wait(31_000)
    assert len(receiver.got) == MOST_TRIES
    (row,) = stored(lab)
    assert row.gave_up_at
    assert (row.sent_at, row.detail) == (None, "Answered 503.")


def test_a_refused_address_is_given_up_at_once(lab: Lab) -> None:
    with WebReceiver() as receiver:
        make(lab, receiver.url())
        lab.courier = Courier("https://downlink.example")
        cancelled(lab)
        deliver(lab)
    (row,) = stored(lab)
    assert row.gave_up_at
    assert (row.tries, receiver.got) == (1, [])


def test_a_lost_job_is_sent_again_and_a_doubled_one_sends_once(lab: Lab) -> None:
    with WebReceiver() as receiver:
        make(lab, receiver.url())
        cancelled(lab)
        tick(lab)
        assert "notify" not in lab.work(lost="notify")
        deliver(lab)
        assert receiver.got == [], "the job may still be on its way"
        lab.wait(31)
        tick(lab)
        with lab.units() as unit:
            unit.session.execute(update(Notification).values(hinted_at=None))
        tick(lab)
        assert lab.work().count("notify") == 2
    assert len(receiver.got) == 1


def test_a_worker_that_is_killed_while_it_sends_leaves_it_due(lab: Lab) -> None:
    class KilledError(BaseException):
        pass

    class Killed(Courier):
        def send(self, *_: object) -> Any:
            raise KilledError

    with WebReceiver() as receiver:
        make(lab, receiver.url())
        cancelled(lab)
        good, lab.courier = lab.courier, Killed("https://downlink.example")
        tick(lab)
        with pytest.raises(KilledError):
            lab.work()
        lab.courier = good
        deliver(lab)
        assert receiver.got == []
        lab.wait(31)
        deliver(lab)
    assert len(receiver.got) == 1
    assert stored(lab)[0].tries == 2


def test_a_late_success_is_noted_though_another_try_has_begun(lab: Lab) -> None:
    class Late(Courier):
        def send(self, *_: object) -> Outcome:
            lab.wait(31)
            lab.courier = other
            tick(lab)
            lab.work()  # another worker, whose try fails
            return Outcome(True, "Answered 200.")

    with WebReceiver([Answer(500)]) as receiver:
        make(lab, receiver.url(), topics=(Topic.CAMPAIGN_ENDED,))
        other, lab.courier = lab.courier, Late("https://downlink.example")
        cancelled(lab)
        deliver(lab)
        lab.wait(1000)
        deliver(lab)
    (row,) = stored(lab)
    assert (row.tries, row.detail, len(receiver.got)) == (2, "Answered 200.", 1)
    assert row.sent_at


def cancelled(lab: Lab, **changes: Any) -> str:
    """A campaign that ends at once."""
    if not lab.call("GET", "/links")["items"]:
        pair(lab)
    campaign = lab.launch(**ONE)
    if changes:
        with lab.units() as unit:
            unit.session.execute(update(Campaign).where(Campaign.id == UUID(campaign)).values(**changes))
    lab.call("POST", f"/campaigns/{campaign}/cancel")
    return campaign


def test_own_campaigns_alone(lab: Lab) -> None:
    pair(lab)
    me, other = (account(lab, name, Role.OPERATOR) for name in ("me", "other"))
    with WebReceiver() as receiver:
        make(lab, receiver.url(), owner_id=me, is_own_only=True)
        mine = cancelled(lab, owner_id=me)
        cancelled(lab, owner_id=other)
        cancelled(lab)
        deliver(lab)
    assert [json.loads(got.body)["data"]["campaign_id"] for got in receiver.got] == [mine]


def test_an_account_that_may_have_no_channel_any_more_is_sent_nothing(lab: Lab) -> None:
    pair(lab)
    me = account(lab, "me", Role.OPERATOR)
    with WebReceiver() as receiver:
        make(lab, receiver.url(), owner_id=me)
        cancelled(lab)
        tick(lab)
        with lab.units() as unit:
            unit.session.execute(update(User).values(role="viewer"))
        deliver(lab)
        cancelled(lab)
        deliver(lab)
    assert receiver.got == []
    assert [row.detail for row in stored(lab)] == ["The channel was switched off."]


def test_who_may_have_channels_again_is_sent_what_comes_from_then_on(lab: Lab) -> None:
    pair(lab)
    me = account(lab, "me", Role.OPERATOR)
    with WebReceiver() as receiver:
        make(lab, receiver.url(), owner_id=me)
        for role in (Role.VIEWER, Role.OPERATOR, Role.ADMIN):
            with lab.units() as unit:
                change_role(unit, me, role, lab.now(), actor=COMMAND_LINE)
            last = cancelled(lab)
            if role is not Role.OPERATOR:  # on from operator to admin nothing is left out
                deliver(lab)
            if role is Role.VIEWER:
                assert receiver.got == []
            if role is Role.OPERATOR:
                first = last
        deliver(lab)
    assert [json.loads(got.body)["data"]["campaign_id"] for got in receiver.got] == [first, last]


def test_a_slow_receiver_has_one_notification_under_way(lab: Lab) -> None:
    pair(lab)
    with WebReceiver() as receiver:
        for _ in range(6):
            make(lab, receiver.url(), topics=(Topic.CAMPAIGN_ENDED,))
        for _ in range(2):
            cancelled(lab)
        for _ in range(3):
            tick(lab)
        assert sorted(under_way(lab).values()) == [1] * 4, "one of a channel, four in all"
        lab.work()
        assert under_way(lab) == {}
        tick(lab)
        assert sorted(under_way(lab).values()) == [1] * 4, "the others have their turn at once"
        for _ in range(3):
            deliver(lab)
    assert len(receiver.got) == 12


def under_way(lab: Lab) -> Counter[UUID]:
    return Counter(row.channel_id for row in stored(lab) if row.hinted_at and not row.sent_at)


def test_quick_tests_and_imports_are_no_news(lab: Lab) -> None:
    pair(lab)
    with WebReceiver() as receiver:
        make(lab, receiver.url())
        cancelled(lab, quick_link="geo")
        cancelled(lab, origin="imported")
        deliver(lab)
    assert receiver.got == []


def test_switched_off_and_on_again(lab: Lab) -> None:
    pair(lab)
    with WebReceiver() as receiver:
        channel = make(lab, receiver.url())
        cancelled(lab)
        tick(lab)
        change(lab, channel, is_enabled=False)
        cancelled(lab)
        deliver(lab)
        change(lab, channel, is_enabled=True)
        deliver(lab)
        assert receiver.got == []
        cancelled(lab)
        deliver(lab)
    assert len(receiver.got) == 1


def change(lab: Lab, channel: Channel, **changes: Any) -> None:
    with lab.units() as unit:
        channels.change_channel(unit, channel.id, changes, lab.now(), actor=COMMAND_LINE, allowed=LOOPBACK)


def test_chat_gets_text(lab: Lab) -> None:
    pair(lab)
    with WebReceiver() as receiver:
        assert make(lab, receiver.url(), kind="chat").secret is None
        cancelled(lab)
        deliver(lab)
    (got,) = receiver.got
    assert list(json.loads(got.body)) == ["text"]
    assert "webhook-signature" not in got.headers


def test_the_test_answers_what_happened_and_is_listed(lab: Lab) -> None:
    with WebReceiver([Answer(), Answer(500)]) as receiver:
        channel = make(lab, receiver.url())
        first = channels.try_channel(lab.units, channel.id, lab.now(), lab.courier)
        with pytest.raises(ConflictError, match="wait"):
            channels.try_channel(lab.units, channel.id, lab.now(), lab.courier)
        lab.wait(6)
        second = channels.try_channel(lab.units, channel.id, lab.now(), lab.courier)
        lab.wait(100)
        deliver(lab)
    assert [(each.is_sent, each.detail) for each in (first, second)] == [
        (True, "Answered 200."),
        (False, "Answered 500."),
    ]
    assert kinds(receiver) == ["test", "test"], "a test is not tried again"
    assert [(row.sent_at is None, row.gave_up_at is None) for row in stored(lab)] == [(False, True), (True, False)]


def test_what_cannot_be_a_channel(lab: Lab) -> None:
    with pytest.raises(InvalidError):
        make(lab, "ftp://a.example")
    with pytest.raises(ConflictError, match="DOWNLINK_SMTP_HOST"):
        make(lab, "a@b.example", kind="email")
    with pytest.raises(InvalidError):
        make(lab, "https://a.example", is_own_only=True)
    for _ in range(MOST_CHANNELS):
        make(lab, "https://a.example/x")
    with pytest.raises(ConflictError, match="20"):
        make(lab, "https://a.example/x")


def test_logs_audit_and_rows_hold_no_secrets(lab: Lab, capfd: pytest.CaptureFixture[str]) -> None:
    pair(lab)
    with WebReceiver([Answer(500)]) as receiver:
        channel = make(lab, receiver.url())
        cancelled(lab)
        deliver(lab)
    with lab.units() as unit:
        audit = str(unit.session.execute(text("SELECT action, subject FROM audit")).all())
        rows = str(unit.session.execute(text("SELECT * FROM notifications")).all())
    said = "".join(capfd.readouterr())
    assert "create_channel" in audit
    for secret in (str(channel.secret), "secret-part"):
        assert secret not in audit
        assert secret not in rows
        assert secret not in said


def test_a_deleted_campaign_takes_its_news_with_it(lab: Lab) -> None:
    pair(lab)
    with WebReceiver() as receiver:
        make(lab, receiver.url())
        campaign = cancelled(lab)
        with lab.units() as unit:
            unit.session.execute(text("DELETE FROM campaigns WHERE id = :id"), {"id": campaign})
        deliver(lab)
        cancelled(lab)
        deliver(lab)
    assert kinds(receiver) == ["campaign.cancelled"]
