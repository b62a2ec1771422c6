"""The session cookie and the same-origin rule for requests that it vouches for."""

from __future__ import annotations

from uuid import UUID

from fastapi import Request, Response

from downlink.domain.errors import DeniedError
from downlink.process.settings import Settings

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def cookie_name(settings: Settings) -> str:
    """`__Host-` binds the cookie to host, path / and https (RFC 6265bis 4.1.3.2); plain http cannot carry it."""
    return "__Host-downlink" if settings.is_https else "downlink"


def set_session(response: Response, settings: Settings, secret: str) -> None:
    response.set_cookie(
        cookie_name(settings),
        secret,
        max_age=settings.session_hours * 3600,
        path="/",
        secure=settings.is_https,
        httponly=True,
        samesite="strict",
    )


def clear_session(response: Response, settings: Settings) -> None:
    response.delete_cookie(cookie_name(settings), path="/", secure=settings.is_https, httponly=True, samesite="strict")


def share_cookie_name(settings: Settings) -> str:
    """`__Secure-` and not `__Host-`: the cookie's path is that of its campaign, so that a browser sends it nowhere else."""
    return "__Secure-downlink-share" if settings.is_https else "downlink-share"


def set_share(response: Response, settings: Settings, secret: str, campaign_id: UUID, left_s: int) -> None:
    """left_s: the seconds until the link expires; the cookie goes with it."""
    response.set_cookie(
        share_cookie_name(settings),
        secret,
        max_age=left_s,
        path=f"/api/v1/campaigns/{campaign_id}",
        secure=settings.is_https,
        httponly=True,
        samesite="strict",
    )


def visit_cookie_name(settings: Settings) -> str:
    return "__Host-downlink-visit" if settings.is_https else "downlink-visit"


def set_visit(response: Response, settings: Settings, secret: str) -> None:
    """`lax`: the browser shows it when the identity provider, another site, sends it back."""
    response.set_cookie(
        visit_cookie_name(settings),
        secret,
        max_age=600,
        path="/",
        secure=settings.is_https,
        httponly=True,
        samesite="lax",
    )


def clear_visit(response: Response, settings: Settings) -> None:
    name = visit_cookie_name(settings)
    response.delete_cookie(name, path="/", secure=settings.is_https, httponly=True, samesite="lax")


def check_origin(request: Request, settings: Settings) -> None:
    """DeniedError when a browser on another site makes this request with our cookie.

    Sec-Fetch-Site decides where a browser sends it (it does over https and on loopback); else Origin must be ours.
    """
    if request.method in SAFE_METHODS:
        return
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    own = {settings.origin, f"{request.url.scheme}://{request.headers.get('host', '')}"}
    if site is not None and site not in ("same-origin", "none"):
        raise _cross_site()
    if origin is not None and origin not in own:
        raise _cross_site()
    if site is None and origin is None:
        raise DeniedError(
            "origin_missing", "A request with the session cookie must carry Origin; scripts use an API token."
        )


def _cross_site() -> DeniedError:
    return DeniedError("cross_site", "This request came from another site; open the dashboard at its own address.")
