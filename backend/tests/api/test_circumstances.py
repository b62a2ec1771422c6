"""What a reader must know of how a campaign was measured."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import select, update

from downlink.actions.campaigns.archive_read import load_archive
from downlink.domain.runs.outcome import FlowOutcome
from downlink.storage.tables import Run, RunFlow, RunHost
from tests.fixtures.lab import Lab
from tests.fixtures.recorded import ARCHIVE

DRAFT = "name: d\nlinks: [geo]\nstop: {seconds: 5}\ntimetable: {cycles: 1}\nconditions: [{name: a}]\n"


def load(lab: Lab) -> UUID:
    with lab.units() as unit:
        return load_archive(unit, ARCHIVE.read_bytes())[0]


def test_links_kernels_and_controls_are_those_of_the_runs(lab: Lab) -> None:
    campaign = load(lab)
    found = lab.call("GET", f"/campaigns/{campaign}/circumstances")
    [link] = lab.call("GET", f"/campaigns/{campaign}/links")["items"]
    [run, *_] = lab.runs(campaign)
    with lab.units() as unit:
        row = unit.session.get_one(Run, UUID(run["id"]))
        planned = (row.link, row.nominal_rate_bps, row.base_rtt_ms, row.is_emulated)
    assert (link["name"], link["nominal_rate_bps"], link["base_rtt_ms"], link["is_emulated"]) == planned
    assert link["nominal_rate_bps"] > 1_000_000
    assert link["orbit"] is None, "an archive's link need not be registered here"
    assert {tuple(each["roles"]): each["runs"] for each in found["kernels"]} == {("receiver",): 6, ("sender",): 6}
    assert [(each["asked_cc"], each["actual_cc"], each["flows"]) for each in found["flows"]] == [("cubic", "cubic", 6)]
    assert (found["unset"], found["not_restored"]) == ([], 0)
    assert "demo-sender" not in str(found)


def test_what_was_asked_for_and_not_in_force_is_counted_by_role(lab: Lab) -> None:
    campaign = load(lab)
    with lab.units() as unit:
        own = [UUID(run["id"]) for run in lab.runs(campaign)][:2]
        hosts = unit.session.scalars(select(RunHost).where(RunHost.run_id.in_(own))).all()
        for host in hosts:
            if host.roles == ["sender"]:
                host.settings_during = {**(host.settings_during or {}), "net.ipv4.tcp_wmem": "4096 16384 4194304"}
            else:  # the same numbers with tabs, as a kernel prints them
                host.settings_during = {**(host.settings_during or {}), "net.ipv4.tcp_rmem": "4096\t131072\t60000000"}
                host.is_restored = False
        outcome = FlowOutcome(actual_cc="reno", sampling="polled")
        unit.session.execute(update(RunFlow).where(RunFlow.run_id == own[0]).values(sender_outcome=outcome))
    found = lab.call("GET", f"/campaigns/{campaign}/circumstances")
    refused = {
        **{"roles": ["sender"], "name": "net.ipv4.tcp_wmem", "runs": 2},
        **{"asked": "4096 16384 60000000", "found": "4096 16384 4194304"},
    }
    assert found["unset"] == [refused]
    assert found["not_restored"] == 2
    assert {(each["actual_cc"], each["flows"]) for each in found["flows"]} == {("cubic", 5), ("reno", 1)}


def test_a_draft_has_its_registered_links_alone(lab: Lab) -> None:
    for name in ("client", "server"):
        lab.join(name)
    lab.link()
    draft = lab.call("POST", "/campaigns", {"source": DRAFT})["id"]
    links = lab.call("GET", f"/campaigns/{draft}/links")
    assert [(each["name"], each["orbit"]) for each in links["items"]] == [("geo", "GEO")]
    found = lab.call("GET", f"/campaigns/{draft}/circumstances")
    assert (found["kernels"], found["flows"]) == ([], [])
