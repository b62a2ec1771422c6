"""Budgets hold during a transfer: real agents over an emulated link that is faster than its nominal rate."""

from __future__ import annotations

import io

import pyarrow.parquet as pq
import pytest
from sqlalchemy import create_engine, text

from downlink.stack.process import wait_until
from tests.system.conftest import PROFILE, System

pytestmark = pytest.mark.verify("stack")

SOURCE = """
name: Budget of {of}
links: [{link}]
stop: {{seconds: 6}}
phases: {{startup_s: 2, steady_s: 2}}
timetable: {{cycles: 2}}
limits: {{attempts: 3{limit}}}
conditions:
  - {{name: Two flows, flows: [{{cc: cubic}}, {{cc: reno}}]}}
"""
NOMINAL_BPS = 1_000_000
EXPECTED = NOMINAL_BPS // 8 * 6
LEFT = 4 * EXPECTED
BUFFER_BYTES = 256 << 10
"""What a flow writes at once."""
CARRIED = """
    SELECT runs.state, runs.reason, runs.budget, sum(carried_bytes), array_agg(sender_outcome ->> 'ended' ORDER BY flow)
    FROM runs JOIN run_flows ON run_flows.run_id = runs.id WHERE campaign_id = CAST(:campaign AS uuid)
    GROUP BY runs.id ORDER BY cycle
"""
ENDS = "SELECT sender_outcome, receiver_outcome, carried_bytes FROM run_flows WHERE run_id = CAST(:run AS uuid)"
USED = """
    SELECT coalesce(sum(carried_bytes), 0) FROM runs JOIN run_flows ON run_flows.run_id = runs.id WHERE link = :link
"""


@pytest.mark.parametrize(("of", "words"), [("campaign", "limits.bytes"), ("link", "allowance per month")])
def test_a_link_faster_than_its_nominal_rate_carries_no_byte_more_than_its_budget(
    system: System, of: str, words: str
) -> None:
    """The link carries many times what it is said to."""
    (link,) = (each for each in system.client.items("/links") if each["name"] == PROFILE)
    used = used_bytes(system)
    change = {"nominal_rate_bps": NOMINAL_BPS, "allowance_bytes": used + LEFT if of == "link" else None}
    system.client.patch(f"/links/{link['id']}", change)
    try:
        limit = f", bytes: {LEFT}" if of == "campaign" else ""
        campaign = system.launch(SOURCE.format(of=of, link=PROFILE, limit=limit))
        system.wait_complete(campaign)
        with create_engine(system.stack.env["DOWNLINK_DATABASE_URL"]).connect() as connection:
            first, second = connection.execute(text(CARRIED), {"campaign": campaign}).all()
        state, reason, budget, carried, ended = first
        assert (state, reason, budget) == ("failed", "over_budget", {"bytes": LEFT, "of": of})
        assert ended == ["over_budget", "over_budget"]
        # What the other flow was granted and had not written is given back.
        assert LEFT - BUFFER_BYTES <= carried <= LEFT
        assert (second.state, second.reason, second.budget) == ("missed", "over_budget", None)
        (failed,) = (run for run in system.runs(campaign) if run["state"] == "failed")
        assert words in failed["detail"]
        assert failed["attempt"] == 1
        assert used_bytes(system) == used + carried
        out = io.BytesIO()
        system.client.download(f"/runs/{failed['id']}/traces/1/sender.parquet", out)
        assert pq.read_table(io.BytesIO(out.getvalue())).num_rows > 0, "its samples are kept"
    finally:
        back = {"nominal_rate_bps": link["nominal_rate_bps"], "allowance_bytes": None}
        system.client.patch(f"/links/{link['id']}", back)


def test_a_run_that_a_person_cancels_counts_what_either_end_has_moved(system: System) -> None:
    """Which of them is stopped first is chance. The other sees that its connection ends."""
    used = used_bytes(system)
    campaign = system.launch(SOURCE.format(of="cancel", link=PROFILE, limit=""))
    run = system.wait_for_data(campaign)["id"]
    system.client.post(f"/campaigns/{campaign}/cancel")
    assert wait_until(lambda: system.client.get(f"/runs/{run}")["state"] == "cancelled", timeout_s=60, step_s=0.1)
    with create_engine(system.stack.env["DOWNLINK_DATABASE_URL"]).connect() as connection:
        flows = connection.execute(text(ENDS), {"run": run}).all()
    assert len(flows) == 2
    for sent, received, carried in flows:
        assert "aborted" in {sent["ended"], received["ended"]}
        assert carried == max(sent["app_bytes"], received["app_bytes"]) > 0
    assert used_bytes(system) == used + sum(carried for _, _, carried in flows)


def used_bytes(system: System) -> int:
    """What the runs of this link have carried, by what agents reported: other tests bring other links."""
    with create_engine(system.stack.env["DOWNLINK_DATABASE_URL"]).connect() as connection:
        return int(connection.execute(text(USED), {"link": PROFILE}).scalar_one())
