"""Spans of the real processes, as a collector of OpenTelemetry receives them; and nothing at all without one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from downlink.stack.process import wait_until
from tests.fixtures.lab import Lab
from tests.fixtures.receivers import WebReceiver
from tests.jobs.test_notifying import channel_to
from tests.jobs.test_processes import START_S, Processes, processes

pytestmark = pytest.mark.timeout(240)
__all__ = ["processes"]
SECRET = "a-secret-in-a-query"


@dataclass(frozen=True)
class Seen:
    """A span as a collector has it."""

    service: str
    name: str
    trace: bytes
    parent: bytes
    id: bytes


def spans_in(receiver: WebReceiver) -> Iterator[Seen]:
    for got in list(receiver.got):
        request = ExportTraceServiceRequest.FromString(got.body)
        for resource in request.resource_spans:
            service = next(
                each.value.string_value for each in resource.resource.attributes if each.key == "service.name"
            )
            for scope in resource.scope_spans:
                for span in scope.spans:
                    yield Seen(service, span.name, span.trace_id, span.parent_span_id, span.span_id)


@pytest.mark.verify("faults")
def test_requests_jobs_and_queries_are_followed_from_process_to_process(
    lab: Lab, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWNLINK_NOTIFY_ALLOW", "127.0.0.0/8")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
    lab.join("client")
    lab.join("server")
    lab.link()
    with WebReceiver() as told, WebReceiver() as collector:
        monkeypatch.setenv("DOWNLINK_OTLP_URL", collector.url())
        channel_to(lab, told.url())
        lab.call("POST", f"/campaigns/{lab.launch()}/cancel")
        processes.start("api", "conductor", "worker")
        assert wait_until(lambda: bool(told.got), START_S), processes.log("worker")
        assert processes.become_ready()
        url = f"http://127.0.0.1:{processes.port}/api/v1/campaigns?search={SECRET}"
        assert httpx.get(url, headers={"Authorization": f"Bearer {lab.token}"}).status_code == 200

        def is_complete() -> bool:
            names = {(span.service, span.name) for span in spans_in(collector)}
            return any(service == "downlink-api" and "campaigns" in name for service, name in names) and any(
                service == "downlink-worker" for service, _ in names
            )

        assert wait_until(is_complete, 30), sorted({(span.service, span.name) for span in spans_in(collector)})
        spans = list(spans_in(collector))
        bodies = b"".join(got.body for got in collector.got)
    assert {span.service for span in spans} == {"downlink-api", "downlink-conductor", "downlink-worker"}
    by_id = {span.id: span for span in spans}
    parents = {
        (span.service, by_id[span.parent].service, by_id[span.parent].name) for span in spans if span.parent in by_id
    }
    assert ("downlink-conductor", "downlink-conductor", "tick") in parents, "a pass has its queries"
    assert any(own == "downlink-worker" and other == "downlink-conductor" for own, other, _ in parents), (
        "a job has its order"
    )
    assert any(own == other == "downlink-api" and "campaigns" in name for own, other, name in parents)
    for secret in (SECRET, lab.token, f"127.0.0.1:{processes.port}", told.url()):
        assert secret.encode() not in bodies


def test_without_a_collector_no_part_of_it_is_loaded() -> None:
    """The queue's library loads the names alone, wherever it finds them."""
    rooms = "downlink.api.server, downlink.jobs.worker, downlink.jobs.conduct, downlink.process.spans"
    parts = ("opentelemetry.exporter", "opentelemetry.instrumentation", "opentelemetry.sdk.trace")
    program = f"import sys, {rooms}; print([name for name in sys.modules if name.startswith({parts})])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
