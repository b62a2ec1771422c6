"""A campaign file says which links it needs; what is missing is one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from downlink.codec.campaign_file import parse_campaign
from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.campaign import Campaign
from downlink.domain.errors import InvalidError
from downlink.stack.emulated import hosts_of, relays_of
from downlink.stack.needs import LinkNeed, link_needs, merge_needs, profile_name, refuse_unused
from downlink.stack.rig import Host

KNOWN = ("geo-viasat", "leo-starlink", "terrestrial")
NOWHERE = Path("/nowhere")
ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "docs" / "examples"
FILES = [*sorted(EXAMPLES.glob("*.yaml")), *sorted((EXAMPLES / "studies").glob("*.yaml"))]
SHIPPED = [path.stem for path in (ROOT / "agents" / "internal" / "lab" / "emulate" / "profiles").glob("*.yaml")]


def make_campaign(*links: str, senders: tuple[int, ...] = (1,)) -> Campaign:
    flows = [{"sender": number} for number in senders]
    data: dict[str, Any] = {"name": "x", "links": list(links), "stop": {"seconds": 5}, "timetable": {"cycles": 1}}
    return campaign_from_dict({**data, "conditions": [{"name": "c", "flows": flows}]})


def test_the_pairs_of_paper_001_need_two_senders() -> None:
    campaign = parse_campaign((EXAMPLES / "paper-001-pairs.yaml").read_text())
    assert link_needs(campaign, [], KNOWN, EXAMPLES) == [LinkNeed("geo-viasat", "geo-viasat", 2)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_example_works_by_itself_or_says_what_it_lacks(path: Path) -> None:
    campaign = parse_campaign(path.read_text())
    known = {*SHIPPED, *(profile.stem for profile in (EXAMPLES / "profiles").glob("*.yaml"))}
    missing = [link for link in campaign.links if profile_name(link) not in known]
    if missing:
        with pytest.raises(
            InvalidError, match=f"{missing[0]} is none of the profiles .*--profile FOLDER/{missing[0]}.yaml"
        ):
            link_needs(campaign, [], SHIPPED, EXAMPLES)
    else:
        assert [need.name for need in link_needs(campaign, [], SHIPPED, EXAMPLES)] == list(campaign.links)


def test_tcp_that_ends_at_relays_needs_routers_that_are_hosts() -> None:
    for transport, has_router_hosts in (("tcp", False), ("intcp", False), ("split", True)):
        data = make_campaign("hops").to_dict()
        data["conditions"] = [{"name": "c", "stop": {"seconds": 5}, "flows": [{"transport": transport}]}]
        (need,) = link_needs(campaign_from_dict(data), [], {"hops"}, NOWHERE)
        assert need.has_router_hosts == has_router_hosts


def test_relays_are_the_routers_from_the_senders_on_or_one_agent_for_all() -> None:
    ends = ("receiver", "sender-1")
    assert relays_of("hops", ends) == []
    assert relays_of("hops", (*ends, "relays")) == [Host("relays", "hops-relays", "relay")]
    found = relays_of("hops", (*ends, "router-10", "router-2", "router-1"))
    assert [host.agent for host in found] == ["hops-router-1", "hops-router-2", "hops-router-10"]


def test_each_link_of_the_campaign_is_built_by_the_profile_of_its_name() -> None:
    found = link_needs(make_campaign("leo-starlink", "geo-viasat", "geo-viasat.2"), [], KNOWN, NOWHERE)
    assert [(need.name, need.profile) for need in found] == [
        ("leo-starlink", "leo-starlink"), ("geo-viasat", "geo-viasat"), ("geo-viasat.2", "geo-viasat"),
    ]  # fmt: skip


@pytest.mark.parametrize(("asked", "least", "built"), [((1, 3), 1, 3), ((1,), 4, 4), ((2,), 1, 2)])
def test_as_many_senders_as_the_campaign_or_the_user_asks_for(asked: tuple[int, ...], least: int, built: int) -> None:
    assert link_needs(make_campaign("terrestrial", senders=asked), [], KNOWN, NOWHERE, least)[0].senders == built


def test_a_profile_of_ones_own_is_for_the_link_of_its_name() -> None:
    found = link_needs(make_campaign("mine", "mine.2"), ["folder/mine.yaml"], KNOWN, NOWHERE)
    assert {need.profile for need in found} == {"folder/mine.yaml"}


def test_a_profile_may_lie_beside_the_campaign_file(tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "mine.yaml").write_text("name: mine")
    found = link_needs(make_campaign("mine"), [], KNOWN, tmp_path)
    assert found[0].profile == str(tmp_path / "profiles" / "mine.yaml")


def test_a_link_without_a_profile_is_named_with_what_to_type() -> None:
    with pytest.raises(InvalidError, match=r"link dish is none of the profiles .*--profile FOLDER/dish.yaml"):
        link_needs(make_campaign("dish"), [], KNOWN, NOWHERE)


def test_a_profile_that_no_link_uses_is_refused() -> None:
    with pytest.raises(InvalidError, match="names the links terrestrial, so the profile mine is of no use"):
        refuse_unused(["mine.yaml"], ["terrestrial"])
    refuse_unused(["folder/mine.yaml"], ["terrestrial", "mine.2"])


def test_links_of_several_campaigns_are_built_once_with_the_most_senders() -> None:
    one, two = LinkNeed("geo-viasat", "geo-viasat", 1), LinkNeed("geo-viasat", "geo-viasat", 2)
    other = LinkNeed("terrestrial", "terrestrial", 1)
    assert merge_needs([[two, other], [one]]) == [two, other]


def test_one_link_is_not_built_by_two_profiles() -> None:
    needs = [[LinkNeed("mine", f"{folder}/mine.yaml", 1)] for folder in ("a", "b")]
    with pytest.raises(InvalidError, match=r"the link mine by two profiles, a/mine.yaml and b/mine.yaml"):
        merge_needs(needs)


def test_the_demos_own_campaigns_need_a_link_each() -> None:
    files = [EXAMPLES / name for name in ("demo-hystart.yaml", "intcp-taste.yaml")]
    wanted = [link_needs(parse_campaign(file.read_text()), [], SHIPPED, EXAMPLES) for file in files]
    assert [need.name for need in merge_needs(wanted)] == ["geo-viasat", "intcp-switch-4s"]


def test_a_link_keeps_its_agents_whatever_other_links_there_are() -> None:
    """What they have not uploaded yet goes on under the same name, and no record names an agent of another link."""
    assert [host.agent for host in hosts_of("geo", 2)] == ["geo-receiver", "geo-sender", "geo-sender-2"]
    assert [host.agent for host in hosts_of("geo.2", 1)] == ["geo.2-receiver", "geo.2-sender"]
    assert [host.place for host in hosts_of("geo", 2)] == ["receiver", "sender-1", "sender-2"]
