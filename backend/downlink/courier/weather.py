"""One request to a weather service: within seconds, with an answer of bounded size."""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from downlink.courier.http_call import LONGEST_S, Call, RefusedError, Resolve, carry_out, resolve
from downlink.domain.errors import UnavailableError
from downlink.domain.links.weather_source import Position, WeatherSource
from downlink.domain.notices.delivery import Networks
from downlink.process.settings import Settings

MOST_BYTES = 256 << 10
ALLOWED_BY = "DOWNLINK_WEATHER_ALLOW"
HEADERS = {"accept": "application/json", "accept-encoding": "identity"}
"""Nothing is unpacked, so that a small answer cannot become a large one."""


@dataclass(frozen=True, slots=True)
class WeatherService:
    """The one that an admin has named. allowed: networks that are not public, and that it may be in."""

    source: WeatherSource
    allowed: Networks = ()

    @classmethod
    def of(cls, settings: Settings) -> WeatherService | None:
        """None where no service is named."""
        source = settings.weather_source
        return cls(source, settings.weather_networks) if source else None

    def ask(self, place: Position) -> bytes:
        """Return the answer for a position; raise UnavailableError as `fetch` does."""
        return fetch(self.source.url_of(place), self.allowed)


def fetch(url: str, allowed: Networks, find: Resolve = resolve, longest_s: float = LONGEST_S) -> bytes:
    """The body of the answer. UnavailableError, with a code of its own for each thing that may go wrong, and never with the URL."""
    try:
        return carry_out(Call("GET", url, HEADERS, allowed, ALLOWED_BY), _body, find, longest_s)
    except RefusedError as error:
        raise UnavailableError("weather_address_refused", str(error)) from None
    except (TimeoutError, httpx.TimeoutException):
        raise UnavailableError("weather_slow", f"No whole answer within {longest_s:g} s.") from None
    except httpx.ConnectError as error:
        raise UnavailableError("weather_away", f"No connection: {error}.") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise UnavailableError("weather_away", f"No HTTP answer ({type(error).__name__}).") from None


async def _body(answer: httpx.Response) -> bytes:
    if answer.is_redirect:
        reason = f"Answered {answer.status_code}, a redirect, which is not followed: write the final address."
        raise UnavailableError("weather_redirected", reason)
    if answer.status_code != httpx.codes.OK:
        raise UnavailableError("weather_status", f"Answered {answer.status_code}.")
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnavailableError("weather_packed", "The answer is compressed, which was not asked for.")
    body = b""
    async for piece in answer.aiter_raw():
        body += piece
        if len(body) > MOST_BYTES:
            raise UnavailableError("weather_too_large", f"The answer is longer than {MOST_BYTES >> 10} KiB.")
    return body
