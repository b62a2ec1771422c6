"""For those who watch the service: alive, ready, figures."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from redis import Redis, RedisError

from downlink.api.deps import Config, Units
from downlink.api.problems import problem
from downlink.domain.errors import NotFoundError
from downlink.storage.unit import is_reachable

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def alive() -> dict[str, str]:
    """The process answers."""
    return {"status": "alive"}


@router.get("/readyz")
def ready(units: Units, settings: Config) -> Response:
    """Database and queue answer as well; 503 names the one that does not."""
    away = [
        name
        for name, is_there in (("database", is_reachable(units)), ("queue", _is_queue_there(settings)))
        if not is_there
    ]
    if away:
        return problem(503, "not_ready", f"No answer from: {', '.join(away)}.", {"away": away})
    return Response('{"status":"ready"}', media_type="application/json")


@router.get("/metrics")
def figures(request: Request, settings: Config) -> Response:
    """Prometheus figures, where the settings allow it."""
    if not settings.is_metrics_served:
        raise NotFoundError("not_found", "There is nothing at this address.")
    return Response(generate_latest(request.app.state.figures.registry), media_type=CONTENT_TYPE_LATEST)


def _is_queue_there(settings: Config) -> bool:
    try:
        with Redis.from_url(settings.redis_url.get_secret_value(), socket_timeout=2, socket_connect_timeout=2) as redis:
            return bool(redis.ping())
    except RedisError:
        return False
