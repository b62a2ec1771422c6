"""A report is what its runs make it, in whatever order they ended; and a long campaign's reports take time in proportion to its runs."""

from __future__ import annotations

import random
from datetime import timedelta
from itertools import pairwise
from uuid import UUID

import orjson
import pytest
from sqlalchemy import text

from downlink.actions.campaigns.archive_read import load_archive
from downlink.actions.results.reanalysis import analyse_again
from downlink.actions.results.reports import refresh_report
from downlink.actions.runs import progress
from downlink.domain.campaigns.campaign import closes_with_report
from downlink.domain.runs.run import Reason, RunState
from downlink.storage.campaigns import campaign_store
from downlink.storage.results import report_store
from downlink.storage.runs.run_store import get_run, run_states
from downlink.storage.unit import Unit
from downlink.views.results.material import build
from downlink.views.results.reports import KEPT, kept_answer
from tests.fixtures.copied import copied
from tests.fixtures.lab import Lab
from tests.fixtures.recorded import ARCHIVE

pytestmark = pytest.mark.sampled("faults")

CYCLES = (1, 2, 3, 63, 64, 65, 66, 127, 128, 129)
TABLES = ("run_flows", "traces", "chunks", "flow_series", "metrics", "limits", "slow_starts", "exits")
COPIES = (
    "CREATE TEMP TABLE ids ON COMMIT DROP AS SELECT gen_random_uuid() AS id, runs.id AS old, wanted AS cycle "
    "FROM runs JOIN unnest(CAST(:cycles AS int[])) AS wanted ON runs.cycle = 1 + wanted % 3",
    """INSERT INTO runs SELECT (jsonb_populate_record(runs, jsonb_build_object(
       'id', ids.id, 'cycle', ids.cycle, 'state', 'uploading', 'ended_at', null))).* FROM runs JOIN ids ON ids.old = runs.id""",
    *(copied(table, f"{table} JOIN ids ON ids.old = {table}.run_id") for table in TABLES),
)


@pytest.fixture
def campaign(lab: Lab) -> UUID:
    """Two runs in each of the first cycles and of some later ones, sampled and analysed; none has ended."""
    with lab.units() as unit:
        identity, _ = load_archive(unit, ARCHIVE.read_bytes())
        for statement in COPIES:
            values = {"cycles": [each for each in CYCLES if each > 3]} if ":cycles" in statement else {}
            unit.session.execute(text(statement), values)
        begin_again(unit)
    return identity


def begin_again(unit: Unit) -> None:
    unit.session.execute(text("UPDATE runs SET state = 'uploading', ended_at = NULL, reason = NULL"))
    unit.session.execute(text("UPDATE campaigns SET state = 'running', ended_at = NULL, report_wanted = 0"))
    unit.session.execute(text("DELETE FROM reports"))
    unit.session.execute(text("DELETE FROM report_answers"))


def end_all(lab: Lab, campaign: UUID, order: random.Random) -> list[bytes]:
    """Every run ends, one in five late; a worker makes each report that is asked for. Reports, in the order of their making."""
    made = []
    with lab.units() as unit:
        waiting = [(run_id, RunState.COMPLETE) for run_id, _ in run_states(unit, campaign)]
    order.shuffle(waiting)
    waiting = [(run_id, RunState.INCOMPLETE) for run_id, _ in waiting[::5]] + waiting
    while waiting:
        run_id, state = waiting.pop(0)
        now = lab.now() + timedelta(seconds=1)
        with lab.units() as unit:
            run = get_run(unit, run_id, is_locked=True)
            progress.finish(
                unit, run, state, now, Reason.UPLOAD_TIMEOUT if state is RunState.INCOMPLETE else None, None
            )
        if body := make_report(lab, campaign):
            made.append(body)
    return made


def make_report(lab: Lab, campaign: UUID) -> bytes | None:
    """The stored one, where another one was wanted; it is what is made of nothing but the rows."""
    with lab.units() as unit:
        if campaign_store.find_campaign(unit, campaign).report_wanted <= report_store.report_version(unit, campaign):
            return None
    with lab.units() as unit:
        refresh_report(unit, campaign, lab.now())
    with lab.units() as unit:
        return stored(unit, campaign)


def stored(unit: Unit, campaign: UUID) -> bytes:
    found = report_store.find_report(unit, campaign)
    assert found is not None
    assert found.body == orjson.dumps(build(unit, campaign_store.find_campaign(unit, campaign)).to_dict())
    return found.body


def test_the_report_is_the_same_in_whatever_order_runs_end_and_after_a_reanalysis(lab: Lab, campaign: UUID) -> None:
    last = set()
    for seed in (1, 2, 3):
        made = end_all(lab, campaign, random.Random(seed))
        assert 2 <= len(made) < len(CYCLES) + 4, "late runs of closed cycles make some reports more"
        last.add(made[-1])
        with lab.units() as unit:
            assert campaign_store.find_campaign(unit, campaign).state == "complete"
            assert len(orjson.loads(made[-1])["groups"][0]["run_ids"]) == len(CYCLES)
            for name, make in KEPT.items():
                assert orjson.loads(kept_answer(unit, campaign, name)) == orjson.loads(
                    orjson.dumps(make(unit, campaign))
                )
            begin_again(unit)
    assert len(last) == 1
    end_all(lab, campaign, random.Random(4))
    with lab.units() as unit:
        analyse_again(unit, campaign, lab.now())
    with lab.units() as unit:
        begin_again(unit)
    again = end_all(lab, campaign, random.Random(5))
    with lab.units() as unit:
        analyse_again(unit, campaign, lab.now())
        assert stored(unit, campaign) == again[-1]


def test_a_report_is_made_at_every_cycle_of_a_short_campaign_and_lags_a_32nd_behind_in_a_long_one() -> None:
    assert all(map(closes_with_report, range(1, 65)))
    made = [cycle for cycle in range(1, 20_001) if closes_with_report(cycle)]
    assert [cycle for cycle in made if 60 < cycle < 72] == [61, 62, 63, 64, 66, 68, 70]
    assert all(later - earlier <= max(1, later / 32) for earlier, later in pairwise(made))


def test_all_reports_together_read_less_than_seventy_times_what_the_last_one_reads() -> None:
    read = 0
    for cycle in range(1, 20_001):
        read += cycle if closes_with_report(cycle) else 0
        assert read + cycle < 70 * cycle
