"""What an agent chooses to say, on every page that shows it, in Debian's browser: it is read as text, and nothing in it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from downlink.storage.unit import UnitFactory
from tests.fixtures.api_process import running_api
from tests.fixtures.browser import ACCOUNT, DASHBOARD, add_account, run_script
from tests.fixtures.lab import Lab
from tests.fixtures.scripted_agent import ScriptedAgent

pytestmark = pytest.mark.verify("stack")

KINDS = (
    '<img src=x onerror="alert(1)">',
    "</title><script>alert(1)</script>",
    "<svg onload=alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "javascript:alert(1)",
    "'\"><iframe srcdoc='<script>alert(1)</script>'>",
)
MARKED = 1000
"""Where the numbers of what is said begin: each text says in its first word of which message it is."""


class Texts:
    """A text for each thing that is said, of every kind in turn."""

    def __init__(self) -> None:
        self._count = 0

    def next(self) -> str:
        self._count += 1
        return f"{MARKED + self._count} {KINDS[self._count % len(KINDS)]}"


class HostileAgent(ScriptedAgent):
    """Takes part as it should, and says in every free text what would run where a page took it for markup."""

    texts: Texts
    difference: str | None = None
    fingerprint: dict[str, str]

    def event(self, kind: str, **content: Any) -> httpx.Response:
        if kind == "ready":
            content["settings_before"] = dict.fromkeys(content["settings_before"], self.texts.next())
            content["fingerprint"] |= self.fingerprint
        if kind == "restored" and self.difference:
            content |= {"settings_after": {"tcp_cubic.hystart": self.difference}, "differences": [self.difference]}
        return super().event(kind, **content)


def hostile_host(host: dict[str, Any], texts: Texts) -> dict[str, Any]:
    reason = texts.next()
    words = {name: texts.next() for name in ("boot_id", "hostname", "kernel", "os", "arch")}
    return host | words | {
        "congestion_controls": ["cubic", texts.next()],
        "controls_unavailable": {texts.next(): reason},
        "control_options": {texts.next(): {texts.next(): {"choices": [texts.next()], "min": 0, "max": 0}}},
        "settings": {"tcp_cubic.hystart": texts.next()},
        "settings_writable": [*host["settings_writable"], texts.next()],
        "interfaces": [{"name": texts.next(), texts.next(): texts.next()}],
    }  # fmt: skip


@pytest.fixture
def agents(lab: Lab) -> list[HostileAgent]:
    """The link's receiver, which logs it, and its sender."""
    texts, joined = Texts(), [lab.join("client"), lab.join("server")]
    for agent in joined:
        agent.__class__ = HostileAgent
        agent.texts = texts  # type: ignore[attr-defined]
        agent.fingerprint = {name: texts.next() for name in ("kernel", "agent", "qdisc", texts.next())}  # type: ignore[attr-defined]
        agent.host = hostile_host(agent.host, texts)
        agent.is_new = True
    found = [agent for agent in joined if isinstance(agent, HostileAgent)]
    client, server = found
    client.host["data_host"] = texts.next()  # a sender's must be an address
    client.logs_link = True
    client.finds_of_link = {
        "profile": texts.next(),
        "detail": texts.next(),
        "lost": [{"flow": 1, "way": "down", "cause": texts.next(), "packets": 30}],
    }
    server.finds = {name: texts.next() for name in ("asked_cc", "actual_cc", "local_address", "peer_address", "detail")}
    return found


UNIT = "<a onload=alert(1)>"
"""A unit has 20 characters at most."""


def observe(agent: HostileAgent, lab: Lab) -> None:
    """Two quantities whose source and unit it chooses."""
    source = agent.texts.next()
    values = [
        {"quantity": f"dish.strange_{number}", "unit": UNIT, "source": source, "at": lab.now().isoformat(), "value": number}
        for number in (1, 2)
    ]  # fmt: skip
    answer = agent._send("POST", "/observations", json={"link": None, "observations": values})
    assert answer.json() == {"stored": 2}


@pytest.fixture
def failed_and_complete(lab: Lab, agents: list[HostileAgent]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A run that failed for a reason of the agent's own, one that is complete, and a notification of what went wrong."""
    client, server = agents
    lab.link(is_emulated=True, profile="geo-viasat")
    with lab.units() as unit:
        add_account(unit)
    state = lab.app.state
    state.settings = state.settings.model_copy(update={"notify_allow": "127.0.0.0/8"})
    lab.call("POST", "/channels", {"name": "On call", "kind": "webhook", "target": "https://127.0.0.1:1/hooks/s3cret"})
    for agent in agents:
        agent.poll()
    server.fails_with = {"reason": "connect_failed", "detail": server.texts.next()}
    failed = lab.drive(lab.launch(name="failing", limits={"attempts": 1}), agents)[0]
    assert failed["state"] == "failed"
    server.fails_with = None
    complete = lab.drive(lab.launch(name="complete"), agents)[0]
    assert complete["state"] == "complete", complete
    client.says = {"status": "blocked", "reason": client.texts.next(), "detail": client.texts.next()}
    client.poll()
    return failed, complete


def text_of(run: dict[str, Any], place: str) -> str:
    return str(run[place])


@pytest.mark.timeout(600)
def test_text_that_an_agent_chooses_is_shown_and_never_runs(
    lab: Lab,
    units: UnitFactory,
    tmp_path: Path,
    agents: list[HostileAgent],
    failed_and_complete: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    client, server = agents
    failed, complete = failed_and_complete
    observe(client, lab)
    run, campaign = f"/runs/{complete['id']}", f"/campaigns/{complete['campaign_id']}"
    places = [
        ("/agents", client.host["kernel"]),
        ("/agents", client.says["detail"]),
        ("/links", None),
        (f"/runs/{failed['id']}", text_of(failed, "detail")),
        (f"/campaigns/{failed['campaign_id']}?tab=runs", text_of(failed, "detail")),
        (f"{run}?tab=link", client.finds_of_link["profile"]),
        (f"{run}?tab=settings", server.fingerprint["kernel"]),
        (f"/runs/{failed['id']}?tab=events", text_of(failed, "detail")),
        *((f"{run}?tab={tab}", None) for tab in ("charts", "exits", "limits", "hops", "events", "raw", "traces")),
        *((f"{campaign}?tab={tab}", None) for tab in ("results", "day", "exits", "runs", "plan", "downloads", "storage")),
        (f"{campaign}/report", None),
        ("/campaigns/new?start=hystart", None),
        *((path, None) for path in ("/campaigns", "/calendar", "/compare", "/people", "/notifications", "/tokens", "/storage")),
    ]  # fmt: skip
    with running_api(tmp_path, units, dashboard_dir=DASHBOARD) as api:
        account = ("--base-url", api.address, *ACCOUNT)
        said = run_script("stored.mjs", *account, "--places", json.dumps(places), timeout_s=560).splitlines()
    assert said == [path for path, _ in places]
