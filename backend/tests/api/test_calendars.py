"""All links over some days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, text

from downlink.actions.campaigns.archive_read import load_archive
from downlink.storage.campaigns import campaign_store
from downlink.storage.results import calendar_store
from downlink.storage.tables import Run
from downlink.storage.unit import Unit
from tests.fixtures.lab import Lab
from tests.fixtures.recorded import ARCHIVE


def calendar(lab: Lab, **query: Any) -> Any:
    return lab.call("GET", "/calendar", params={key.rstrip("_"): value for key, value in query.items()})


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def whole(at: datetime) -> datetime:
    """As answers say it: to the millisecond."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def counted(found: Any) -> Counter[str]:
    """Runs by state, over all links, campaigns and cells."""
    counts: Counter[str] = Counter()
    for link in found["links"]:
        for lane in link["lanes"]:
            for cell in lane["cells"]:
                counts.update(cell["counts"])
    return counts


def test_a_campaign_that_is_deleted_meanwhile_is_left_out(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    with lab.units() as unit:
        campaign, _ = load_archive(unit, ARCHIVE.read_bytes())
        day = unit.session.scalars(select(Run.start_at).order_by(Run.start_at)).first()
    assert day is not None
    named = calendar_store.campaigns_named

    def after_it_is_gone(unit: Unit, ids: Collection[UUID]) -> Any:
        with lab.units() as other:
            campaign_store.delete_campaign(other, campaign)
        return named(unit, ids)

    monkeypatch.setattr(calendar_store, "campaigns_named", after_it_is_gone)
    assert calendar(lab, from_=str(day.date()), days=1)["links"] == []


def test_an_empty_week_says_where_the_nearest_runs_are(lab: Lab) -> None:
    empty = calendar(lab)
    assert (empty["links"], empty["total"], empty["before_at"], empty["after_at"]) == ([], 0, None, None)
    assert datetime.fromisoformat(empty["from_at"]).weekday() == 0
    with lab.units() as unit:
        load_archive(unit, ARCHIVE.read_bytes())
        at = unit.session.scalars(select(Run.start_at).order_by(Run.start_at)).all()
    assert at[0] is not None
    assert at[-1] is not None
    after = calendar(lab, from_=str((at[-1] + timedelta(days=1)).date()), days=1)
    assert (after["total"], moment(after["before_at"]), after["after_at"]) == (0, whole(at[-1]), None)
    before = calendar(lab, from_=str((at[0] - timedelta(days=9)).date()), days=7)
    assert (before["total"], before["before_at"], moment(before["after_at"])) == (0, None, whole(at[0]))


def test_runs_of_every_campaign_lie_where_they_began_or_are_due(lab: Lab) -> None:
    client, server = lab.join("client"), lab.join("server")
    lab.link(allowance_bytes=5_000_000_000, time_zone="Europe/Madrid")
    lab.link("idle")
    done = lab.launch(limits={"bytes": 90_000_000})
    ended = lab.drive(done, [client, server])
    planned = lab.launch(name="To come", timetable={"cycles": 4, "order": "interleaved"})
    found = calendar(lab, from_=str(lab.now().astimezone(UTC).date()), days=2)
    geo, idle = found["links"]
    assert (geo["link"], geo["allowance_bytes"], geo["time_zone"]) == ("geo", 5_000_000_000, "Europe/Madrid")
    assert len(geo["nights"]) in (2, 3)
    assert (idle["link"], idle["lanes"], idle["carried_bytes"]) == ("idle", [], 0)
    first, second = geo["lanes"]
    assert [first["campaign_id"], second["campaign_id"]] == [done, planned]
    assert (first["state"], second["state"], second["limit_bytes"], second["used_bytes"]) == (
        "complete",
        "running",
        None,
        None,
    )
    assert counted(found) == {"complete": 1, "missed": 1, "planned": 8}
    carried = sum(flow["app_bytes"] or 0 for run in ended for flow in lab.call("GET", f"/runs/{run['id']}")["flows"])
    assert (first["carried_bytes"], first["used_bytes"], first["limit_bytes"]) == (carried, carried, 90_000_000)
    assert geo["carried_bytes"] == carried > 0
    month = lab.call("GET", "/links")["items"][0]["month"]
    assert (geo["month"], month["used_bytes"], idle["month"]) == (month, carried, None)
    before = calendar(lab, from_=str((lab.now() - timedelta(days=60)).date()), days=1)["links"][0]
    assert (before["carried_bytes"], before["month"]) == (0, month)
    [complete] = [run for run in ended if run["state"] == "complete"]
    [cell] = [cell for cell in first["cells"] if "complete" in cell["counts"]]
    begins = datetime.fromisoformat(cell["at"])
    assert begins <= datetime.fromisoformat(complete["started_at"]) < begins + timedelta(seconds=found["cell_s"])


@pytest.mark.parametrize("query", ["from=1969-12-31", "from=3000-01-01", "from=soon", "days=0", "days=32"])
def test_days_that_no_calendar_has_are_refused(lab: Lab, query: str) -> None:
    assert lab.call("GET", f"/calendar?{query}", expect=422)["code"]


def test_thirty_thousand_runs_are_counted_by_the_database_over_an_index(lab: Lab) -> None:
    """The answer's size follows from the days alone, and so do the rows that are read: runs outside them cost nothing."""
    with lab.units() as unit:
        campaign, *_ = load_archive(unit, ARCHIVE.read_bytes())
        same = ", ".join(c.name for c in Run.__table__.columns if c.name not in ("id", "cycle", "start_at", "wake_at"))
        more = f"""INSERT INTO runs (id, cycle, start_at, {same})
            SELECT gen_random_uuid(), 1000 + n, :start + n * interval '10 minutes', {same}
            FROM (SELECT * FROM runs LIMIT 1) AS one, generate_series(0, 29999) AS n"""  # noqa: S608 - names of columns
        start = datetime(2031, 5, 5, tzinfo=UTC)
        unit.session.execute(text(more), {"start": start})
    with lab.units() as unit:
        unit.session.execute(text("ANALYZE runs"))
    found = calendar(lab, from_="2031-05-05")
    [lane] = [lane for link in found["links"] for lane in link["lanes"]]
    assert (lane["campaign_id"], lane["runs"], len(lane["cells"])) == (str(campaign), 7 * 144, 168)
    assert counted(found) == {"complete": 7 * 144}
    assert len(calendar(lab, from_="2031-05-05", days=31)["links"][0]["lanes"][0]["cells"]) == 186
    with lab.units() as unit:
        plan = "\n".join(
            unit.session.scalars(
                text(
                    "EXPLAIN SELECT count(*) FROM runs WHERE coalesce(start_at, due_at) >= :a AND coalesce(start_at, due_at) < :b"
                ),
                {"a": start, "b": start + timedelta(days=7)},
            )
        )
    assert "ix_runs_clock" in plan
