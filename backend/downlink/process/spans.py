"""Spans: how long each request, job and query took, for a collector of OpenTelemetry. None are made unless DOWNLINK_OTLP_URL is set.

The libraries are loaded only then. What a span says is chosen here: no query of a URL, no header, no address, no value of a query's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from downlink.process.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

ASGIApp = Callable[[MutableMapping[str, Any], Any, Any], Awaitable[None]]
SAID = ("celery.", "db.", "fastapi.", "http.method", "http.route", "http.status_code", "http.target", "messaging.")
"""Beginnings of the attributes that are sent: what libraries add of their own accord stays here."""
_NAME = "downlink"


def start_spans(settings: Settings, part: str) -> None:
    """Let this process, a part of the server, send spans. To be called before the rooms that it works with are loaded."""
    if not settings.otlp_url:
        return
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.instrumentation.celery import CeleryInstrumentor
    from opentelemetry.instrumentation.sqlalchemy import SQLAlchemyInstrumentor
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    about = {"service.name": f"downlink-{part}", "service.version": version("downlink")}
    provider = TracerProvider(resource=Resource.create(about))
    provider.add_span_processor(BatchSpanProcessor(_discreet(OTLPSpanExporter(endpoint=settings.otlp_url))))
    trace.set_tracer_provider(provider)
    SQLAlchemyInstrumentor().instrument(skip_dep_check=True)  # it does not name 2.1 yet; the test shows that it works
    CeleryInstrumentor().instrument()  # type: ignore[no-untyped-call]


def with_spans(app: ASGIApp, settings: Settings) -> ASGIApp:
    """The application, with a span for each request."""
    if not settings.otlp_url:
        return app
    from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware

    return OpenTelemetryMiddleware(app, exclude_spans=["receive", "send"])


def span(name: str, settings: Settings) -> AbstractContextManager[object]:
    """A span around a block, under which the queries in it lie."""
    if not settings.otlp_url:
        return nullcontext()
    from opentelemetry import trace

    return trace.get_tracer(_NAME).start_as_current_span(name)


def _discreet(exporter: SpanExporter) -> SpanExporter:
    """An exporter that sends of each span what is chosen."""
    from opentelemetry.sdk.trace.export import SpanExporter

    class Discreet(SpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            return exporter.export([_chosen(each) for each in spans])

        def shutdown(self) -> None:
            exporter.shutdown()

    return Discreet()


def _chosen(whole: ReadableSpan) -> ReadableSpan:
    """Name, times, place in its trace, and the attributes that are sent. What went wrong in words is in the log."""
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Status

    return ReadableSpan(
        name=whole.name,
        context=whole.context,
        parent=whole.parent,
        resource=whole.resource,
        attributes={name: value for name, value in (whole.attributes or {}).items() if name.startswith(SAID)},
        kind=whole.kind,
        instrumentation_scope=whole.instrumentation_scope,
        status=Status(whole.status.status_code),
        start_time=whole.start_time,
        end_time=whole.end_time,
    )
