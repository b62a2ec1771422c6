from copy import deepcopy
from typing import Any

import pytest

from downlink.codec.campaign_reading import campaign_from_dict
from downlink.domain.campaigns.campaign import Campaign, Limits, Phases, Sampling, StopRule, Window
from downlink.domain.campaigns.flow_plan import FlowPlan, Probe, Tcp
from downlink.domain.campaigns.timetable import ConditionOrder, Timetable
from downlink.domain.errors import InvalidError
from downlink.domain.results.reproduction import Side

SMALL: dict[str, Any] = {
    "name": "Small",
    "links": ["geo"],
    "stop": {"seconds": 60},
    "timetable": {"cycles": 3},
    "conditions": [{"name": "on"}],
}


def changed(**changes: Any) -> dict[str, Any]:
    return {**deepcopy(SMALL), **changes}


def problems(data: Any) -> dict[str, str]:
    with pytest.raises(InvalidError) as caught:
        campaign_from_dict(data)
    assert caught.value.code == "campaign_invalid"
    return {each["place"]: each["message"] for each in caught.value.details["problems"]}


def test_what_is_left_out_has_its_documented_default() -> None:
    campaign = campaign_from_dict(SMALL)
    assert campaign.phases == Phases(15, 30)
    assert campaign.limits == Limits(attempts=2, bytes=None)
    assert campaign.timetable == Timetable(cycles=3, pause_s=0, order=ConditionOrder.INTERLEAVED, seed=1)
    (condition,) = campaign.conditions
    assert condition.flows == (FlowPlan(Tcp("cubic"), sender=1, start_s=0),)
    assert condition.stop == StopRule(seconds=60)


@pytest.mark.parametrize(
    ("stop", "named", "expected"),
    [
        ({"seconds": 1}, {}, Phases(0.5, 0.5)),
        ({"seconds": 4}, {}, Phases(1, 2)),
        ({"seconds": 35}, {}, Phases(8.75, 17.5)),
        ({"seconds": 60}, {}, Phases(15, 30)),
        ({"seconds": 120}, {}, Phases(15, 60)),
        ({"seconds": 60}, {"startup_s": 40}, Phases(40, 20)),
        ({"seconds": 60}, {"steady_s": 50}, Phases(10, 50)),
        ({"seconds": 60}, {"startup_s": 20, "steady_s": 50}, Phases(20, 50)),
        ({"bytes": 1_000_000}, {}, Phases(15, 60)),
    ],
)
def test_phases_that_the_file_does_not_name_fit_into_its_shortest_run(
    stop: dict[str, float], named: dict[str, float], expected: Phases
) -> None:
    campaign = campaign_from_dict(changed(stop=stop, phases=named))
    assert campaign.phases == expected
    assert campaign_from_dict(campaign.to_dict()).phases == expected


def test_defaults_are_merged_under_every_condition() -> None:
    data = changed(
        defaults={"sender": {"tcp_cubic.hystart": 1, "net.ipv4.tcp_sack": 1}},
        conditions=[{"name": "on"}, {"name": "off", "sender": {"tcp_cubic.hystart": 0}, "stop": {"bytes": 1e9}}],
    )
    on, off = campaign_from_dict(data).conditions
    assert on.sender == {"tcp_cubic.hystart": "1", "net.ipv4.tcp_sack": "1"}
    assert off.sender == {"tcp_cubic.hystart": "0", "net.ipv4.tcp_sack": "1"}
    assert off.stop == StopRule(bytes=1_000_000_000)


def test_a_condition_knows_whether_other_runs_on_its_hosts_would_feel_it() -> None:
    data = changed(
        conditions=[
            {"name": "module", "sender": {"tcp_cubic.hystart": 0}},
            {"name": "buffer", "receiver": {"net.ipv4.tcp_rmem": "4096 131072 60000000"}},
        ]
    )
    assert [condition.is_host_wide for condition in campaign_from_dict(data).conditions] == [True, False]


def test_a_campaign_survives_being_written_out() -> None:
    flows = [{"cc": "bbr", "sender": 2, "start_s": 5, "options": {"a": 1}, "pacing_rate_bps": 50_000_000}, {}]
    data = changed(conditions=[{"name": "two", "flows": flows, "stop": {"bytes": 5}}], limits={"bytes": 9})
    campaign = campaign_from_dict(data)
    assert campaign_from_dict(campaign.to_dict()) == campaign
    spaced = campaign_from_dict(changed(timetable={"duration_h": 24, "every_s": 405, "order": "shuffled", "seed": 7}))
    assert campaign_from_dict(spaced.to_dict()) == spaced


def test_a_probe_flow_survives_being_written_out() -> None:
    data = changed(
        conditions=[{"name": "probed", "flows": [{}, {"probe": {"every_ms": 50}, "sender": 2, "start_s": 1}]}]
    )
    campaign = campaign_from_dict(data)
    assert [flow.transport for flow in campaign.conditions[0].flows] == [Tcp(), Probe(50)]
    assert campaign_from_dict(campaign.to_dict()) == campaign
    assert campaign_from_dict(changed(conditions=[{"name": "a", "flows": [{"probe": {}}]}])).conditions[0].flows[
        0
    ].transport == Probe(100)


def test_every_problem_is_told_with_its_place() -> None:
    data = changed(
        colour="red",
        phases={"steady_s": "long"},
        conditions=[{"name": "a", "flows": [{"cc": "cubic; rm -rf"}], "sender": {"kernel.panic": 1}}, {"name": "a"}, 7],
    )
    found = problems(data)
    assert set(found) == {
        "colour",
        "phases.steady_s",
        "conditions[0].flows[0].cc",
        "conditions[0].sender.kernel.panic",
        "conditions[1].name",
        "conditions[2]",
    }
    assert "timetable" in found["colour"]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"name": True}, "name"),
        ({"links": []}, "links"),
        ({"links": "geo"}, "links"),
        ({"links": None}, "links"),
        ({"links": ["geo", "geo"]}, "links[1]"),
        ({"links": [" "]}, "links[0]"),
        ({"links": ["geo\0"]}, "links[0]"),
        ({"links": [7]}, "links[0]"),
        ({"stop": None}, "conditions[0].stop"),
        ({"stop": {}}, "stop"),
        ({"stop": {"seconds": 1, "bytes": 1}}, "stop"),
        ({"stop": {"seconds": 0}}, "stop.seconds"),
        ({"stop": {"seconds": float("nan")}}, "stop.seconds"),
        ({"stop": {"bytes": 1.5}}, "stop.bytes"),
        ({"stop": {"bytes": True}}, "stop.bytes"),
        ({"timetable": {}}, "timetable"),
        ({"timetable": {"cycles": 1, "every_s": 5}}, "timetable.every_s"),
        ({"timetable": {"duration_h": 1}}, "timetable"),
        ({"timetable": {"duration_h": 1, "every_s": 3601}}, "timetable.every_s"),
        ({"timetable": {"duration_h": 1, "every_s": 60, "pause_s": 1}}, "timetable.pause_s"),
        ({"timetable": {"cycles": 3, "order": "random"}}, "timetable.order"),
        ({"timetable": {"cycles": 10**9}}, "timetable.cycles"),
        ({"timetable": {"duration_h": 8000, "every_s": 1}}, "timetable"),
        ({"limits": {"attempts": 0}}, "limits.attempts"),
        ({"conditions": []}, "conditions"),
        ({"conditions": {}}, "conditions"),
        ({"conditions": [{}]}, "conditions[0].name"),
        ({"conditions": [{"name": "a", "flows": [{"sender": 0}]}]}, "conditions[0].flows[0].sender"),
        ({"conditions": [{"name": "a", "flows": [{"start_s": 60}]}]}, "conditions[0].flows[0].start_s"),
        ({"conditions": [{"name": "a", "flows": [{"options": {"x": []}}]}]}, "conditions[0].flows[0].options.x"),
        ({"conditions": [{"name": "a", "flows": [{"pacing_rate_bps": -1}]}]}, "conditions[0].flows[0].pacing_rate_bps"),
        (
            {"conditions": [{"name": "a", "flows": [{"probe": {"every_ms": 19}}]}]},
            "conditions[0].flows[0].probe.every_ms",
        ),
        ({"conditions": [{"name": "a", "flows": [{"probe": {}, "cc": "bbr"}]}]}, "conditions[0].flows[0].cc"),
        ({"conditions": [{"name": "a", "flows": [{"cc": "probe"}]}]}, "conditions[0].flows[0].cc"),
        ({"conditions": [{"name": "a", "flows": [{"probe": {}}, {"probe": {}}]}]}, "conditions[0].flows[1].probe"),
        (
            {"conditions": [{"name": "a", "stop": {"bytes": 9}, "flows": [{"probe": {}}]}]},
            "conditions[0].flows[0].probe",
        ),
        ({"defaults": {"flows": []}}, "defaults.flows"),
        ({"defaults": {"sender": {"tcp_cubic.hystart": True}}}, "defaults.sender.tcp_cubic.hystart"),
    ],
)
def test_a_wrong_value_is_refused_at_its_place(changes: dict[str, Any], place: str) -> None:
    assert place in problems(changed(**changes))


@pytest.mark.parametrize("data", [None, [], "name: x", {}])
def test_what_is_no_campaign_at_all_is_refused(data: Any) -> None:
    assert problems(data)


LEAD = {"name": "lead", "from_s": 15, "to_s": 45}


def test_a_campaign_names_further_phases_and_may_ask_about_them() -> None:
    campaign = campaign_from_dict(changed(windows=[LEAD], primary_metrics=["lead.rtt_ms"]))
    assert campaign.phases == Phases(15, 30, (Window("lead", 15, 45),))
    assert campaign_from_dict(campaign.to_dict()) == campaign
    assert Campaign.from_dict(campaign.to_dict()) == campaign
    older = {key: value for key, value in campaign.to_dict().items() if key != "windows"}
    assert Campaign.from_dict(older).phases == Phases(15, 30)


@pytest.mark.parametrize(
    ("windows", "place", "words"),
    [
        ([{**LEAD, "name": "steady"}], "windows[0].name", "every campaign has"),
        ([{**LEAD, "name": "Lead"}], "windows[0].name", "a text of the form"),
        ([LEAD, LEAD], "windows[1].name", "earlier window"),
        ([{**LEAD, "to_s": 15.4}], "windows[0].to_s", "0.5 s after from_s"),
        ([{**LEAD, "to_s": 60.5}], "windows[0].to_s", "60, the seconds of the shortest run"),
        ([{"name": "lead", "from_s": 1}], "windows[0].to_s", "is required"),
    ],
)
def test_a_window_that_no_run_can_have_is_refused(windows: list[dict[str, Any]], place: str, words: str) -> None:
    assert words in problems(changed(windows=windows))[place]


def test_a_metric_of_a_window_that_is_not_there_is_refused() -> None:
    assert "startup.rtt_ms, " in problems(changed(primary_metrics=["lead.rtt_ms"]))["primary_metrics[0]"]


A_SHARE = {"share": 0.8, "metric": "one_way_delay_ms", "object_mb": None}
REPRODUCED = {"name": "5 MB", "metric": "object_time_s", "object_mb": 5, "condition": "on", "published": 8}


def reproducing(**changes: Any) -> dict[str, Any]:
    value = {key: each for key, each in {**REPRODUCED, **changes}.items() if each is not None}
    return changed(windows=[LEAD], reproduces=[{"paper": "Peters 2021", "figure": "Figure 6", "values": [value]}])


def test_a_campaign_says_what_it_reproduces_and_keeps_it() -> None:
    other = {"flow": 1, "condition": None}
    for changes in (
        {},
        A_SHARE,
        {"over": other},
        {"minus": {}, "phase": "lead", "metric": "rtt_ms", "object_mb": None},
    ):
        campaign = campaign_from_dict(reproducing(**changes))
        assert campaign_from_dict(campaign.to_dict()) == campaign
        assert Campaign.from_dict(campaign.to_dict()) == campaign
    (figure,) = campaign_from_dict(reproducing(published=None, most=9, over={})).reproduces
    (value,) = figure.values
    assert (value.least, value.most, value.over) == (float("-inf"), 9, Side("on", 1))
    assert not value.is_number


@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"metric": "speed"}, ".metric", "must be one of throughput_bps, "),
        ({"published": None}, "", "needs published, or one or both of least and most"),
        ({"least": 3}, "", "and not both kinds"),
        ({"published": None, "least": 3, "most": 3}, ".most", "above least"),
        ({"object_mb": None}, ".object_mb", "is required with an object time"),
        ({"metric": "rtt_ms"}, ".object_mb", "goes with object times alone"),
        ({"over": {}, "minus": {}}, ".minus", "a ratio or a difference"),
        ({"condition": "of"}, ".condition", "one of the campaign's conditions, on, not 'of'"),
        ({"flow": 2}, ".flow", "at most 1, the flows of 'on'"),
        ({"over": {"condition": "of"}}, ".over.condition", "not 'of'"),
        ({"phase": "late"}, ".phase", "one of startup, steady, overall, lead, not 'late'"),
        ({"link": "leo"}, ".link", "one of the campaign's links, geo"),
        (
            {**A_SHARE, "metric": "rtt_ms"},
            ".share",
            "goes with one_way_delay_ms, in_order_delay_ms, jitter_ms, throughput_bps,",
        ),
        ({**A_SHARE, "phase": "steady"}, ".phase", "must be overall where share is given"),
        ({**A_SHARE, "over": {}}, ".share", "does not go with over and minus"),
        ({**A_SHARE, "share": 1.0}, ".share", "from 0.001 to 0.999"),
        ({**A_SHARE, "share": 80}, ".share", "from 0.001 to 0.999"),
    ],
)
def test_a_published_value_that_nothing_can_be_compared_to_is_refused(
    changes: dict[str, Any], place: str, words: str
) -> None:
    assert words in problems(reproducing(**changes))[f"reproduces[0].values[0]{place}"]


def test_values_of_a_figure_have_names_of_their_own() -> None:
    file = reproducing()
    file["reproduces"][0]["values"] *= 2
    assert "earlier value" in problems(file)["reproduces[0].values[1].name"]


def test_every_ack_is_recorded_where_the_campaign_asks_for_it() -> None:
    assert campaign_from_dict(SMALL).sampling is Sampling.POLLED
    campaign = campaign_from_dict(changed(sampling="per_ack"))
    assert campaign.sampling is Sampling.PER_ACK
    assert campaign_from_dict(campaign.to_dict()) == campaign
    assert "polled, per_ack" in problems(changed(sampling="sometimes"))["sampling"]


def test_what_a_campaign_asks_about_is_declared_or_start_up_and_steady_throughput() -> None:
    assert campaign_from_dict(SMALL).primary_metrics == ("startup.throughput_bps", "steady.throughput_bps")
    campaign = campaign_from_dict(changed(primary_metrics=["steady.rtt_ms", "time_to_steady_s"]))
    assert campaign.primary_metrics == ("steady.rtt_ms", "time_to_steady_s")
    campaign = campaign_from_dict(changed(primary_metrics=["overall.probe_rtt_p95_ms"]))
    assert campaign.primary_metrics == ("overall.probe_rtt_p95_ms",)
    assert campaign_from_dict(campaign.to_dict()) == campaign
    found = problems(changed(primary_metrics=["steady.rtt_ms", "rtt_ms", "steady.rtt_ms"]))
    assert "steady.rtt_ms, " in found["primary_metrics[1]"]
    assert "twice" in found["primary_metrics[2]"]
    assert "1 to 10" in problems(changed(primary_metrics=["steady.rtt_ms"] * 11))["primary_metrics"]
    assert "1 to 10" in problems(changed(primary_metrics=[]))["primary_metrics"]
