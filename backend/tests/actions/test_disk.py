"""The database's disk is full: chunks are refused under the disk's own name, and kept until there is room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text

from downlink.storage.unit import UnitFactory
from tests.actions.test_faults import ONE, pair, until
from tests.fixtures.lab import Lab

FULL = """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE SQLSTATE '53100' USING MESSAGE = 'could not extend file'; END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON chunks FOR EACH ROW EXECUTE FUNCTION refuse()
"""


@contextmanager
def full_disk(units: UnitFactory) -> Iterator[None]:
    with units.engine.begin() as connection:
        connection.execute(text(FULL))
    yield
    with units.engine.begin() as connection:
        connection.execute(text("DROP FUNCTION refuse CASCADE"))


def test_chunks_wait_for_room_and_complete_the_run_however_long_that_takes(lab: Lab) -> None:
    client, server = pair(lab)
    campaign = lab.launch(**ONE)
    run = until(lab, campaign, [client, server], "uploading")
    with full_disk(lab.units):
        place, body = next(iter(server.spool[run["id"], 1].items()))
        answer = server.put(run["id"], 1, place, body)
        assert (answer.status_code, answer.json()["code"]) == (507, "disk_full")
        assert "disk is full" in answer.json()["message"]
        assert int(answer.headers["retry-after"]) > 0
        for _ in range(18):
            lab.wait(20)
            for agent in (client, server):
                agent.poll()
            lab.tick()
        while lab.work():
            pass
        assert (lab.runs(campaign)[0]["state"], lab.runs(campaign)[0]["reason"]) == ("incomplete", "upload_timeout")
    lab.wait(60)
    for agent in (client, server):
        agent.act()
    while lab.work():
        pass
    assert lab.runs(campaign)[0]["state"] == "complete"
