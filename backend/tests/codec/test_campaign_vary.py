"""`vary`, transports and offers of a campaign file."""

from __future__ import annotations

from typing import Any

import pytest

from downlink.codec.campaign_reading import campaign_from_dict, find_campaign
from downlink.domain.campaigns.campaign import Campaign, Varied
from downlink.domain.campaigns.flow_plan import Intcp, Offer, Split

FLOWS: list[dict[str, Any]] = [
    {"cc": "reno", "offer": {"message_bytes": 16, "every_ms": 5}},
    {"transport": "split", "cc": "cubic", "relay_cc": "dl_hybla"},
    {"transport": "intcp", "options": {"cache": "off"}},
]


def file(**changes: Any) -> dict[str, Any]:
    conditions = [{"name": f"c{number}", "flows": [flow]} for number, flow in enumerate(FLOWS, 1)]
    made = {"name": "x", "links": ["a"], "stop": {"seconds": 20}, "timetable": {"cycles": 2}, "conditions": conditions}
    return {**made, **changes}


def problem(**changes: Any) -> tuple[str, str]:
    found = find_campaign(file(**changes))
    assert not isinstance(found, Campaign)
    return found[0].place, found[0].message


def test_transports_and_offers_are_read_and_written_back() -> None:
    campaign = campaign_from_dict(file())
    flows = [condition.flows[0] for condition in campaign.conditions]
    assert [flow.transport for flow in flows[1:]] == [Split("cubic", {}, None, "dl_hybla"), Intcp(cache="off")]
    assert [flow.passes_relays for flow in flows] == [False, True, True]
    assert flows[0].offer == Offer(16, 5)
    assert campaign_from_dict(campaign.to_dict()) == campaign == Campaign.from_dict(campaign.to_dict())


def test_tcp_needs_no_word_and_is_written_without_one() -> None:
    campaign = campaign_from_dict(file(conditions=[{"name": "a", "flows": [{"transport": "tcp"}]}]))
    assert set(campaign.to_dict()["conditions"][0]["flows"][0]) == {
        "sender",
        "start_s",
        "cc",
        "options",
        "pacing_rate_bps",
    }
    assert "vary" not in campaign.to_dict()


def test_a_key_that_is_varied_makes_a_condition_of_each_value() -> None:
    campaign = campaign_from_dict(file(vary={"buffer_bytes": [150_000, 300_000]}))
    assert [each.name for each in campaign.conditions] == [
        "c1",
        "c2",
        "c3, buffer_bytes 150000",
        "c3, buffer_bytes 300000",
    ]
    assert [each.varied for each in campaign.conditions[1:]] == [
        None, Varied("buffer_bytes", 150_000, "c3"), Varied("buffer_bytes", 300_000, "c3"),
    ]  # fmt: skip
    assert campaign.conditions[3].flows[0].transport == Intcp(cache="off", buffer_bytes=300_000)
    assert campaign_from_dict(campaign.to_dict()) == campaign


@pytest.mark.parametrize(
    ("vary", "found"),
    [
        ({"every_ms": [5, 10]}, [5, 10, 5, 5]),
        ({"seconds": [20, 30]}, [5] * 6),
        ({"sender.route.initcwnd": [10, 32]}, [5] * 6),
    ],
)
def test_what_can_be_varied_of_flows_conditions_and_hosts(vary: dict[str, Any], found: list[int]) -> None:
    flows = [{"cc": "reno", "offer": {"message_bytes": 16, "every_ms": 5}}] * 3
    conditions = [{"name": f"c{number}", "flows": [flow]} for number, flow in enumerate(flows, 1)]
    conditions[1:] = [{**each, "flows": [{**flows[0]}]} for each in conditions[1:]]
    campaign = campaign_from_dict(file(vary=vary, conditions=conditions))
    offers = [condition.flows[0].offer for condition in campaign.conditions]
    assert len(offers) == 6
    assert {offer.every_ms for offer in offers if offer} == set(found)


def test_links_may_differ_in_what_a_figure_has_as_x() -> None:
    campaign = campaign_from_dict(file(links=["a", "b"], vary={"gsl_rtt_ms": {"a": 20, "b": 50}}))
    assert campaign.varied_links == (("gsl_rtt_ms", "a", 20), ("gsl_rtt_ms", "b", 50))
    assert len(campaign.conditions) == 3
    assert campaign_from_dict(campaign.to_dict()) == campaign == Campaign.from_dict(campaign.to_dict())


@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        (
            {"vary": {"buffer_bytes": [1, 2]}},
            "vary.buffer_bytes",
            "buffer_bytes must be 0 or a whole number from 1500",
        ),
        ({"vary": {"rtt": [1, 2]}}, "vary", "rtt cannot be varied. These can: receivers, transport, cc"),
        ({"vary": {"buffer_bytes": [150_000, 150_000]}}, "vary", "twice"),
        ({"vary": {"gsl": {"b": 1}}}, "vary.gsl", "lacks a value for a"),
        ({"vary": {"relay_cc": ["cubic", "a b"]}}, "vary.relay_cc", "text of the form"),
    ],
)
def test_a_wrong_vary_is_refused_where_it_is_written(changes: dict[str, Any], place: str, words: str) -> None:
    assert problem(**changes)[0] == place
    assert words in problem(**changes)[1]


@pytest.mark.parametrize(
    ("flow", "key", "words"),
    [
        ({"transport": "intcp", "cc": "cubic"}, "cc", "rate law"),
        ({"cc": "intcp"}, "cc", "write transport: intcp"),
        ({"relay_cc": "cubic"}, "relay_cc", "transport: split alone"),
        ({"transport": "intcp", "options": {"cach": "on"}}, "options.cach", "no option 'cach'; it has buffer_bytes"),
        (
            {"transport": "intcp", "options": {"hole_packets": True}},
            "options.hole_packets",
            "whole number from 1 to 16",
        ),
        (
            {"transport": "intcp", "options": {"window_bytes": 67_108_865}},
            "options.window_bytes",
            "from 1400 to 67108864",
        ),
        ({"probe": {"every_ms": 100}, "offer": {"message_bytes": 1, "every_ms": 1}}, "offer", "carries no data"),
        ({"transport": "quic"}, "transport", "tcp, split, intcp"),
    ],
)
def test_what_does_not_go_together_is_refused(flow: dict[str, Any], key: str, words: str) -> None:
    place, message = problem(conditions=[{"name": "a", "flows": [flow]}])
    assert place == f"conditions[0].flows[0].{key}"
    assert words in message


def test_settings_of_relays_go_to_conditions_whose_tcp_ends_there() -> None:
    buffer = {"net.ipv4.tcp_rmem": "4096 131072 64000000"}
    written = [
        {"name": "tcp"},
        {"name": "intcp", "flows": [{"transport": "intcp"}]},
        {"name": "split", "flows": [{"transport": "split"}], "relay": {"net.ipv4.tcp_wmem": "4096 16384 64000000"}},
    ]
    campaign = campaign_from_dict(file(conditions=written, defaults={"relay": buffer}))
    assert [dict(each.relay) for each in campaign.conditions] == [{}, {}, {**buffer, **written[2]["relay"]}]
    assert campaign_from_dict(campaign.to_dict()) == campaign == Campaign.from_dict(campaign.to_dict())
    place, message = problem(conditions=[{"name": "a", "relay": buffer}])
    assert place == "conditions[0].relay"
    assert "transport: split" in message


def test_intcp_flows_of_a_condition_have_one_sender_and_one_set_of_options() -> None:
    two = [{"transport": "intcp"}, {"transport": "intcp", "sender": 2, "options": {"cache": "off"}}]
    found = find_campaign(file(conditions=[{"name": "a", "flows": two}]))
    assert isinstance(found, list)
    assert [("one sender" in each.message, "share" in each.message) for each in found] == [(True, False), (False, True)]


def test_receivers_are_varied_into_as_many_flows_of_one_content() -> None:
    campaign = campaign_from_dict(file(vary={"receivers": [1, 3]}))
    flows = [[(flow.receiver, flow.content) for flow in each.flows] for each in campaign.conditions]
    tcp, intcp = [[(1, None)], [(1, None), (2, None), (3, None)]], [[(1, 1)], [(1, 1), (2, 1), (3, 1)]]
    assert flows == [*tcp, *tcp, *intcp]
    assert campaign.conditions[-1].receivers == (1, 2, 3)
    assert campaign.conditions[-1].varied == Varied("receivers", 3, "c3")
    assert campaign_from_dict(campaign.to_dict()) == campaign == Campaign.from_dict(campaign.to_dict())


def test_more_receivers_than_a_link_can_have_are_refused() -> None:
    place, message = problem(vary={"receivers": [1, 99]})
    assert place == "conditions[0].flows[0].receiver"
    assert "1 to 15" in message


@pytest.mark.parametrize(
    ("flows", "found"),
    [
        ([{"receiver": 2}], "has no flow to receiver 1"),
        ([{"content": 1}], "goes with transport: intcp alone"),
        ([{"probe": {"every_ms": 100}, "content": 1}], "does not go with probe"),
        ([{"transport": "intcp", "content": 1}] * 2, "is the second flow to receiver 1 with this content"),
        (
            [
                {"transport": "intcp", "content": 1},
                {"transport": "intcp", "content": 1, "receiver": 2, "offer": {"message_bytes": 16, "every_ms": 5}},
            ],
            "differs from that of another flow",
        ),
    ],
)
def test_receivers_and_contents_that_cannot_be_are_refused(flows: list[dict[str, Any]], found: str) -> None:
    assert found in problem(conditions=[{"name": "a", "flows": flows}])[1]
