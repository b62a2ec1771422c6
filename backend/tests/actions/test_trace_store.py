"""Traces in an S3 store: the same answers as from the database, and nothing lost or left over whatever is away when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from downlink.actions.campaigns.archive_read import load_archive
from downlink.actions.traces.folders import move_traces
from downlink.domain.errors import NotFoundError, UnavailableError
from downlink.process.settings import Settings
from downlink.storage.traces import part_store
from downlink.storage.traces.objects import TraceStore
from downlink.storage.unit import UnitFactory
from tests.actions.test_archive import archive_of, everything
from tests.actions.test_faults import ONE, pair, until
from tests.fixtures.lab import Lab
from tests.fixtures.recorded import ARCHIVE
from tests.fixtures.s3_server import S3Server
from tests.fixtures.scripted_agent import ScriptedAgent

NAMED = "chunks WHERE folder_id IS NOT NULL"
"""A sealed trace's chunks whose row names an object."""


@pytest.fixture
def s3_lab(units: UnitFactory, settings: Settings, s3: S3Server) -> Iterator[Lab]:
    """A server that keeps its traces in the store."""
    with Lab(s3.settings(settings), units) as opened:
        yield opened


def store_of(lab: Lab) -> UnitFactory:
    """Units as the lab's own processes have them."""
    units: UnitFactory = lab.app.state.units
    return units


def kept_in_database(lab: Lab) -> int:
    return count(lab, "chunks WHERE parquet IS NOT NULL")


def count(lab: Lab, what: str) -> int:
    with lab.units() as unit:
        return int(unit.session.execute(text(f"SELECT count(*) FROM {what}")).scalar_one())  # noqa: S608


def wait_an_hour(lab: Lab) -> None:
    """For what folders are to wait for, by the database's clock."""
    with lab.units() as unit:
        unit.session.execute(text("UPDATE trace_folders SET due_at = due_at - interval '61 minutes'"))


def clear(lab: Lab) -> None:
    """What the tick and a worker do within a minute."""
    lab.wait(61)
    lab.tick()
    while lab.work():
        pass


class Killed(BaseException):
    pass


def write_and_end(lab: Lab) -> None:
    """An object is written, and the transaction whose row would name it never ends."""
    with store_of(lab)() as unit:
        part_store.keep(unit, (uuid4(), 1, "sender", 0), b"bytes")
        assert unit.folder
        unit.folder.finish()
        raise Killed


def finish(lab: Lab, agents: list[ScriptedAgent]) -> None:
    lab.wait(31)
    lab.tick()
    for agent in agents:
        agent.act()
    while lab.work():
        pass


def answers(lab: Lab, campaign: str) -> tuple[dict[str, Any], bytes]:
    return everything(lab, campaign), archive_of(lab, campaign)


def test_traces_move_between_the_stores_and_every_answer_stays_the_same(
    lab: Lab, s3: S3Server, settings: Settings
) -> None:
    with store_of(lab)() as unit:
        campaign = str(load_archive(unit, ARCHIVE.read_bytes())[0])
    before, chunks = answers(lab, campaign), kept_in_database(lab)
    with Lab(s3.settings(settings), lab.units) as other:
        assert move_traces(store_of(other)) == chunks == len(s3.objects())
        assert kept_in_database(other) == 0
        assert answers(other, campaign) == before
        assert move_traces(store_of(other)) == 0
        other.call("POST", f"/campaigns/{campaign}/reanalysis", expect=202)
        while other.work():
            pass
        assert answers(other, campaign)[0]["metrics"] == before[0]["metrics"]
        back = UnitFactory(
            lab.units.engine,
            lambda _: None,
            TraceStore.of(s3.settings(settings).model_copy(update={"trace_store": "database"})),
        )
        assert move_traces(back) == chunks
        clear(other)
        assert s3.objects() == []
    assert answers(lab, campaign)[0]["series"] == before[0]["series"]


def test_what_is_measured_is_in_the_store_and_goes_with_its_campaign(s3_lab: Lab, s3: S3Server) -> None:
    agents = list(pair(s3_lab))
    campaign = s3_lab.launch()
    assert {run["state"] for run in s3_lab.drive(campaign, agents)} == {"complete"}
    assert kept_in_database(s3_lab) == 0
    assert len(s3.objects()) == count(s3_lab, NAMED) > 3
    assert count(s3_lab, "trace_folders WHERE due_at IS NOT NULL") == 0
    packed = archive_of(s3_lab, campaign)
    s3_lab.call("DELETE", f"/campaigns/{campaign}")
    clear(s3_lab)
    assert (s3.objects(), count(s3_lab, "trace_folders")) == ([], 0)
    with store_of(s3_lab)() as unit:
        load_archive(unit, packed)
    assert len(s3.objects()) == count(s3_lab, NAMED) > 3


def test_older_traces_stay_where_they_are_and_are_read_beside_new_ones(
    lab: Lab, s3: S3Server, settings: Settings
) -> None:
    agents = list(pair(lab))
    first = lab.launch(**ONE)
    lab.drive(first, agents)
    before = everything(lab, first)
    inside = kept_in_database(lab)
    with Lab(s3.settings(settings), lab.units) as later:
        for agent in agents:
            agent.client = later.client
        second = later.launch(**ONE)
        later.drive(second, agents)
        assert kept_in_database(later) == inside
        assert everything(later, first) == before
        in_store = everything(later, second)
        with Lab(s3.settings(settings).model_copy(update={"trace_store": "database"}), lab.units) as again:
            assert everything(again, second) == in_store, "the row says where its bytes are, whatever is set now"


def test_a_store_that_is_away_holds_up_the_seal_and_nothing_is_lost(s3_lab: Lab, s3: S3Server) -> None:
    agents = list(pair(s3_lab))
    campaign = s3_lab.launch(**ONE)
    until(s3_lab, campaign, agents, "uploading")
    s3.stop()
    for agent in agents:
        agent.act()
    assert all(not agent.spool for agent in agents), "what is uploaded is in the database until it is sealed"
    for _ in range(2):
        with pytest.raises(UnavailableError, match="does not answer") as caught:
            finish(s3_lab, agents)
        assert caught.value.code == "trace_store_away"
    assert s3_lab.runs(campaign)[0]["state"] == "uploading"
    assert count(s3_lab, "runs WHERE needs = 'seal' AND tries = 0") == 1, "an outage is no failure of the job"
    assert count(s3_lab, "trace_folders") == 0, "nothing can have been written"
    s3.start()
    finish(s3_lab, agents)
    assert s3_lab.runs(campaign)[0]["state"] == "complete"
    assert len(s3.objects()) == count(s3_lab, NAMED)


def be_impatient(lab: Lab) -> None:
    """A second instead of thirty."""
    for units in (store_of(lab), lab._sending):
        units.store = replace(units.store, patience_s=1, _buckets={})


def test_a_store_that_hangs_is_as_one_that_is_away(s3_lab: Lab, s3: S3Server) -> None:
    """It takes the connection and never answers: to the seal that would write, and to a reader of what it holds."""
    agents = list(pair(s3_lab))
    be_impatient(s3_lab)
    (first,) = s3_lab.drive(s3_lab.launch(**ONE), agents)
    campaign = s3_lab.launch(**ONE)
    until(s3_lab, campaign, agents, "uploading")
    chunks = count(s3_lab, "chunks")
    with s3.hanging():
        with pytest.raises(UnavailableError) as caught:
            finish(s3_lab, agents)
        assert caught.value.code == "trace_store_away"
        answer = s3_lab.call("GET", f"/runs/{first['id']}/traces/1/sender.csv", expect=503)
        assert answer["code"] == "trace_store_away"
    assert count(s3_lab, "chunks WHERE packed IS NOT NULL") == chunks, "the second run's are as many, and all there"
    finish(s3_lab, agents)
    assert s3_lab.runs(campaign)[0]["state"] == "complete"
    assert len(s3.objects()) == count(s3_lab, NAMED) == 4


def test_answers_that_need_the_store_name_it_while_it_is_away(s3_lab: Lab, s3: S3Server) -> None:
    agents = list(pair(s3_lab))
    campaign = s3_lab.launch(**ONE)
    (run,) = s3_lab.drive(campaign, agents)
    s3.stop()
    answer = s3_lab.call("GET", f"/runs/{run['id']}/traces/1/sender.csv", expect=503)
    assert "s3://traces does not answer" in answer["message"]
    assert s3_lab.call("GET", f"/runs/{run['id']}/series")["flows"], "what was computed is in the database"
    s3_lab.call("DELETE", f"/campaigns/{campaign}", expect=204)
    with pytest.raises(UnavailableError):
        clear(s3_lab)
    assert count(s3_lab, "trace_folders") == 1, "the folder is still on record"
    s3.start()
    clear(s3_lab)
    assert (s3.objects(), count(s3_lab, "trace_folders")) == ([], 0)


def test_what_a_killed_job_has_written_is_removed_later(s3_lab: Lab, s3: S3Server) -> None:
    agents = list(pair(s3_lab))
    campaign = s3_lab.launch(**ONE)
    s3_lab.drive(campaign, agents)
    named = s3.objects()
    with pytest.raises(Killed):
        write_and_end(s3_lab)
    assert len(s3.objects()) == len(named) + 1
    clear(s3_lab)
    assert len(s3.objects()) == len(named) + 1, "it may still be at work"
    wait_an_hour(s3_lab)
    clear(s3_lab)
    assert s3.objects() == named
    assert count(s3_lab, "trace_folders") == 1


def test_a_folder_that_a_trace_names_is_never_removed(s3_lab: Lab, s3: S3Server) -> None:
    agents = list(pair(s3_lab))
    s3_lab.drive(s3_lab.launch(**ONE), agents)
    named = s3.objects()
    with s3_lab.units() as unit:
        unit.session.execute(text("UPDATE trace_folders SET due_at = now() - interval '1 day'"))
    clear(s3_lab)
    assert s3.objects() == named
    assert count(s3_lab, "trace_folders WHERE due_at > now()") == 1, "it is looked at again later"
    with pytest.raises(UnavailableError, match="still in use"), s3_lab.units() as unit:
        unit.session.execute(text("DELETE FROM trace_folders"))


def test_a_unit_under_way_keeps_its_folder_however_long_it_takes(s3_lab: Lab, s3: S3Server) -> None:
    agents = list(pair(s3_lab))
    (run,) = s3_lab.drive(s3_lab.launch(**ONE), agents)
    with store_of(s3_lab)() as unit:
        part_store.keep(unit, (UUID(run["id"]), 1, "sender", 99), b"bytes")
        with s3_lab.units() as other:
            assert unit.folder
            assert part_store.take_due(other, unit.folder.id) is None
    assert count(s3_lab, "trace_folders WHERE due_at IS NULL") == 2


def test_an_object_that_the_store_has_lost_is_named(s3_lab: Lab, s3: S3Server) -> None:
    agents = list(pair(s3_lab))
    (run,) = s3_lab.drive(s3_lab.launch(**ONE), agents)
    (lost,) = [path for path in s3.objects() if path.name == "1-sender-0.parquet"]
    lost.unlink()
    answer = s3_lab.call("GET", f"/runs/{run['id']}/traces/1/sender.csv", expect=404)
    assert f"{run['id']}/1-sender-0.parquet" in answer["message"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"s3_secret_key": "wrong"}, "refuses this server: check DOWNLINK_S3_ACCESS_KEY"),
        ({"trace_store": "s3://nowhere/lab"}, "no such bucket: create s3://nowhere, or correct DOWNLINK_TRACE_STORE"),
        ({"s3_endpoint": "http://127.0.0.1:1"}, "s3://traces does not answer"),
    ],
)
def test_a_store_that_cannot_be_written_says_why_and_nothing_is_kept(
    units: UnitFactory, settings: Settings, s3: S3Server, changes: dict[str, Any], sentence: str
) -> None:
    wrong = Settings(**{**s3.settings(settings).model_dump(exclude={"public_url"}), **changes})
    into = UnitFactory(units.engine, lambda _: None, TraceStore.of(wrong))
    with pytest.raises(UnavailableError, match=sentence), into() as unit:
        load_archive(unit, ARCHIVE.read_bytes())
    with units() as unit:
        assert unit.session.execute(text("SELECT count(*) FROM campaigns")).scalar_one() == 0
        assert unit.session.execute(text("SELECT count(*) FROM trace_folders")).scalar_one() == 0


def test_without_keys_older_objects_are_named_by_what_is_missing() -> None:
    with pytest.raises(UnavailableError, match="set DOWNLINK_S3_ACCESS_KEY and DOWNLINK_S3_SECRET_KEY"):
        list(TraceStore().contents(["s3://traces/lab/one"]))


def test_contents_come_in_their_order_wherever_they_are(s3: S3Server, settings: Settings) -> None:
    store = TraceStore.of(s3.settings(settings))
    folder = store.open_folder(uuid4())
    for number in range(40):
        folder.put(f"{number}", bytes([number]))
    folder.finish()
    wanted = [bytes([number]) if number % 7 == 0 else f"{folder.url}/{number}" for number in range(40)]
    assert list(store.contents(wanted)) == [bytes([number]) for number in range(40)]
    with pytest.raises(NotFoundError, match="has lost"):
        list(store.contents([*wanted, f"{folder.url}/40"]))
