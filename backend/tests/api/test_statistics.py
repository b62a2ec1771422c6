"""Statistics over the runs of scripted agents."""

from __future__ import annotations

from downlink.api.schemas.statistics import CampaignStatistics
from tests.fixtures.lab import Lab


def test_statistics_pair_the_conditions_of_a_campaign(lab: Lab) -> None:
    client, server = lab.join("client"), lab.join("server")
    lab.link()
    campaign = lab.launch(timetable={"cycles": 2})
    assert lab.call("GET", f"/campaigns/{campaign}/statistics")["comparisons"] == []
    lab.drive(campaign, [client, server])
    shown = lab.call("GET", f"/campaigns/{campaign}/statistics")
    assert CampaignStatistics.model_validate(shown)
    rtt = next(each for each in shown["comparisons"] if (each["phase"], each["metric"]) == ("steady", "rtt_ms"))
    assert (rtt["link"], rtt["condition"], rtt["baseline"]) == ("geo", "off", "on")
    assert rtt["difference"] == {"mean": 0, "low": 0, "high": 0, "n": 2, "sd": 0}
    assert (rtt["detectable_difference"], rtt["cycles_needed"]) == (0, None)
    assert shown["outliers"] == []
