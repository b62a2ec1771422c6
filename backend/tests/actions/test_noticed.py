"""What is noticed of runs, agents and volumes, from the log to a channel."""

from __future__ import annotations

import json
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import text

from downlink.domain.notices.notification import Topic
from tests.actions.test_faults import ONE, pair
from tests.actions.test_notifications import deliver, kinds, make, stored, tick
from tests.fixtures.lab import Lab
from tests.fixtures.receivers import WebReceiver

pytestmark = pytest.mark.sampled("faults", one_of=3)


def test_failures_in_a_row_arrive_once_per_series(lab: Lab) -> None:
    pair(lab)
    with WebReceiver() as receiver:
        make(lab, receiver.url(), topics=(Topic.FAILURES,))
        campaign = lab.launch(**{**ONE, "timetable": {"cycles": 6}, "limits": {"attempts": 1}})
        for number in range(6):
            end_one(lab, campaign, "complete" if number == 3 else "failed")
            deliver(lab)
    assert kinds(receiver) == ["runs.failing", "runs.failing"]
    assert [json.loads(got.body)["data"]["runs"] for got in receiver.got] == [2, 2]


def test_a_run_that_is_not_judged_yet_ends_the_series_for_now(lab: Lab) -> None:
    pair(lab)
    with WebReceiver() as receiver:
        make(lab, receiver.url(), topics=(Topic.FAILURES,), failures_in_row=3)
        make(lab, receiver.url(), topics=(Topic.FAILURES,), failures_in_row=1)
        campaign = lab.launch(**{**ONE, "timetable": {"cycles": 8}, "limits": {"attempts": 1}})
        for letter in ("failed", "failed"):
            end_one(lab, campaign, letter)
        measured = release_one(lab, campaign)
        end_one(lab, campaign, "failed")
        deliver(lab)
        assert [row.type for row in stored(lab)] == ["runs.failing"], "the first failure, to who asked for one"
        end(lab, campaign, measured, "complete")
        for _ in range(2):
            deliver(lab)
        assert [row.body["data"]["runs"] for row in stored(lab)] == [1, 1], (
            "the one behind the success is a series of its own"
        )
        end_one(lab, campaign, "failed")
        measured = release_one(lab, campaign)
        deliver(lab)
        assert len(stored(lab)) == 2
        end(lab, campaign, measured, "failed")
        for _ in range(2):
            deliver(lab)
    assert [row.body["data"]["runs"] for row in stored(lab)] == [1, 1, 3]


def release_one(lab: Lab, campaign: str) -> UUID:
    """The first run that has not ended is measured, and uploads."""
    change = """
        UPDATE runs SET state = 'uploading', released_at = :now, wake_at = NULL
        WHERE id = (SELECT id FROM runs WHERE campaign_id = :campaign AND ended_at IS NULL ORDER BY cycle LIMIT 1) RETURNING id
    """
    with lab.units() as unit:
        return UUID(str(unit.session.execute(text(change), {"campaign": campaign, "now": lab.now()}).scalar_one()))


def end_one(lab: Lab, campaign: str, state: str) -> None:
    """The first run that has not begun ends so, and logs it."""
    first = "SELECT id FROM runs WHERE campaign_id = :campaign AND released_at IS NULL AND ended_at IS NULL ORDER BY cycle LIMIT 1"
    with lab.units() as unit:
        run = unit.session.execute(text(first), {"campaign": campaign}).scalar_one()
    end(lab, campaign, run, state)


def end(lab: Lab, campaign: str, run: UUID, state: str) -> None:
    values = {"campaign": campaign, "run": run, "state": state, "now": lab.now()}
    change = """
        UPDATE runs SET state = :state, reason = CASE WHEN :state = 'failed' THEN 'link_lost' END, ended_at = :now, wake_at = NULL
        WHERE id = :run
    """
    log = """
        INSERT INTO events (at, kind, campaign_id, run_id, data)
        VALUES (:now, 'run', :campaign, :run, jsonb_build_object('run_state', CAST(:state AS text)))
    """
    with lab.units() as unit:
        unit.session.execute(text(change), values)
        unit.session.execute(text(log), values)


def test_an_agent_that_is_gone_and_back_arrives_twice_each_time(lab: Lab) -> None:
    agent = lab.join("dish")
    with WebReceiver() as receiver:
        make(lab, receiver.url(), topics=(Topic.AGENT_GONE,))
        for _ in range(2):
            for _ in range(8):
                lab.wait(50)
                deliver(lab)
            agent.poll()
            for _ in range(2):
                deliver(lab)
                lab.wait(11)
    assert kinds(receiver) == ["agent.gone", "agent.back"] * 2


def test_silence_in_a_run_is_the_runs_until_it_ends(lab: Lab) -> None:
    """An agent says nothing while it measures; it has its minutes from the moment on at which its run was let go."""
    pair(lab)
    said = "UPDATE agents SET status = 'running', run_id = :run, last_seen_at = last_seen_at - interval '45 minutes'"
    with WebReceiver() as receiver:
        make(lab, receiver.url(), topics=(Topic.AGENT_GONE,))
        campaign = lab.launch(**ONE)
        run = UUID(lab.runs(campaign)[0]["id"])
        tick(lab)
        with lab.units() as unit:
            unit.session.execute(text(said), {"run": run})
            unit.session.execute(text("UPDATE heartbeats SET since = since - interval '2 hours'"))
            unit.session.execute(text("DELETE FROM leases"))
        end(lab, campaign, run, "failed")
        lab.wait(11)
        deliver(lab)
        assert stored(lab) == []
        for _ in range(8):
            lab.wait(50)
            deliver(lab)
    assert sorted(kinds(receiver)) == ["agent.gone", "agent.gone"]


def test_silence_of_the_server_is_no_agents(lab: Lab) -> None:
    lab.join("dish")
    with WebReceiver() as receiver:
        make(lab, receiver.url(), topics=(Topic.AGENT_GONE,))
        lab.go_away(3000)
        deliver(lab)
    assert receiver.got == []


def test_four_fifths_of_a_limit_and_of_an_allowance(lab: Lab) -> None:
    agents = [*pair(lab)]
    limits = {**ONE, "limits": {"bytes": 10**12}}
    with WebReceiver() as receiver:
        make(lab, receiver.url(), topics=(Topic.VOLUME,))
        lab.drive(lab.launch(**limits), agents)
        deliver(lab)
        assert kinds(receiver) == []
        carried = lab.call("GET", "/calendar")["links"][0]["carried_bytes"]
        assert carried > 0
        (link,) = lab.call("GET", "/links")["items"]
        lab.call("PATCH", f"/links/{link['id']}", {"allowance_bytes": int(carried * 2.2), "nominal_rate_bps": 1000})
        second = lab.launch(**limits)
        with lab.units() as unit:
            spec = text(
                "UPDATE campaigns SET spec = jsonb_set(spec, '{limits,bytes}', to_jsonb(CAST(:most AS bigint)))"
            )
            unit.session.execute(spec, {"most": int(carried * 1.1)})
        lab.drive(second, agents)
        for _ in range(2):
            deliver(lab)
    assert sorted(kinds(receiver)) == ["campaign.volume", "link.volume"]


def test_four_fifths_of_what_a_hosts_owner_allows_a_month_once_a_month(lab: Lab) -> None:
    dish = lab.join("dish")

    def say(used: int, resets_on: str) -> None:
        dish.host["policy"] = {
            "utc_offset_s": 0,
            "month": {"limit_bytes": 1000, "used_bytes": used, "resets_on": resets_on},
        }
        dish.forget()
        dish.act()
        for _ in range(2):
            lab.wait(15)
            deliver(lab)

    next_month = f"{lab.now() + timedelta(days=20):%Y-%m-%d}"
    with WebReceiver() as receiver:
        make(lab, receiver.url(), topics=(Topic.VOLUME,))
        say(799, next_month)
        assert kinds(receiver) == []
        say(800, next_month)
        say(900, next_month)
        assert kinds(receiver) == ["agent.volume"]
        say(10, f"{lab.now() + timedelta(days=50):%Y-%m-%d}")
        say(850, f"{lab.now() + timedelta(days=50):%Y-%m-%d}")
        assert kinds(receiver) == ["agent.volume", "agent.volume"]
    assert "dish has used 80 % of what its owner allows a month" in str(receiver.got[0])
