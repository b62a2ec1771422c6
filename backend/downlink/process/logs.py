"""Structured logs: one JSON object a line on standard error, the libraries' lines included."""

from __future__ import annotations

import logging
import sys

import structlog

from downlink.process.settings import Settings

# httpx names every address that it calls, and the path of an incoming webhook is a secret.
QUIET = ("uvicorn.access", "celery.worker.strategy", "celery.app.trace", "alembic", "httpx", "httpcore")


def configure_logs(settings: Settings) -> None:
    """Set up structlog and let the standard library's loggers speak through it. Called once by each process."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    last = structlog.processors.JSONRenderer() if settings.log_format == "json" else structlog.dev.ConsoleRenderer()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last]
        )
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
