"""No resource is ever held by two runs when either wants it alone, however many ask at once."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, text

from downlink.domain.runs.turn import Claim
from downlink.storage.runs import leases
from downlink.storage.tables import Campaign, Run
from downlink.storage.unit import UnitFactory

NOW = datetime(2026, 1, 1, tzinfo=UTC)
claim_sets = st.dictionaries(st.sampled_from(["link:geo", "agent:a", "host:x", "host:y"]), st.booleans(), min_size=1)
DOUBLE_BOOKED = """
    SELECT a.resource FROM leases a JOIN leases b ON a.resource = b.resource AND a.run_id < b.run_id
    WHERE a.slots && b.slots OR upper_inf(a.slots) OR upper_inf(b.slots)
"""


def add_runs(units: UnitFactory, count: int) -> list[UUID]:
    with units() as unit:
        campaign = Campaign(
            name="c",
            notes="",
            state="running",
            source="",
            spec={},
            estimate={},
            created_at=NOW,
            report_wanted=0,
        )
        unit.session.add(campaign)
        unit.session.flush()
        runs = [
            Run(
                campaign_id=campaign.id, link="geo", condition="on", cycle=1, position=number, attempt=1, state="planned", state_at=NOW,
                due_at=NOW, stop={"seconds": 1}, deadline_s=1, expected_s=1, base_rtt_ms=1, nominal_rate_bps=1, is_host_wide=False, tries=0,
            )
            for number in range(count)
        ]  # fmt: skip
        unit.session.add_all(runs)
        unit.session.flush()
        return [run.id for run in runs]


def take(units: UnitFactory, run_id: UUID, claims: Iterable[Claim]) -> bool:
    with units() as unit:
        return leases.take(unit, {run_id: list(claims)})


@given(wanted=st.lists(claim_sets, min_size=2, max_size=8))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_concurrent_claims_are_never_double_booked(units: UnitFactory, wanted: list[dict[str, bool]]) -> None:
    with units() as unit:
        unit.session.execute(delete(Campaign))
    run_ids = add_runs(units, len(wanted))
    claims = [[Claim(resource, is_exclusive) for resource, is_exclusive in want.items()] for want in wanted]
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(take, [units] * len(wanted), run_ids, claims))
    with units() as unit:
        assert unit.session.execute(text(DOUBLE_BOOKED)).all() == []
        counted = unit.session.execute(text("SELECT run_id, count(*) FROM leases GROUP BY run_id")).all()
    held = {row[0]: row[1] for row in counted}
    asked = {run_id: len(claim) for run_id, claim in zip(run_ids, claims, strict=True)}
    assert any(taken)
    # All of what a run asked for, or nothing.
    assert held == {run_id: asked[run_id] for run_id, is_taken in zip(run_ids, taken, strict=True) if is_taken}


def test_shared_hosts_are_shared_and_exclusive_ones_are_not(units: UnitFactory) -> None:
    first, second, third = add_runs(units, 3)
    assert take(units, first, [Claim("host:x", is_exclusive=False)])
    assert take(units, second, [Claim("host:x", is_exclusive=False)])
    assert not take(units, third, [Claim("link:geo", is_exclusive=True), Claim("host:x", is_exclusive=True)])
    with units() as unit:
        assert leases.held_resources(unit) == {"host:x": False}  # nothing is left of the refused one
        leases.release(unit, first)
        leases.release(unit, second)
    assert take(units, third, [Claim("host:x", is_exclusive=True)])
